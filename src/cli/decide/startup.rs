//! What a command that runs hooks does first: it takes charge of signals and descendants, finds the
//! layers, and makes a runner.

use std::io;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::exec::{Abort, OwnProgram, Subreaper};
use crate::engine::runner::Runner;
use crate::hosts::folders::{self, HostFolders};
use rustix::process::{Resource, Rlimit};

use crate::cli::args::SourceArgs;
use crate::cli::exit::{Result, failed};
use crate::cli::streams;

/// The first descriptor that is no standard stream.
const FIRST_OWN_DESCRIPTOR: i32 = 3;

/// What stops us, and what adopts the orphans of hooks.
pub(crate) type Ground = (Abort, Option<Subreaper>);

/// What `run` does first: from then on nothing ends it without a decision.
pub(crate) fn hold_ground() -> Result<Ground> {
    streams::bound_stderr();
    crate::engine::exec::hold_out();
    start_up()
}

/// What every command that runs hooks does first, before there are other threads.
pub(crate) fn start_up() -> Result<Ground> {
    let started = undo_inherited().and_then(|()| Abort::on_signals());
    // The order matters: children need the handler for SIGCHLD and a parent that adopts them.
    let with_subreaper = |abort| (abort, Subreaper::take());
    started
        .map(with_subreaper)
        .map_err(failed("cannot handle signals"))
}

/// Undoes what a host may have left behind, which hooks would inherit: blocked signals, open
/// descriptors, core files.
fn undo_inherited() -> io::Result<()> {
    // A host that blocks SIGTERM would keep it from us and from our hooks.
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    close_fds::CloseFdsBuilder::new().cloexecfrom(FIRST_OWN_DESCRIPTOR);
    // A hook that crashes should leave nothing behind; one that wants a core file may raise this.
    let hard = rustix::process::getrlimit(Resource::Core).maximum;
    let _ = rustix::process::setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: hard,
        },
    );
    Ok(())
}

/// How many runs of hookrun may be inside each other. A hook set can be a hook of another one; its
/// own hook would never end.
const DEEPEST: u32 = 8;

pub(crate) fn check_depth(env: &Environment) -> Result<()> {
    if env.depth <= DEEPEST {
        return Ok(());
    }
    Err(Complaint::with_cure(
        format!("hookrun is its own hook: {DEEPEST} runs are inside of each other"),
        "take the hook that runs hookrun with its own settings out of them",
    ))
}

pub(crate) fn choice(source: &SourceArgs, env: &Environment, dialect: &str) -> Choice {
    Choice {
        explicit: source.hooks.clone(),
        settings: source.settings.clone(),
        discover: source.discover,
        hosts: folders::of(dialect).into_iter().collect(),
        told: HostFolders {
            roots: env.projects_of(dialect),
            cwd: None,
        },
        trust: None,
    }
}

/// The same for a host that asks: hooks of a project run only if they are trusted. The caller
/// vouches for those with these `digests`.
pub(crate) fn trusting_choice(
    source: &SourceArgs,
    env: &Environment,
    dialect: &str,
    digests: &[String],
) -> Choice {
    let trust = Some(TrustChoice::Required {
        digests: digests.to_vec(),
    });
    Choice {
        trust,
        ..choice(source, env, dialect)
    }
}

/// A runner for a configuration, in a program that ends soon. Its hooks have every guard that our
/// own binary can provide.
pub(crate) fn runner(config: Config, env: &Environment) -> Runner {
    equipped(Runner::from_config(config, env), env).one_shot()
}

/// The same for a runner that is there.
pub(crate) fn equipped(runner: Runner, env: &Environment) -> Runner {
    runner.program(env.image().map(|path| OwnProgram {
        path,
        mark: env.run_id.clone(),
    }))
}
