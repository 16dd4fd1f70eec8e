//! `hookrun new`: a hook to begin with, and its first cases.

mod last;
pub(crate) mod templates;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config::discover::{DROP_INS, HIDDEN, MANIFEST, SUITES, is_passed_over};
use crate::config::{Choice, Config, ConfigScope, Environment, Problem, Severity, commands};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::{self, command};
use crate::engine::hook::LayerKind;
use crate::lab::report::{Paths, plain};

use crate::cli::args::NewArgs;
use crate::cli::decide::request::find_event;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::look::doctor::untold;
use crate::cli::look::events::COMMON;
use crate::cli::streams;
use templates::{LANGUAGES, Language};

struct NewFile {
    path: PathBuf,
    text: String,
    mode: u32,
}

struct NewFiles {
    hooks: PathBuf,
    pages: Vec<NewFile>,
    hints: Vec<String>,
}

/// Writes the hook and its cases, or a case: 0 done, 2 could not.
pub(crate) fn new(args: &NewArgs, env: &Environment, out: &mut dyn Write) -> Result {
    // A folder that is not there yet declares no events.
    let named = args.hooks.iter().filter(|folder| env.cwd.join(folder).exists());
    let choice = Choice { explicit: named.cloned().collect(), ..Choice::default() };
    let config = Config::load(&choice, env, ConfigScope::Event(""));
    let hooks = match &args.hooks {
        Some(folder) => named_folder(&env.cwd.join(folder))?,
        None => project_folder(&config),
    };
    let paths = Paths::from(&env.cwd);
    let plan = match &args.event {
        Some(event) => hook_of(args, event, &config, hooks)?,
        None if args.from_last => case_of(args, env, hooks)?,
        None => return Err(no_event(&args.name)),
    };
    if args.hooks.is_none() {
        let config = Config::load(&choice, env, ConfigScope::All);
        let is_error = |one: &&Problem| one.severity == Severity::Error;
        streams::problems(config.problems.iter().filter(is_error), &paths);
    }
    if args.dry_run {
        for page in &plan.pages {
            writeln!(out, "# {}\n{}", paths.show(&page.path), page.text)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let is_first = !plan.hooks.exists();
    write_all(&plan.pages, &paths)?;
    if is_first {
        writeln!(out, "made {}, the first hooks here", paths.show(&plan.hooks))?;
    }
    for page in &plan.pages {
        writeln!(out, "wrote {}", paths.show(&page.path))?;
    }
    for hint in &plan.hints {
        writeln!(out, "  {hint}")?;
    }
    if args.hooks.is_none() {
        for line in untold(&Config::load(&Choice::default(), env, ConfigScope::All), env) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(ExitStatus::Yes)
}

fn no_event(name: &str) -> Complaint {
    let widest = COMMON.iter().map(|(event, _)| event.len()).max().unwrap_or(0);
    let line = |(event, about): &(&str, &str)| format!("\n{event:<widest$}  {about}");
    let common: String = COMMON.iter().map(line).collect();
    let help = format!(
        "`hookrun new {name} --event EVENT`; these are the usual ones, and `hookrun events` lists all:{common}"
    );
    Complaint::with_cure("no event is named that the hook is for", help)
}

fn hook_of(args: &NewArgs, event: &str, config: &Config, hooks: PathBuf) -> Result<NewFiles> {
    let spec = find_spec(config, event)?;
    let sort = match &args.template {
        None => templates::sort_of(&spec),
        Some(name) => {
            templates::chosen(name, &spec).map_err(|suiting| unsuited(name, &spec, &suiting))?
        }
    };
    let mut languages = templates::languages(sort);
    let language = match &args.lang {
        None => languages.next(),
        Some(name) => languages.find(|language| language.name == *name),
    };
    let language = language.ok_or_else(|| {
        let names =
            templates::languages(sort).map(|language| language.name).collect::<Vec<_>>().join(", ");
        Complaint::with_cure(
            "this template is not written in that language",
            format!("`--lang` takes {names}"),
        )
    })?;
    let file = file_name(&args.name, language, &spec)?;
    let stem = file.strip_suffix(&format!(".{}", language.ending)).unwrap_or(&file);
    let folder = match command::name_of(&spec.name) {
        Some(_) => commands::FOLDER,
        None => spec.name.as_ref(),
    };
    let hook = NewFile {
        path: hooks.join(folder).join(&file),
        text: templates::hook(sort, &spec, language, &file),
        mode: 0o777,
    };
    let cases = NewFile {
        path: hooks.join(SUITES).join(format!("{stem}.toml")),
        text: templates::cases(sort, &spec, language, &file),
        mode: 0o666,
    };
    let named = named(args);
    let hints = vec![
        format!("`hookrun test {}{named} --hook {file}` shows what it says", spec.name),
        format!("`hookrun test --suite{named}` plays its cases"),
    ];
    Ok(NewFiles { hooks, pages: vec![hook, cases], hints })
}

fn unsuited(name: &str, spec: &EventSpec, suiting: &[&str]) -> Complaint {
    let help = match suiting {
        [] => "without `--template` it gets the hook that such events have".to_string(),
        names => format!("`--template` takes {} there", names.join(", ")),
    };
    Complaint::with_cure(format!("the template `{name}` does not suit `{}`", spec.name), help)
}

/// A case that expects what was decided last.
fn case_of(args: &NewArgs, env: &Environment, hooks: PathBuf) -> Result<NewFiles> {
    let name = args.name.strip_suffix(".toml").unwrap_or(&args.name);
    if !is_name(name) || is_passed_over(name.as_ref()) {
        let cause = format!("`{}` cannot be the name of a file of cases", args.name);
        return Err(Complaint::with_cure(cause, "use letters, digits, `-`, `_` and `.`"));
    }
    let line = last::newest(args.file.as_ref(), env)?;
    let last::CaseDraft { text, doubt, secret } = last::case_of(&line, name)?;
    if let Some(place) = secret {
        let secret = format!("a secret was replaced in `{place}` when it was kept");
        if !args.dry_run {
            let cause = format!("no case can be made of the last event: {secret}");
            let help = "`--dry-run` prints it as it is: write a secret that is made up in its place, and save it";
            return Err(Complaint::with_cure(cause, help));
        }
        streams::remark(&format!("warning: {}\n", plain(&secret)));
    }
    let path = hooks.join(SUITES).join(format!("{name}.toml"));
    let plays = format!("`hookrun test --suite{}` plays it", named(args));
    let hints = doubt.into_iter().chain([plays]).collect();
    Ok(NewFiles { hooks, pages: vec![NewFile { path, text, mode: 0o666 }], hints })
}

/// How the folder is named on a command line.
fn named(args: &NewArgs) -> String {
    args.hooks.as_deref().map(|folder| format!(" --hooks {}", folder.display())).unwrap_or_default()
}

/// The event; a command need not be there before its hook.
fn find_spec(config: &Config, event: &str) -> Result<EventSpec> {
    match command::name_of(event) {
        Some(name) if command::is_name(name) => Ok(command::event(name, None)),
        _ => Ok(find_event(config, event)?.as_ref().clone()),
    }
}

/// Whether a file can be called that: the name must be easy to type.
fn is_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_good)
}

fn file_name(name: &str, language: &Language, spec: &EventSpec) -> Result<String> {
    let ending = format!(".{}", language.ending);
    let stem = name.strip_suffix(&ending).unwrap_or(name);
    let file = format!("{stem}{ending}");
    let cannot = |cure: String| {
        Err(Complaint::with_cure(format!("`{name}` cannot be the name of a hook"), cure))
    };
    if !is_name(stem) {
        return cannot("use letters, digits, `-`, `_` and `.`: `10-guard`".to_string());
    }
    if let Some(other) = LANGUAGES.iter().find(|other| {
        other.ending != language.ending && stem.ends_with(&format!(".{}", other.ending))
    }) {
        return cannot(format!("a hook in {} does not end in .{}", language.name, other.ending));
    }
    if is_passed_over(stem.as_ref()) || is_passed_over(file.as_ref()) {
        return cannot("hooks.d skips files with such a name".to_string());
    }
    match command::name_of(&spec.name) {
        Some(command) if command != stem => cannot(format!(
            "the file of a command is called as it: `hookrun new {command} --event {}`",
            spec.name
        )),
        _ => Ok(file),
    }
}

/// The hooks.d of a folder that was named: it is one, has one, or will have one.
fn named_folder(named: &Path) -> Result<PathBuf> {
    if named.exists() && !named.is_dir() {
        let help = "name a folder with hooks.d/ or hookrun.toml, or a hooks.d itself";
        return Err(Complaint::with_cure(format!("`{}` is no folder", named.display()), help));
    }
    if let Some(event) = named.file_name().and_then(|name| catalog::find(name.to_str()?)) {
        let cause = format!("`{}` is the folder of one event, `{}`", named.display(), event.name);
        return Err(Complaint::with_cure(cause, "name the folder that it is in"));
    }
    if named.file_name().is_some_and(|name| name == DROP_INS) {
        return Ok(named.to_path_buf());
    }
    let inside = [named.join(DROP_INS), named.join(HIDDEN).join(DROP_INS)];
    if let Some(folder) = inside.iter().find(|folder| folder.exists()) {
        return Ok(folder.clone());
    }
    // Folders of events without a hooks.d around them are one by another name.
    let is_event = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name == commands::FOLDER || catalog::find(name).is_some())
    };
    let is_drop_ins = !named.join(MANIFEST).exists()
        && fs::read_dir(named).is_ok_and(|entries| entries.flatten().any(is_event));
    Ok(if is_drop_ins { named.to_path_buf() } else { named.join(DROP_INS) })
}

/// The hooks.d of the project; it may not be there yet.
fn project_folder(config: &Config) -> PathBuf {
    let project = config.layers.iter().rfind(|layer| layer.kind == LayerKind::Project);
    let found = project.and_then(|layer| layer.drop_ins.first().cloned());
    let beside = project.and_then(|layer| layer.manifests.first()?.parent().map(Path::to_path_buf));
    found.unwrap_or_else(|| beside.unwrap_or_else(|| config.project.clone()).join(DROP_INS))
}

/// Writes all files or none, and over nothing.
fn write_all(pages: &[NewFile], paths: &Paths) -> Result<()> {
    for page in pages {
        // What cannot be looked at is found when it is written.
        if page.path.symlink_metadata().is_ok() {
            return Err(is_there(page, paths));
        }
    }
    for (done, page) in pages.iter().enumerate() {
        if let Err(failure) = write(page, paths) {
            for made in &pages[..done] {
                let _ = fs::remove_file(&made.path);
            }
            return Err(failure);
        }
    }
    Ok(())
}

fn write(page: &NewFile, paths: &Paths) -> Result<()> {
    let cannot = |error: std::io::Error| {
        if error.kind() == ErrorKind::AlreadyExists {
            return is_there(page, paths);
        }
        Complaint::new(format!("cannot write `{}`: {error}", paths.show(&page.path)))
    };
    fs::create_dir_all(page.path.parent().unwrap_or(Path::new("/"))).map_err(cannot)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        // A file that everyone may write is no hook, regardless of the umask.
        .mode(page.mode & !0o002)
        .open(&page.path)
        .map_err(cannot)?;
    file.write_all(page.text.as_bytes()).map_err(|error| {
        let _ = fs::remove_file(&page.path);
        cannot(error)
    })
}

fn is_there(page: &NewFile, paths: &Paths) -> Complaint {
    let cause = format!("`{}` is there already", paths.show(&page.path));
    Complaint::with_cure(cause, "choose another name, or move it away; nothing was written")
}
