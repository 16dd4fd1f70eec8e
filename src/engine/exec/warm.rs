//! Warm starts: a hook runs its unchanged script in a process that was forked from its interpreter
//! before the event came.
//!
//! There is one process for each event all the same. It is a child of ours, in a session of its
//! own, with the streams, variables and folder of its hook, so nothing that comes after the start
//! differs from a cold one. What is not sure to be the same starts cold. So does a hook whose process
//! ends before it has said that the script begins; after that, whatever happens is the hook's own,
//! and nothing runs twice.

mod child;
mod files;
mod key;
mod script;
mod served;
mod zygote;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rustix::process::Pid;

pub use key::inherited_traits;
pub(super) use served::{MARK, ServedLife};

use key::WarmKey;
use script::ScriptCommand;
use served::ServedPool;
use zygote::{Spare, Urgency, Zygote, ZygoteState};

use super::command::Program;
use super::tree::SparedHooks;
use super::warm_hook::{WarmBounds, WarmHook};
use crate::engine::lock::locked;
use crate::engine::run::ColdReason;

/// The largest packet: an environment that is larger goes by the usual way.
const MOST_BYTES: usize = 128 * 1024;

/// How many interpreters are kept at most: each has about 13 MB.
const MOST_ZYGOTES: usize = 8;

/// How many others are remembered that hooks have asked for.
const MOST_MISSED: usize = 64;

/// The interpreters that an engine keeps.
#[derive(Debug, Default)]
pub(super) struct WarmPool {
    kept: Mutex<KeptInterpreters>,
    /// The programs that stay up.
    pub(super) served: ServedPool,
}

#[derive(Debug, Default)]
struct KeptInterpreters {
    /// `None`: the interpreter cannot be kept.
    zygotes: HashMap<WarmKey, Option<KeptZygote>>,
    /// When hooks last asked for interpreters for which there was no room.
    missed: HashMap<WarmKey, u64>,
    /// How many hooks have asked, for the ages of interpreters.
    asked: u64,
}

#[derive(Debug)]
struct KeptZygote {
    zygote: Zygote,
    /// Whose processes no sweep ends, among them those of this one.
    spared: Arc<Mutex<SparedHooks>>,
    /// Those of its processes that no sweep looks at.
    known: Vec<i32>,
    used: u64,
}

/// A process that will run a hook, and what it must know.
#[derive(Debug)]
pub(super) struct WarmStart {
    spare: Spare,
    packet: Vec<u8>,
}

impl WarmPool {
    /// A process for a hook. If there is none, an interpreter is started
    /// for the next time. No sweep ends what is in `spared`.
    ///
    /// # Errors
    /// Why it must start cold.
    pub(super) fn start(
        &self,
        hook: &WarmHook<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> Result<WarmStart, ColdReason> {
        let WarmHook {
            program,
            spawn,
            bounds,
        } = hook;
        let environment = spawn.lines().map_err(|_| ColdReason::TooLarge)?;
        let lines: Vec<&[u8]> = environment.iter().map(|line| line.as_bytes()).collect();
        let search = lines.iter().find_map(|line| line.strip_prefix(b"PATH="));
        let command = ScriptCommand::of(program, search)?;
        let bounds_key = bounds.map_or(Ok(String::new()), WarmBounds::key)?;
        let key = WarmKey::of(&command, &lines, bounds_key)?;
        let cwd = spawn
            .cwd
            .map_or_else(std::env::current_dir, |cwd| Ok(cwd.to_path_buf()));
        let cwd = cwd.map_err(|_| ColdReason::NoScript)?;
        let file = cwd.join(&command.script);
        if rustix::fs::access(&cwd, rustix::fs::Access::EXEC_OK).is_err() || !file.is_file() {
            // The usual way says what is wrong.
            return Err(ColdReason::NoScript);
        }
        let packet = packet(program, &command, &file, &cwd, &lines)?;
        let spare = self.take(
            key,
            |kept| KeptZygote::start(&command, hook, spared, &file, kept),
            &file,
        )?;
        Ok(WarmStart { spare, packet })
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
                kept.make_room(&key)?;
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
                found.zygote.ask(Urgency::Soon, file);
                found.note_processes();
            }
        }
        spare.ok_or(ColdReason::NotReady)
    }
}

impl KeptInterpreters {
    /// Makes room for an interpreter that is asked for a second time since another one was last
    /// used. If hooks that take turns needed one more than there may be, all would start in vain.
    ///
    /// # Errors
    /// When all others are used as often.
    fn make_room(&mut self, key: &WarmKey) -> Result<(), ColdReason> {
        if self.zygotes.len() < MOST_ZYGOTES {
            return Ok(());
        }
        let age = |zygote: &Option<KeptZygote>| zygote.as_ref().map_or(0, |kept| kept.used);
        let oldest = self.zygotes.iter().min_by_key(|(_, zygote)| age(zygote));
        let oldest = oldest.map(|(key, zygote)| (key.clone(), age(zygote)));
        let missed_at = self.missed.remove(key);
        let Some((oldest, _)) = oldest.filter(|(_, used)| missed_at.is_some_and(|at| at > *used))
        else {
            if self.missed.len() >= MOST_MISSED {
                self.missed.clear();
            }
            self.missed.insert(key.clone(), self.asked);
            return Err(ColdReason::TooMany);
        };
        self.zygotes.remove(&oldest);
        Ok(())
    }
}

impl KeptZygote {
    fn start(
        command: &ScriptCommand,
        hook: &WarmHook<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
        file: &Path,
        used: u64,
    ) -> io::Result<KeptZygote> {
        let mark = format!("warm.{}.{used}", std::process::id());
        locked(spared).marks.push(mark.clone());
        let zygote = Zygote::start(command, hook, mark.clone(), file);
        let zygote = zygote.inspect_err(|_| locked(spared).marks.retain(|known| *known != mark))?;
        let mut kept = KeptZygote {
            zygote,
            spared: Arc::clone(spared),
            known: Vec::new(),
            used,
        };
        kept.note_processes();
        Ok(kept)
    }

    /// Tells sweeps which processes are of this interpreter. Others may get the numbers of those
    /// that have ended. One that was just taken has the mark of the interpreter until it runs a hook.
    fn note_processes(&mut self) {
        let spared = &mut locked(&self.spared).pids;
        spared.retain(|pid| !self.known.contains(pid));
        self.known = self.zygote.pids().collect();
        spared.extend(&self.known);
    }
}

impl Drop for KeptZygote {
    /// Ends the interpreter and what waits. Until they are reaped no sweep may touch them.
    fn drop(&mut self) {
        self.zygote.end();
        let spared = &mut locked(&self.spared);
        spared.marks.retain(|known| *known != self.zygote.mark);
        spared.pids.retain(|pid| !self.known.contains(pid));
    }
}

impl WarmStart {
    /// Starts the hook, and closes our copies of its streams. Returns its process, and a socket on
    /// which it says that the script begins.
    ///
    /// # Errors
    /// When the process got nothing, with the streams: then the hook starts cold.
    pub(super) fn hand_over(self, streams: [OwnedFd; 3]) -> Result<(Pid, OwnedFd), [OwnedFd; 3]> {
        let Some(pid) = self.spare.pid else {
            return Err(streams);
        };
        let socket = self.spare.hand_over(&self.packet, streams)?;
        Ok((pid, socket))
    }
}

/// What a process must know to run a script: NUL ends each part.
fn packet(
    program: &Program,
    command: &ScriptCommand,
    file: &Path,
    cwd: &Path,
    lines: &[&[u8]],
) -> Result<Vec<u8>, ColdReason> {
    let Program {
        path,
        name,
        arguments,
    } = program;
    // Python looks there for what a script imports.
    let folder = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let folder = folder.parent().unwrap_or(Path::new("/"));
    let words = std::iter::once(name)
        .chain(arguments)
        .map(|word| word.as_bytes());
    let words: Vec<&[u8]> = words.collect();
    let count = words.len().to_string();
    let script: &[u8] = command.script.as_bytes();
    let head = [
        path.as_os_str().as_bytes(),
        script,
        file.as_os_str().as_bytes(),
        folder.as_os_str().as_bytes(),
        command.process_name.as_bytes(),
        cwd.as_os_str().as_bytes(),
        count.as_bytes(),
    ];
    let parts: Vec<&[u8]> = head
        .into_iter()
        .chain(words)
        .chain(lines.iter().copied())
        .collect();
    let packet = parts.join(&0);
    let is_whole = packet.iter().filter(|byte| **byte == 0).count() + 1 == parts.len();
    match is_whole && packet.len() <= MOST_BYTES {
        true => Ok(packet),
        false => Err(ColdReason::TooLarge),
    }
}
