//! `hookrun edit`: a hook in the person's editor; what was trusted stays trusted.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::ui::{Asker, PATIENCE};

use crate::cli::args::EditArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::problems;
use crate::cli::terminal::Terminal;
use crate::cli::trust::keeping;
use crate::decide::hooks::nearest_hook;
use crate::lab::report::Paths;

/// Opens the file of a hook: 0 done, 2 could not.
pub(crate) fn edit(args: &EditArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    let file = file_of(&args.hook, &config)?;
    let Some(terminal) = Terminal::open(env) else {
        let cure = format!("it is `{}`", file.display());
        return Err(Complaint::with_cure(
            "an editor needs a terminal, and here is none",
            cure,
        ));
    };
    let before = std::fs::read(&file).ok();
    let asker = Asker::new("hookrun", Instant::now() + PATIENCE, Vec::new());
    let is_edited = keeping(env, || {
        Ok((terminal.edit(&asker, &file), vec![file.clone()]))
    })?;
    let shown = Paths::from(&env.cwd).show(&file);
    if !is_edited {
        return Err(Complaint::new(format!(
            "the editor failed; look at `{shown}`"
        )));
    }
    let is_same = std::fs::read(&file).ok() == before;
    writeln!(
        out,
        "{shown}: {}",
        if is_same {
            "nothing was changed"
        } else {
            "edited"
        }
    )?;
    problems::warn(env);
    Ok(ExitStatus::Yes)
}

/// The file of a hook, or one below a folder of hooks.
fn file_of(name: &str, config: &Config) -> Result<PathBuf> {
    if let Some(hook) = config.hooks.iter().find(|hook| hook.is_called(name)) {
        return Ok(hook.source.file.clone());
    }
    let drop_ins = config.layers.iter().flat_map(|layer| &layer.drop_ins);
    let mut files = drop_ins.map(|folder| folder.join(name));
    if let Some(file) = files.find(|file| file.is_file()) {
        return Ok(file);
    }
    let nearest = nearest_hook(name, config.hooks.iter().map(|hook| hook.name.as_str()));
    let cure = nearest.map(|name| format!("did you mean `{name}`?"));
    let otherwise = || "`hookrun list` shows the hooks".to_string();
    Err(Complaint::with_cure(
        format!("no hook is called `{name}`"),
        cure.unwrap_or_else(otherwise),
    ))
}
