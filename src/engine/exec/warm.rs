//! Warm starts: a hook runs its unchanged script in a process that was forked from its interpreter
//! before the event came.
//!
//! There is one process for each event all the same. It is a child of ours, in a session of its
//! own, with the streams, variables and folder of its hook, so nothing that comes after the start
//! differs from a cold one. What is not sure to be the same starts cold. If handing over fails,
//! the hook starts cold; after it, whatever happens is the hook's own, and nothing runs twice.

mod key;
mod script;
mod zygote;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rustix::process::Pid;

pub use key::inherited_traits;

use key::WarmKey;
use script::ScriptCommand;
use zygote::{Spare, Zygote, ZygoteState};

use super::command::Program;
use super::spawn::Spawn;
use super::tree::SparedHooks;
use crate::engine::lock::locked;
use crate::engine::run::ColdReason;

/// The largest packet: an environment that is larger goes by the usual way.
const MOST_BYTES: usize = 128 * 1024;

/// How many interpreters are kept at most: each has about 13 MB. The one that was not used for the
/// longest time makes room.
const MOST_ZYGOTES: usize = 8;

/// The interpreters that an engine keeps.
#[derive(Debug, Default)]
pub(super) struct WarmPool {
    kept: Mutex<KeptInterpreters>,
}

#[derive(Debug, Default)]
struct KeptInterpreters {
    /// `None`: the interpreter cannot be kept.
    zygotes: HashMap<WarmKey, Option<KeptZygote>>,
    /// How many hooks have asked, for the ages of interpreters.
    asked: u64,
}

#[derive(Debug)]
struct KeptZygote {
    zygote: Zygote,
    /// Whose processes no sweep ends, among them those of this one.
    spared: Arc<Mutex<SparedHooks>>,
    used: u64,
}

/// A process that will run a hook, and what it must know.
#[derive(Debug)]
pub(super) struct WarmStart {
    spare: Spare,
    packet: Vec<u8>,
    spared: Arc<Mutex<SparedHooks>>,
}

impl WarmPool {
    /// A process for the hook that `spawn` would start. If there is none, an interpreter is started
    /// for the next time. No sweep ends what is in `spared`.
    ///
    /// # Errors
    /// Why it must start cold.
    pub(super) fn start(
        &self,
        spawn: &Spawn<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> Result<WarmStart, ColdReason> {
        let environment = spawn.lines().map_err(|_| ColdReason::TooLarge)?;
        let lines: Vec<&[u8]> = environment.iter().map(|line| line.as_bytes()).collect();
        let search = lines.iter().find_map(|line| line.strip_prefix(b"PATH="));
        let command = ScriptCommand::of(spawn.program, search)?;
        let key = WarmKey::of(&command, &lines)?;
        let cwd = spawn.cwd.map_or_else(std::env::current_dir, |cwd| Ok(cwd.to_path_buf()));
        let cwd = cwd.map_err(|_| ColdReason::NoScript)?;
        let file = cwd.join(&command.script);
        if rustix::fs::access(&cwd, rustix::fs::Access::EXEC_OK).is_err() || !file.is_file() {
            // The usual way says what is wrong.
            return Err(ColdReason::NoScript);
        }
        let packet = packet(spawn, &command, &file, &cwd, &lines)?;
        let spare =
            self.take(key, |kept| KeptZygote::start(&command, spawn, spared, &file, kept), &file)?;
        Ok(WarmStart { spare, packet, spared: Arc::clone(spared) })
    }

    fn take(
        &self,
        key: WarmKey,
        start: impl FnOnce(u64) -> io::Result<KeptZygote>,
        file: &Path,
    ) -> Result<Spare, ColdReason> {
        let mut kept = locked(&self.kept);
        kept.asked += 1;
        let now = kept.asked;
        let found = match kept.zygotes.get_mut(&key) {
            Some(None) => return Err(ColdReason::Unusable),
            Some(Some(found)) => found,
            None => {
                kept.make_room();
                let zygote = start(now).map_err(|_| ColdReason::Unusable)?;
                kept.zygotes.insert(key, Some(zygote));
                return Err(ColdReason::NotReady);
            }
        };
        found.used = now;
        let spare = found.zygote.take(file);
        match found.zygote.state() {
            ZygoteState::Unusable => {
                kept.zygotes.insert(key, None);
                return Err(ColdReason::Unusable);
            }
            // It has ended, for example because its libraries have changed.
            ZygoteState::Gone => drop(kept.zygotes.remove(&key)),
            ZygoteState::Usable if found.zygote.is_worn() => drop(kept.zygotes.remove(&key)),
            ZygoteState::Starting | ZygoteState::Usable => {
                found.zygote.ask(file);
                locked(&found.spared).pids.extend(found.zygote.pids());
            }
        }
        spare.ok_or(ColdReason::NotReady)
    }
}

impl KeptInterpreters {
    fn make_room(&mut self) {
        let age = |zygote: &Option<KeptZygote>| zygote.as_ref().map_or(0, |kept| kept.used);
        while self.zygotes.len() >= MOST_ZYGOTES {
            let oldest = self.zygotes.iter().min_by_key(|(_, zygote)| age(zygote));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.zygotes.remove(&oldest);
        }
    }
}

impl KeptZygote {
    fn start(
        command: &ScriptCommand,
        hook: &Spawn<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
        file: &Path,
        used: u64,
    ) -> io::Result<KeptZygote> {
        let mark = format!("warm.{}.{used}", std::process::id());
        locked(spared).marks.push(mark.clone());
        let zygote = Zygote::start(command, hook, mark.clone(), file);
        let zygote = zygote.inspect_err(|_| locked(spared).marks.retain(|known| *known != mark))?;
        locked(spared).pids.extend(zygote.pids());
        Ok(KeptZygote { zygote, spared: Arc::clone(spared), used })
    }
}

impl Drop for KeptZygote {
    /// Ends the interpreter and what waits. Until they are reaped no sweep may touch them.
    fn drop(&mut self) {
        self.zygote.end();
        let spared = &mut locked(&self.spared);
        spared.marks.retain(|known| *known != self.zygote.mark);
        for pid in self.zygote.pids() {
            spared.pids.remove(&pid);
        }
    }
}

impl WarmStart {
    /// Starts the hook, and closes our copies of its streams.
    ///
    /// # Errors
    /// When the process got nothing, with the streams: then the hook starts cold.
    pub(super) fn hand_over(self, streams: [OwnedFd; 3]) -> Result<Pid, [OwnedFd; 3]> {
        let known = self.spare.pid;
        let given = self.spare.hand_over(&self.packet, streams);
        if let Some(pid) = known {
            locked(&self.spared).pids.remove(&pid.as_raw_nonzero().get());
        }
        given
    }
}

/// What a process must know to run a script: NUL ends each part.
fn packet(
    spawn: &Spawn<'_>,
    command: &ScriptCommand,
    file: &Path,
    cwd: &Path,
    lines: &[&[u8]],
) -> Result<Vec<u8>, ColdReason> {
    let Program { path, name, arguments } = spawn.program;
    let words = std::iter::once(name).chain(arguments).map(|word| word.as_bytes());
    let words: Vec<&[u8]> = words.collect();
    let count = words.len().to_string();
    let script: &[u8] = command.script.as_bytes();
    let head = [
        path.as_os_str().as_bytes(),
        script,
        file.as_os_str().as_bytes(),
        cwd.as_os_str().as_bytes(),
        count.as_bytes(),
    ];
    let parts: Vec<&[u8]> = head.into_iter().chain(words).chain(lines.iter().copied()).collect();
    let packet = parts.join(&0);
    let is_whole = packet.iter().filter(|byte| **byte == 0).count() + 1 == parts.len();
    match is_whole && packet.len() <= MOST_BYTES {
        true => Ok(packet),
        false => Err(ColdReason::TooLarge),
    }
}
