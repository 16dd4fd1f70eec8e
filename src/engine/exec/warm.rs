//! Warm starts: a hook runs its unchanged script in a process that was forked from its interpreter
//! before the event came.
//!
//! There is one process for each event all the same. It is a child of ours, in a session of its
//! own, with the streams, variables and folder of its hook, so nothing that comes after the start
//! differs from a cold one. What is not sure to be the same starts cold. So does a hook whose process
//! ends before it has said that the script begins; after that, whatever happens is the hook's own,
//! and nothing runs twice.

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

/// The largest packet: an environment that is larger goes by the usual way.
const MOST_BYTES: usize = 128 * 1024;

/// How many interpreters are kept at most: each has about 13 MB.
const MOST_ZYGOTES: usize = 8;

/// An interpreter makes room for another one after this many requests for others. Otherwise hooks
/// that take turns and need one more than there may be would all start theirs in vain.
const UNUSED_AFTER: u64 = 32;

/// The interpreters that an engine keeps.
#[derive(Debug, Default)]
pub(super) struct WarmPool {
    interpreters: Mutex<Interpreters>,
    /// The programs that stay up.
    pub(super) served: ServedPool,
}

#[derive(Debug, Default)]
struct Interpreters {
    /// `None`: the interpreter cannot be kept.
    zygotes: HashMap<WarmKey, Option<Zygote>>,
    /// How many hooks have asked.
    asked: u64,
}

/// The process of a hook, and a socket on which it says that the script begins.
type WarmProcess = (Pid, OwnedFd);

/// Why a hook must start cold, with its streams, of which nothing was used.
type ColdStart = (ColdReason, [OwnedFd; 3]);

impl WarmPool {
    /// Starts a hook in a process that waits, and closes our copies of its streams. If there is no
    /// interpreter for it, one is started for the next time. No sweep ends what is in `spared`.
    ///
    /// # Errors
    /// Why it must start cold.
    pub(super) fn start(
        &self,
        spawn: &Spawn<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
        streams: [OwnedFd; 3],
    ) -> Result<WarmProcess, ColdStart> {
        match self.process(spawn, spared) {
            Ok((spare, packet)) => spare
                .hand_over(&packet, streams)
                .map_err(|streams| (ColdReason::NotReady, streams)),
            Err(reason) => Err((reason, streams)),
        }
    }

    /// A process for a hook, and what it must know.
    fn process(
        &self,
        spawn: &Spawn<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> Result<(Spare, Vec<u8>), ColdReason> {
        let own = Variables::of(spawn.variables).map_err(|_| ColdReason::TooLarge)?;
        let variables = spawn.environment(&own).map(Variable::bytes);
        let variables: Vec<&[u8]> = variables.collect();
        let search = variables
            .iter()
            .find_map(|line| line.strip_prefix(b"PATH="));
        let command = ScriptCommand::of(spawn.program, search)?;
        let key = WarmKey::of(&command, &variables)?;
        let cwd = match spawn.cwd {
            Some(cwd) => cwd.to_path_buf(),
            None => std::env::current_dir().map_err(|_| ColdReason::NoScript)?,
        };
        let file = cwd.join(&command.script);
        if rustix::fs::access(&cwd, rustix::fs::Access::EXEC_OK).is_err() || !file.is_file() {
            // The usual way says what is wrong.
            return Err(ColdReason::NoScript);
        }
        let packet = packet(spawn.program, &command, &file, &cwd, &variables)?;
        let mut interpreters = locked(&self.interpreters);
        interpreters.asked += 1;
        if !interpreters.zygotes.contains_key(&key) {
            interpreters.make_room()?;
            let zygote = Zygote::start(&command, spawn, spared, interpreters.asked, &file);
            let zygote = zygote.map_err(|_| ColdReason::Unusable)?;
            interpreters.zygotes.insert(key, Some(zygote));
            return Err(ColdReason::NotReady);
        }
        Ok((interpreters.take(key, &file)?, packet))
    }
}

impl Interpreters {
    /// A process of the interpreter that is there.
    fn take(&mut self, key: WarmKey, file: &Path) -> Result<Spare, ColdReason> {
        let Entry::Occupied(mut entry) = self.zygotes.entry(key) else {
            return Err(ColdReason::NotReady);
        };
        let Some(zygote) = entry.get_mut() else {
            return Err(ColdReason::Unusable);
        };
        zygote.used = self.asked;
        let spare = zygote.take(file);
        match zygote.state {
            ZygoteState::Unusable => {
                entry.insert(None);
                return Err(ColdReason::Unusable);
            }
            // It has ended, for example because its libraries have changed.
            ZygoteState::Gone => drop(entry.remove()),
            ZygoteState::Usable if zygote.is_worn() => drop(entry.remove()),
            ZygoteState::Starting | ZygoteState::Usable => zygote.ask(SOON, file),
        }
        spare.ok_or(ColdReason::NotReady)
    }

    /// Makes room for one more, if there is none.
    ///
    /// # Errors
    /// When all have been used of late.
    fn make_room(&mut self) -> Result<(), ColdReason> {
        if self.zygotes.len() < MOST_ZYGOTES {
            return Ok(());
        }
        let oldest = self
            .zygotes
            .iter()
            .map(|(key, zygote)| (zygote.as_ref().map_or(0, |zygote| zygote.used), key))
            .min_by_key(|(used, _)| *used);
        match oldest {
            Some((used, key)) if used + UNUSED_AFTER < self.asked => {
                let key = key.clone();
                self.zygotes.remove(&key);
                Ok(())
            }
            _ => Err(ColdReason::TooMany),
        }
    }
}

/// What a process must know to run a script: NUL ends each part.
fn packet(
    program: &Program,
    command: &ScriptCommand,
    file: &Path,
    cwd: &Path,
    variables: &[&[u8]],
) -> Result<Vec<u8>, ColdReason> {
    // Python looks there for what a script imports.
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
