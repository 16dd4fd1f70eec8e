//! What a permission rule says of a command: `git *`. A guard had better run once too often.

use regex::Regex;

use super::line::{ShellLine, SimpleCommand, is_variable};
use crate::engine::hook::matcher::{MatcherError, expression_error};

/// The form of a command.
#[derive(Debug, Clone)]
pub(super) struct CommandForm {
    form: Regex,
    /// What is before the first `*`, and whether more than the end is left open.
    start: String,
    is_open: bool,
}

impl CommandForm {
    /// `*` is any text, and what is before ` *` or `:*` at the end is enough.
    pub(super) fn read(written: &str) -> Result<CommandForm, MatcherError> {
        let (start, end) = match written.strip_suffix(":*").or_else(|| written.strip_suffix(" *")) {
            Some(start) => (start, r"(?:\s.*)?"),
            None => (written, ""),
        };
        let known = start.split('*').next().unwrap_or_default().to_string();
        let is_open = start.contains('*');
        let start = start.split('*').map(regex::escape).collect::<Vec<_>>().join(".*");
        let form = Regex::new(&format!("(?s)^{start}{end}$"));
        let form = form.map_err(|error| expression_error(&error.to_string()))?;
        Ok(CommandForm { form, start: known, is_open })
    }

    /// Whether a command line, or one of those in it, has this form; on a gate, whether it may.
    pub(super) fn fits(&self, command: &str, is_gate: bool) -> bool {
        if parts(command).any(|part| self.form.is_match(part)) {
            return true;
        }
        let line = ShellLine::read(command);
        // What a word becomes when the line runs may be what this form wants.
        let may_become = |known: &str| {
            self.start.starts_with(known) || self.is_open && known.starts_with(&self.start)
        };
        let may_fit = |one: &SimpleCommand| {
            let known = one.known.and_then(|known| one.text.get(..known));
            self.form.is_match(&one.text) || is_gate && known.is_some_and(may_become)
        };
        is_gate && line.is_in_doubt || line.commands.iter().any(may_fit)
    }
}

/// The command line, and each of the commands in it, without the variables before them.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    let divided = command.split(|c: char| "&|;\n()`{}".contains(c));
    std::iter::once(command).chain(divided).map(str::trim).flat_map(|part| {
        let mut rest = part;
        while let Some((word, after)) = rest.split_once(char::is_whitespace) {
            if !is_variable(word) {
                break;
            }
            rest = after.trim_start();
        }
        [part, rest]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_sees_every_command_of_a_line() {
        for (rule, command, fits) in [
            ("git *", "git push", true),
            ("git *", "git", true),
            ("git *", "gitk", false),
            ("git:*", "git push", true),
            ("rm *", "cd /tmp && rm -rf x", true),
            ("rm *", "echo $(rm -rf x)", true),
            ("rm *", "A=1 B=2 rm -rf x", true),
            ("npm run test*", "npm run test:unit", true),
            ("npm run test*", "npm run build", false),
            ("* --force", "git push --force", true),
        ] {
            let form = CommandForm::read(rule).unwrap();
            assert_eq!(form.fits(command, false), fits, "{rule}: {command}");
            assert_eq!(form.fits(command, true), fits, "{rule}: {command}");
        }
    }

    #[test]
    fn a_gate_is_asked_whatever_hides_a_command() {
        for command in [
            "for i in a; do rm x; done",
            "while true; do rm x; done",
            "if true; then rm x; fi",
            "case a in b) rm x;; esac",
            "f() { rm x; }; f",
            "function f { rm x; }; f",
            "! rm x",
            "time rm x",
            "time -p rm x",
            ">/dev/null rm x",
            "2>&1 rm x",
            "A='b c' rm x",
            "\"rm\" x",
            "r''m x",
            "\\rm x",
            "r\\\nm x",
            "/bin/rm x",
            "command rm x",
            "exec rm x",
            "eval rm x",
            "sudo rm x",
            "/usr/bin/env -i rm x",
            "bash -c 'rm x'",
            "xargs rm",
            "ls | xargs rm",
            "find . -exec rm {} +",
            "x=rm; $x y",
            "${x} y",
            "$'\\x72m' x",
            "{rm,x}",
            "/bin/r? x",
            "echo `rm x`",
            "echo \"$(rm x)\"",
            "diff <(rm x) y",
            "bash <<E\nrm x\nE",
            "echo 'not closed",
        ] {
            for rule in ["rm *", "rm:*"] {
                assert!(CommandForm::read(rule).unwrap().fits(command, true), "{rule}: {command}");
            }
        }
        for command in ["git -C . push", "git -C . -c a=b push x", "git $x", "git p{us,}h"] {
            let form = CommandForm::read("git push *").unwrap();
            assert!(form.fits(command, true), "{command}");
        }
        assert!(CommandForm::read("* --force").unwrap().fits("git push $x", true));
    }

    #[test]
    fn a_gate_is_not_asked_about_what_is_plainly_another_command() {
        for command in [
            "ls",
            "git status",
            "git rm x",
            "ls *.txt ~/a $HOME",
            "echo 'rm x' \"rm $y\"",
            "if [ -f rm ]; then ls > rm; fi",
            "for rm in a b; do echo $rm; done",
            "cat /bin/rm # rm x",
            "find . -name 'rm'",
            "echo `date`",
            "echo $(date)",
            "cargo test --test it -- rm 2>&1 | tail -5",
        ] {
            assert!(!CommandForm::read("rm *").unwrap().fits(command, true), "{command}");
        }
        for command in ["git -C . status", "git add *", "git", "sudoku $x", "git status $x"] {
            assert!(!CommandForm::read("git push *").unwrap().fits(command, true), "{command}");
        }
    }

    #[test]
    fn what_cannot_be_refused_is_asked_only_about_what_it_is() {
        for (command, fits) in [("for i in a; do rm x; done", true), ("eval $x", false)] {
            assert_eq!(CommandForm::read("rm *").unwrap().fits(command, false), fits, "{command}");
        }
    }
}
