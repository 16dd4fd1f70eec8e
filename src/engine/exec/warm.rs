//! Warm starts: a hook's unchanged script runs in a process forked from its interpreter before the
//! event.
//!
//! Each event still has its own process: our child, in its own session, with the hook's streams,
//! variables and folder, so only the start differs from a cold one. If equality is uncertain, the
//! hook starts cold, as it does if the process dies before it reports that the script begins. After
//! that, nothing runs twice.

mod script;
mod served;
mod zygote;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rustix::process::Pid;

pub use script::inherited_traits;
pub(super) use served::{MARK, ServedLife};

use script::{ScriptCommand, WarmKey};
use served::ServedPool;
use zygote::{SOON, Spare, Zygote, ZygoteState};

use super::command::Program;
use super::spawn::{Spawn, Variable, Variables};
use super::tree::SparedHooks;
use crate::engine::lock::locked;
use crate::engine::run::ColdReason;

/// Maximum packet size; hooks with a larger environment start cold.
const MOST_BYTES: usize = 128 * 1024;

/// Maximum number of interpreters, of about 13 MB each without `warm_imports`.
const MOST_ZYGOTES: usize = 8;

/// Requests for other interpreters before one is replaced. Otherwise hooks that take turns and need
/// one more than allowed would start theirs in vain.
const UNUSED_AFTER: u64 = 32;

#[derive(Debug, Default)]
pub(super) struct WarmPool {
    interpreters: Mutex<Interpreters>,
    pub(super) served: ServedPool,
}

#[derive(Debug, Default)]
struct Interpreters {
    /// `None`: the interpreter is unusable.
    zygotes: HashMap<WarmKey, Option<Zygote>>,
    requests: u64,
}

/// A hook's process, and the socket on which it reports that the script begins.
type WarmProcess = (Pid, OwnedFd);

/// Reason for a cold start, with the unused streams.
type ColdStart = (ColdReason, [OwnedFd; 3]);

impl WarmPool {
    /// Starts a hook in a forked process, and closes our copies of its streams. Without an
    /// interpreter, starts one with these modules for the next time and returns the reason for a cold
    /// start.
    pub(super) fn start(
        &self,
        spawn: &Spawn<'_>,
        imports: &[String],
        spared: &Arc<Mutex<SparedHooks>>,
        streams: [OwnedFd; 3],
    ) -> Result<WarmProcess, ColdStart> {
        match self.process(spawn, imports, spared) {
            Ok((spare, packet)) => spare
                .hand_over(&packet, streams)
                .map_err(|streams| (ColdReason::NotReady, streams)),
            Err(reason) => Err((reason, streams)),
        }
    }

    fn process(
        &self,
        spawn: &Spawn<'_>,
        imports: &[String],
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> Result<(Spare, Vec<u8>), ColdReason> {
        let own = Variables::of(spawn.variables).map_err(|_| ColdReason::TooLarge)?;
        let variables = spawn.environment(&own).map(Variable::bytes);
        let variables: Vec<&[u8]> = variables.collect();
        let mut lines = variables.iter();
        let search = lines.find_map(|line| line.strip_prefix(b"PATH="));
        let command = ScriptCommand::of(spawn.program, search, imports)?;
        let key = WarmKey::of(&command, &variables)?;
        let cwd = match spawn.cwd {
            Some(cwd) => cwd.to_path_buf(),
            None => std::env::current_dir().map_err(|_| ColdReason::NoScript)?,
        };
        let file = cwd.join(&command.script);
        if rustix::fs::access(&cwd, rustix::fs::Access::EXEC_OK).is_err() || !file.is_file() {
            // A cold start reports the problem.
            return Err(ColdReason::NoScript);
        }
        let packet = packet(spawn.program, &command, &file, &cwd, &variables)?;
        let mut interpreters = locked(&self.interpreters);
        interpreters.requests += 1;
        if !interpreters.zygotes.contains_key(&key) {
            interpreters.make_room()?;
            let zygote = Zygote::start(&command, spawn, spared, interpreters.requests, &file);
            let zygote = zygote.map_err(|_| ColdReason::Unusable)?;
            interpreters.zygotes.insert(key, Some(zygote));
            return Err(ColdReason::NotReady);
        }
        Ok((interpreters.take(key, &file)?, packet))
    }
}

impl Interpreters {
    fn take(&mut self, key: WarmKey, file: &Path) -> Result<Spare, ColdReason> {
        let Entry::Occupied(mut entry) = self.zygotes.entry(key) else {
            return Err(ColdReason::NotReady);
        };
        let Some(zygote) = entry.get_mut() else {
            return Err(ColdReason::Unusable);
        };
        zygote.used = self.requests;
        let spare = zygote.take(file);
        match zygote.state {
            ZygoteState::Unusable => {
                entry.insert(None);
                return Err(ColdReason::Unusable);
            }
            // It exited, for example because its libraries changed.
            ZygoteState::Gone => drop(entry.remove()),
            ZygoteState::Usable if zygote.is_worn() => drop(entry.remove()),
            ZygoteState::Starting | ZygoteState::Usable => zygote.request(SOON, file),
        }
        spare.ok_or(ColdReason::NotReady)
    }

    /// Makes room for another interpreter, unless all were used recently.
    fn make_room(&mut self) -> Result<(), ColdReason> {
        if self.zygotes.len() < MOST_ZYGOTES {
            return Ok(());
        }
        let all = self.zygotes.iter();
        let all = all.map(|(key, zygote)| (zygote.as_ref().map_or(0, |one| one.used), key));
        match all.min_by_key(|(used, _)| *used) {
            Some((used, key)) if used + UNUSED_AFTER < self.requests => {
                let key = key.clone();
                self.zygotes.remove(&key);
                Ok(())
            }
            _ => Err(ColdReason::TooMany),
        }
    }
}

/// Builds the data that a process needs to run a script, separated by NUL.
fn packet(
    program: &Program,
    command: &ScriptCommand,
    file: &Path,
    cwd: &Path,
    variables: &[&[u8]],
) -> Result<Vec<u8>, ColdReason> {
    // Python imports from the script's real folder.
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let folder = real.parent().unwrap_or(Path::new("/"));
    let count = (1 + program.arguments.len()).to_string();
    let mut parts = vec![
        program.path.as_os_str().as_bytes(),
        command.script.as_bytes(),
        file.as_os_str().as_bytes(),
        folder.as_os_str().as_bytes(),
        command.process_name.as_bytes(),
        cwd.as_os_str().as_bytes(),
        count.as_bytes(),
        program.name.as_bytes(),
    ];
    parts.extend(program.arguments.iter().map(|word| word.as_bytes()));
    parts.extend(variables);
    let packet = parts.join(&0);
    if parts.iter().any(|part| part.contains(&0)) || packet.len() > MOST_BYTES {
        return Err(ColdReason::TooLarge);
    }
    Ok(packet)
}
