//! `hookrun test --suite`: the cases of hooks, each in its own folders.

mod found;
mod load;
mod play;
mod progress;
mod round;
pub(super) mod selection;
mod stillness;
mod trial;
mod untested;
mod watch;
mod workspace;

use std::io::Write;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::exec::{Abort, OwnProgram, Subreaper};
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;
use crate::lab::report::CheckFormat;

use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::run::start_up;
use crate::cli::write::test::tell_untrusted;
use round::{SuiteCommand, round};
use selection::chosen;

/// Plays the cases: 0 all as expected, 1 not, 2 could not.
pub(super) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, grounds) = start_up()?;
    let command = SuiteCommand {
        args,
        env,
        runner: runner(env, &abort, grounds),
        abort,
    };
    if args.suite.watch {
        if args.format != CheckFormat::Human {
            let cause = format!(
                "--watch is for people, and cannot be --format {}",
                args.format.name()
            );
            return Err(Complaint::with_cure(cause, "drop one of them"));
        }
        return watch::watch(&command, out);
    }
    let paths = args.suite.suite.as_deref().unwrap_or_default();
    let files = found::find(paths, &args.source, env)?;
    let loaded = load::load(&files, &args.source, env);
    let trials = chosen(&loaded.trials, args);
    let (exit, _) = round(&command, &loaded, &trials, out)?;
    if paths.is_empty() {
        tell_untrusted(args, env);
    }
    Ok(command.abort.signal().map_or(exit, ExitStatus::Signal))
}

/// What decides all cases, with every guard that hookrun's own program has.
fn runner(env: &Environment, abort: &Abort, grounds: Option<Subreaper>) -> Runner {
    let own = env.image().map(|path| OwnProgram {
        path,
        mark: env.run_id.clone(),
    });
    let runner = Runner::embedded(Registry::default(), env);
    runner
        .program(own)
        .rehearsal()
        .one_shot()
        .abort(abort.clone())
        .subreaper(grounds)
}
