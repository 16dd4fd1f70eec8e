//! How a hook's process starts: directly, or through `confine`.

use super::command::Program;
use super::confine::ProcessBounds;
use super::engine::Engine;
use super::job::Job;
use super::sandbox;

use crate::engine::hook::Containment;
use crate::engine::run::{Level, StartError};

#[derive(Debug)]
pub(super) struct SandboxEntry {
    /// The program to start; `None` for the hook's own.
    pub(super) program: Option<Program>,
    /// What that program sets.
    pub(super) bounds: Option<ProcessBounds>,
    /// How reliably everything that the hook starts ends with it.
    pub(super) level: Level,
    /// Notes for the hook's author.
    pub(super) notes: Vec<String>,
}

impl Engine {
    /// Prepares the process of `job`, whose program is `program`.
    pub(super) fn enter(
        &self,
        job: &Job<'_>,
        program: &Program,
    ) -> Result<SandboxEntry, StartError> {
        let hook = job.hook;
        let level = match hook.containment {
            Containment::Auto if self.subreaper.is_some() => Level::Sweep,
            Containment::Auto | Containment::Group => Level::Group,
            Containment::Pidns => Level::Namespace,
        };
        let notes = job.notes.clone();
        let mut entry = SandboxEntry {
            program: None,
            bounds: None,
            level,
            notes,
        };
        let is_bound = hook.limits.of_process().is_some() || level == Level::Namespace;
        if hook.limits.memory_bytes.is_some() && !cfg!(target_os = "linux") {
            return Err(StartError::new(
                "this system cannot limit its memory",
                "run it on Linux, or drop `limits.memory`",
            ));
        }
        let may_do_without = job.sandbox.as_ref().is_none_or(|rules| !rules.required);
        if !is_bound && job.sandbox.is_some() && self.program.is_none() && may_do_without {
            let note = "sandbox: not in force: it needs the hookrun binary (`Runner::program`)";
            entry.notes.push(note.to_string());
            return Ok(entry);
        }
        if !is_bound && job.sandbox.is_none() {
            return Ok(entry);
        }
        if let Some(lacking) = job.sandbox.as_ref().and_then(sandbox::lacking) {
            if job.sandbox.as_ref().is_some_and(|rules| rules.required) {
                return Err(StartError::new(
                    format!("its sandbox cannot be had: {lacking}"),
                    "run it on Linux 6.7 or later with Landlock, or set `sandbox.required = false`",
                ));
            }
            entry
                .notes
                .push(format!("sandbox: not all of it is in force: {lacking}"));
        }
        self.confine(job, program, &mut entry)?;
        Ok(entry)
    }

    fn confine(
        &self,
        job: &Job<'_>,
        program: &Program,
        entry: &mut SandboxEntry,
    ) -> Result<(), StartError> {
        let Some(own) = &self.program else {
            return Err(StartError::new(
                "`sandbox`, `containment`, `limits.memory`, `limits.cpu` and `limits.files` need the hookrun binary, which the program around it does not name",
                "give it to the runner (`Runner::program`)",
            ));
        };
        let rules = job.sandbox.clone().map(|rules| match entry.level {
            // The first process of a namespace is also hookrun.
            Level::Namespace => rules.with_readable(&own.path),
            Level::Group | Level::Sweep => rules,
        });
        let bounds = ProcessBounds {
            parent: rustix::process::getpid().as_raw_nonzero().get(),
            limits: job.hook.limits.of_process().unwrap_or_default(),
            has_namespace: entry.level == Level::Namespace,
            rules,
        };
        entry.program = Some(bounds.around(&own.path, program)?);
        entry.bounds = Some(bounds);
        Ok(())
    }
}
