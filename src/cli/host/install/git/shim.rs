//! The text of a shim: the small shell script that git runs as its hook, and that runs hookrun.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::hosts::git::GitHook;

/// The line that identifies a shim.
const MARK: &str = "# hookrun-shim: ";

/// What a hook that was there before is kept as.
pub(super) const KEPT_ENDING: &str = ".before-hookrun";

#[derive(Debug)]
pub(super) struct Shim<'a> {
    pub(super) hook: &'static GitHook,
    /// The program, and the options of every run. Words of a shell.
    pub(super) program: &'a str,
    pub(super) options: &'a str,
    /// Whether hookrun is run at all, or only what was there before.
    pub(super) asks: bool,
    pub(super) before: FirstHook,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FirstHook {
    /// One kept next to the shim, if there is one; it is run directly.
    Kept,
    /// As `Kept`, for a shell script that looks at its own name: run by this interpreter so that
    /// it sees the name that it had.
    KeptByName(String),
    /// The one in the repository's own folder, which git ignores if one folder serves all
    /// repositories.
    OfRepository,
}

pub(super) fn is_shim(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(1024)];
    beginning.starts_with(b"#!/bin/sh\n")
        && beginning
            .windows(MARK.len())
            .any(|part| part == MARK.as_bytes())
}

pub(super) fn program_in(text: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("hookrun="))?;
    shell_words::split(value).ok()?.into_iter().next()
}

/// How a hook that is kept must be run. Managers of hooks find out by `$0` which hook they are;
/// under another name they would do nothing, and say nothing.
pub(super) fn how_to_run(kept: &[u8]) -> FirstHook {
    let text = String::from_utf8_lossy(kept);
    let looks_at_name = text.contains("$0") || text.contains("${0");
    let first = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("#!"))
        .map(str::trim);
    let Some(interpreter) = first.filter(|_| looks_at_name) else {
        return FirstHook::Kept;
    };
    let program = interpreter
        .split_whitespace()
        .rfind(|word| !word.starts_with('-'));
    let name = program
        .and_then(|program| program.rsplit('/').next())
        .unwrap_or_default();
    let is_plain = interpreter
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/ -_.".contains(&byte));
    if is_plain && ["sh", "bash", "dash", "ksh", "zsh"].contains(&name) {
        return FirstHook::KeptByName(interpreter.to_string());
    }
    FirstHook::Kept
}

impl Shim<'_> {
    pub(super) fn text(&self) -> Vec<u8> {
        let name = self.hook.name;
        let mut text = format!(
            "#!/bin/sh\n\
             # `hookrun install git` writes this anew; `hookrun uninstall git` takes it away and\n\
             # puts back the hook that was here, which is run first.\n\
             {MARK}{name}\n\n"
        );
        text.push_str(&self.find_before());
        if self.asks {
            text.push_str(&self.find_program());
        }
        text.push_str(&self.run_both());
        OsString::from(text).into_vec()
    }

    fn find_before(&self) -> String {
        match self.before {
            FirstHook::Kept | FirstHook::KeptByName(_) => format!("before=$0{KEPT_ENDING}\n"),
            FirstHook::OfRepository => format!(
                "# While a repository is made there is none yet, and it has no hooks.\n\
                 before=$(git rev-parse --git-common-dir 2>/dev/null) || before=/dev/null\n\
                 before=$before/hooks/{}\n\
                 [ ! \"$before\" -ef \"$0\" ] || before=/dev/null\n\
                 # It runs hookrun itself.\n\
                 if grep -qs '^{MARK}' \"$before\" && [ -x \"$before\" ]; then exec \"$before\" \"$@\"; fi\n",
                self.hook.name
            ),
        }
    }

    /// Where hookrun is now, else in PATH. Without hookrun a gate blocks.
    fn find_program(&self) -> String {
        let name = self.hook.name;
        let cure = "install hookrun again, or remove this hook";
        let otherwise = if self.hook.is_gate() {
            format!(
                "  echo \"hookrun: {name} blocked: there is no hookrun at $hookrun or in PATH; {cure}: $0\" >&2\n  exit 1\n"
            )
        } else {
            format!(
                "  echo \"hookrun: {name} ran no hooks: there is no hookrun at $hookrun or in PATH; {cure}: $0\" >&2\n  found=\n"
            )
        };
        format!(
            "hookrun={}\n\
             found=$hookrun\n\
             [ -x \"$found\" ] || found=$(command -v hookrun) || {{\n{otherwise}}}\n",
            self.program
        )
    }

    fn run_both(&self) -> String {
        let name = self.hook.name;
        let reads = self.hook.lines.is_some();
        let first = match &self.before {
            FirstHook::Kept | FirstHook::OfRepository => "\"$before\" \"$@\"".to_string(),
            FirstHook::KeptByName(shell) => {
                format!("{shell} -c '. \"$0{KEPT_ENDING}\"' \"$0\" \"$@\"")
            }
        };
        let first = if reads {
            format!("printf %s \"$lines\" 2>/dev/null | {first}")
        } else {
            first
        };
        let own = format!("\"$found\" run{} --host git {name} -- \"$@\"", self.options);
        let then = if reads {
            format!("printf %s \"$lines\" 2>/dev/null | {own}")
        } else {
            own.clone()
        };
        // Trailing line ends would be cut off.
        let keep = if reads {
            "  lines=$(cat; echo .)\n  lines=${lines%.}\n"
        } else {
            ""
        };
        let test = "if [ -f \"$before\" ] && [ -x \"$before\" ]; then\n";
        match (self.asks, self.hook.is_gate()) {
            (false, _) => {
                let plain = match &self.before {
                    FirstHook::Kept | FirstHook::OfRepository => {
                        "exec \"$before\" \"$@\"".to_string()
                    }
                    FirstHook::KeptByName(_) => "exec ".to_string() + &first,
                };
                format!("{test}  {plain}\nfi\nexit 0\n")
            }
            (true, true) => {
                format!("{test}{keep}  {first} || exit $?\n  {then}\n  exit $?\nfi\nexec {own}\n")
            }
            (true, false) => format!(
                "status=0\n{test}{keep}  {first} || status=$?\n  [ -z \"$found\" ] || {then}\n  exit $status\nfi\n\
                 [ -z \"$found\" ] || exec {own}\n"
            ),
        }
    }
}
