//! Writes the files of `new`, `add`, `init` and `import`, and finds the project's hooks folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::config::discover::{DROP_INS, HIDDEN, MANIFEST, SUITES};
use crate::config::layer::COMMANDS;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::lab::report::{Paths, plain};
use serde_json::Value;
use tempfile::TempDir;
use toml::de::DeTable;

use crate::cli::args::WritePlace;
use crate::cli::exit::{Result, failed};
use crate::cli::host::files::{Target, unified};
use crate::cli::host::installed::missing_events;
use crate::cli::trust::{keeping, untrusted_note};

pub(super) struct FileWrite {
    pub(super) path: PathBuf,
    pub(super) becomes: Becomes,
}

pub(super) enum Becomes {
    New(String),
    Link(String),
    Changed { target: Target, text: String },
}

pub(super) struct WritePlan {
    pub(super) hooks: PathBuf,
    pub(super) changes: Vec<FileWrite>,
    pub(super) hints: Vec<String>,
}

impl FileWrite {
    pub(super) fn new(path: PathBuf, text: impl Into<String>) -> FileWrite {
        FileWrite {
            path,
            becomes: Becomes::New(text.into()),
        }
    }

    pub(super) fn cases(hooks: &Path, name: &str, text: String) -> FileWrite {
        FileWrite::new(hooks.join(SUITES).join(format!("{name}.toml")), text)
    }

    /// Appends `text` to a TOML file, or creates it.
    ///
    /// # Errors
    /// If the result is not TOML, because the path may be another person's link to any file.
    pub(super) fn added(path: PathBuf, text: &str) -> Result<FileWrite> {
        let target = Target::read(&path)?;
        let before = target.text.as_deref().unwrap_or_default().trim_end();
        let gap = if before.is_empty() { "" } else { "\n\n" };
        let text = format!("{before}{gap}{text}");
        if let Err(error) = DeTable::parse(&text) {
            let cause = format!("cannot add to `{}`: {}", path.display(), error.message());
            let help = if DeTable::parse(before).is_err() {
                "fix its syntax; nothing was written"
            } else {
                "write its inline tables and lists with `[table]` and `[[table]]` headers; nothing was \
                 written"
            };
            return Err(Complaint::with_cure(cause, help));
        }
        Ok(FileWrite {
            path,
            becomes: Becomes::Changed { target, text },
        })
    }

    pub(super) fn is_done(&self) -> bool {
        match &self.becomes {
            Becomes::New(text) => fs::read(&self.path).is_ok_and(|found| found == text.as_bytes()),
            Becomes::Link(to) => {
                fs::read_link(&self.path).is_ok_and(|found| found == Path::new(to))
            }
            Becomes::Changed { target, text } => target.text.as_ref() == Some(text),
        }
    }

    fn write(&self, paths: &Paths) -> Result<()> {
        let cannot = failed(format!("cannot write `{}`", plain(&paths.show(&self.path))));
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(&cannot)?;
        match &self.becomes {
            Becomes::Changed { target, text } => target.replace(text),
            Becomes::Link(to) => symlink(to, &self.path).map_err(cannot),
            Becomes::New(text) => create(&self.path, text).map_err(cannot),
        }
    }
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    let is_program = text.starts_with("#!");
    // Trust needs a file that is not world-writable, whatever the umask.
    let mode = if is_program { 0o775 } else { 0o664 };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

impl WritePlan {
    pub(super) fn show(&self, paths: &Paths, out: &mut dyn Write) -> Result<()> {
        for change in &self.changes {
            let name = paths.show(&change.path);
            match &change.becomes {
                Becomes::New(text) => writeln!(out, "# {name}\n{text}")?,
                Becomes::Link(to) => writeln!(out, "# {name}: a link to {to}\n")?,
                Becomes::Changed { target, text } => {
                    write!(
                        out,
                        "{}",
                        unified(&name, target.text.as_deref(), Some(text))
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Writes and reports all files. Trusted hooks stay trusted, because the user named the files.
    pub(super) fn write(&self, env: &Environment, out: &mut dyn Write) -> Result<()> {
        let written: Vec<PathBuf> = self
            .changes
            .iter()
            .map(|change| change.path.clone())
            .collect();
        keeping(env, &written, || {
            self.write_untrusted(&Paths::from(&env.cwd), out)
        })
    }

    /// Writes and reports all files, without trusting them.
    pub(super) fn write_untrusted(&self, paths: &Paths, out: &mut dyn Write) -> Result<()> {
        let is_first = !self.hooks.exists();
        write_all(&self.changes, paths)?;
        if is_first && self.hooks.exists() {
            writeln!(out, "created {}", paths.show(&self.hooks))?;
        }
        for change in &self.changes {
            let done = match &change.becomes {
                Becomes::Changed { target, .. } if target.text.is_some() => "changed",
                Becomes::Changed { .. } | Becomes::New(_) | Becomes::Link(_) => "wrote",
            };
            writeln!(out, "{done} {}", paths.show(&change.path))?;
        }
        for hint in &self.hints {
            writeln!(out, "  {hint}")?;
        }
        Ok(())
    }
}

/// Writes all files, replacing none. On failure, removes new files again; changed files come last.
fn write_all(changes: &[FileWrite], paths: &Paths) -> Result<()> {
    let (changed, made): (Vec<_>, Vec<_>) = changes
        .iter()
        .partition(|change| matches!(change.becomes, Becomes::Changed { .. }));
    for change in &made {
        if change.path.symlink_metadata().is_ok() {
            let cause = format!("`{}` already exists", plain(&paths.show(&change.path)));
            let cure = "choose another name, or move it away; nothing was written";
            return Err(Complaint::with_cure(cause, cure));
        }
    }
    for (number, change) in made.iter().chain(&changed).enumerate() {
        if let Err(complaint) = change.write(paths) {
            for made in &made[..number.min(made.len())] {
                let _ = fs::remove_file(&made.path);
            }
            return Err(complaint);
        }
    }
    Ok(())
}

pub(super) fn temporary_folder(prefix: &str, env: &Environment) -> Result<TempDir> {
    let folder = env.temporary.canonicalize().and_then(|temporary| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).tempdir_in(temporary)
    });
    folder.map_err(|error| {
        let temporary = env.temporary.display();
        let cause = format!("cannot create a folder in `{temporary}`: {error}");
        Complaint::with_cure(cause, "set TMPDIR to a writable folder")
    })
}

/// A TOML string, literal if possible.
pub(super) fn toml_text(text: &str) -> String {
    if !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    // JSON's escapes are valid TOML, which also requires U+007F to be escaped.
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

impl WritePlace {
    /// The hooks.d of `--hooks`, or the project's. It may not exist yet.
    pub(super) fn folder(&self, config: &Config, env: &Environment) -> Result<PathBuf> {
        match &self.hooks {
            Some(folder) => named_folder(&env.cwd.join(folder)),
            None => Ok(project_folder(config)),
        }
    }

    /// The configured hooks. A folder that does not exist yet declares no events.
    pub(super) fn choice(&self, env: &Environment) -> Choice {
        let mut choice = Choice::default();
        choice.explicit.extend(self.hooks.clone());
        choice
            .explicit
            .retain(|folder| env.cwd.join(folder).exists());
        choice
    }

    pub(super) fn option(&self) -> String {
        match &self.hooks {
            Some(folder) => format!(" --hooks {}", folder.display()),
            None => String::new(),
        }
    }

    pub(super) fn carry_out(
        &self,
        plan: &WritePlan,
        env: &Environment,
        out: &mut dyn Write,
    ) -> Result<()> {
        if self.dry_run {
            return plan.show(&Paths::from(&env.cwd), out);
        }
        plan.write(env, out)?;
        if self.hooks.is_none() {
            print_idle(env, out)?;
        }
        Ok(())
    }
}

/// Prints hosts that do not send an event of a new hook, and whether hooks need trust.
pub(super) fn print_idle(env: &Environment, out: &mut dyn Write) -> Result<()> {
    for line in missing_events(
        &Config::load(&Choice::default(), env, ConfigScope::All),
        env,
    ) {
        writeln!(out, "  {line}")?;
    }
    if let Some(note) = untrusted_note(env) {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}

/// The hooks.d of a named folder: itself, its existing one, or a new one.
fn named_folder(named: &Path) -> Result<PathBuf> {
    if named.exists() && !named.is_dir() {
        let cause = format!("`{}` is not a folder", named.display());
        let help = "name a folder with hooks.d/ or hookrun.toml, or a hooks.d folder itself";
        return Err(Complaint::with_cure(cause, help));
    }
    let own = named.join(DROP_INS);
    if own.exists() {
        return Ok(own);
    }
    let hidden = named.join(HIDDEN).join(DROP_INS);
    if hidden.exists() {
        return Ok(hidden);
    }
    if named.ends_with(DROP_INS) || has_events(named) {
        return Ok(named.to_path_buf());
    }
    Ok(own)
}

fn has_events(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    !folder.join(MANIFEST).exists()
        && names.any(|name| name == COMMANDS || catalog::find(&name).is_some())
}

pub(super) fn project_folder(config: &Config) -> PathBuf {
    let own = config
        .layers
        .iter()
        .rfind(|layer| layer.is_own_of_project());
    if let Some(folder) = own.and_then(|layer| layer.drop_ins.first()) {
        return folder.clone();
    }
    let manifest = own.and_then(|layer| layer.manifests.first());
    match manifest.and_then(|manifest| manifest.parent()) {
        Some(folder) => folder.join(DROP_INS),
        None => config.project.join(DROP_INS),
    }
}
