//! What the events of the soak are decided with: files, hooks, events and runners.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrun::internals::chain::Surroundings;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::event::{Context, Event};
use hookrun::internals::exec::{Heartbeat, OwnProgram, Subreaper};
use hookrun::internals::hook::{Handler, Hook, Limits, Matcher, Sandbox};
use hookrun::internals::registry::Registry;
use hookrun::internals::runner::Runner;
use serde_json::json;
use tempfile::TempDir;

use crate::scenarios::{LONG, Part, SCENARIOS, SHORT, Scenario, Size, What};

/// A little less than 1 MiB, so that the whole event is about that.
const LARGE_BYTES: usize = 1_048_000;

/// The gate that every scenario asks about.
const GATE: &str = "tool.pre";

/// The event that nobody waits for.
const DETACHED: &str = "message.sent";

/// Files, hooks and events; the same for every way of running them.
#[derive(Debug)]
pub(crate) struct Site {
    folder: TempDir,
    program: PathBuf,
    surroundings: Surroundings,
    /// By scenario.
    hooks: Vec<Vec<Hook>>,
    events: Vec<Event>,
    detached: Event,
}

impl Site {
    /// Makes everything that the scenarios need.
    pub(crate) fn build() -> Result<Site, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let program = std::env::current_exe()?;
        let surroundings = Surroundings {
            cwd: folder.path().into(),
            project: folder.path().into(),
            state: folder.path().join("state"),
            run_id: format!("soak-{}-{}", std::process::id(), folder.path().display()),
            ..Surroundings::default()
        };
        fs::create_dir(&surroundings.state)?;
        let catalog = Catalog::default();
        let detached = Event::new(catalog.find(DETACHED)?, "native", Context::parse("{}")?)?;
        let (mut hooks, mut events) = (Vec::new(), Vec::new());
        for scenario in SCENARIOS {
            let parts = scenario.parts.iter().enumerate();
            let hook = |(place, part)| hook(folder.path(), &program, scenario, place, part);
            hooks.push(
                parts
                    .map(hook)
                    .collect::<Result<Vec<Hook>, Box<dyn Error>>>()?,
            );
            let context = Context::parse(context(scenario))?;
            events.push(Event::new(catalog.find(GATE)?, "native", context)?);
        }
        Ok(Site {
            folder,
            program,
            surroundings,
            hooks,
            events,
            detached,
        })
    }

    /// The mark by which processes of the soak are known.
    pub(crate) fn mark(&self) -> &str {
        &self.surroundings.run_id
    }

    /// A file that is not there yet.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The event of a scenario.
    pub(crate) fn event(&self, number: usize) -> &Event {
        &self.events[number]
    }

    /// The event that nobody waits for.
    pub(crate) fn detached(&self) -> &Event {
        &self.detached
    }

    /// A runner that lives long and has the hooks of all scenarios.
    pub(crate) fn runner_of_all(&self) -> Runner {
        self.runner(self.hooks.iter().flatten().cloned())
    }

    /// A runner with the hooks of one scenario. A sandbox needs a helper; the runner that lives
    /// long has none, because its keeper would live as long.
    pub(crate) fn runner_of(&self, number: usize) -> Runner {
        let runner = self.runner(self.hooks[number].iter().cloned());
        let is_sandboxed = SCENARIOS[number].is_sandboxed();
        runner.program(is_sandboxed.then(|| self.own_program()))
    }

    /// A runner with all that `hookrun run` gives it.
    pub(crate) fn full_runner_of(&self, number: usize) -> Runner {
        let runner = self.runner_of(number).program(Some(self.own_program()));
        runner.heartbeat(Heartbeat::new(Duration::from_secs(30)))
    }

    /// A runner that ends what leaves a group, as a program does that exists to run hooks.
    fn runner(&self, hooks: impl Iterator<Item = Hook>) -> Runner {
        Runner::new(
            Registry::new(hooks).expect("the events of the soak are canonical"),
            self.surroundings.clone(),
        )
        .subreaper(Subreaper::take())
    }

    /// Where the helpers of hooks are started.
    fn own_program(&self) -> OwnProgram {
        OwnProgram {
            path: self.program.clone(),
            mark: self.mark().to_string(),
        }
    }

    /// A runner for the event that nobody waits for: hooks that make `files`, and one that hangs.
    /// Without grounds, which would end the hooks of another thread.
    pub(crate) fn detached_runner(&self, files: &[PathBuf]) -> Runner {
        let hook = |place: usize, timeout: Duration, words: &[String]| Hook {
            name: format!("detached {place}"),
            event: DETACHED.to_string(),
            limits: Limits {
                timeout: Some(timeout),
                ..Limits::default()
            },
            ..plain(&self.program, words)
        };
        let mut hooks = vec![hook(0, SHORT, &["hang".to_string()])];
        for file in files {
            let words = ["mark".to_string(), file.to_string_lossy().into_owned()];
            hooks.push(hook(hooks.len(), LONG, &words));
        }
        Runner::new(
            Registry::new(hooks).expect("the events of the soak are canonical"),
            self.surroundings.clone(),
        )
    }
}

/// A hook of a scenario, which is asked about that scenario only.
fn hook(
    folder: &Path,
    program: &Path,
    scenario: &Scenario,
    place: usize,
    part: &Part,
) -> Result<Hook, Box<dyn Error>> {
    let name = format!("{} {place}", scenario.name);
    let mut matcher = Matcher::default().field("sessionId", &format!("^{}$", scenario.name))?;
    if let Some(command) = part.command {
        matcher = matcher.command(command)?;
    }
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_string())
            .collect::<Vec<_>>()
    };
    let base = match part.what {
        What::Act(act) => plain(program, &words(act)),
        What::Shell(line) => Hook {
            handler: Handler::Shell(line.to_string()),
            ..plain(program, &[])
        },
        What::File {
            text,
            is_executable,
        } => {
            let file = folder.join(name.replace(' ', "-"));
            fs::write(&file, text)?;
            let mode = if is_executable { 0o755 } else { 0o644 };
            fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
            Hook {
                handler: Handler::File(file),
                ..plain(program, &[])
            }
        }
    };
    Ok(Hook {
        name,
        matcher,
        parallel: Some(part.parallel),
        rewrite: part.rewrite,
        limits: Limits {
            timeout: Some(part.timeout),
            output_bytes: part.output_bytes,
            ..Limits::default()
        },
        sandbox: part.sandboxed.then(Sandbox::default),
        ..base
    })
}

/// A hook that is this program, and asked about every event of the gate.
fn plain(program: &Path, act: &[String]) -> Hook {
    let mut words = vec![program.to_string_lossy().into_owned(), "--hook".to_string()];
    words.extend_from_slice(act);
    Hook::new(
        "",
        GATE,
        Handler::Words {
            words,
            base: PathBuf::from("/"),
        },
    )
}

fn context(scenario: &Scenario) -> String {
    let content = match scenario.size {
        Size::Small => String::new(),
        Size::Large => "x".repeat(LARGE_BYTES),
    };
    json!({
        "sessionId": scenario.name,
        "toolName": "Bash",
        "toolInput": { "command": "make all", "content": content },
    })
    .to_string()
}
