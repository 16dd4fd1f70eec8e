//! Takes off the programs that run another one.

use std::borrow::Cow;

use super::limits::{MOST_COMMANDS, MOST_WRAPPERS};
use super::line::{Assignment, ShellCommand, ShellWord};
use super::script::{Parts, ScriptPlace, ScriptReader};
use super::word::Word;
use super::wrappers::{self, Inner, Wrapper};

impl ScriptReader {
    /// A simple command, wrappers taken off.
    pub(super) fn run(&mut self, mut parts: Parts, place: ScriptPlace) {
        let mut through = place.through.to_vec();
        loop {
            let program = parts.words.first().filter(|word| !word.is_pattern);
            let Some(program) = program.and_then(|word| word.text.clone()) else { break };
            let name = program.rsplit('/').next().unwrap_or(&program);
            if through.len() > MOST_WRAPPERS {
                self.doubt("programs run through each other, too deep to read");
                break;
            }
            match name {
                "find" | "fd" | "fdfind" => self.find(&parts, &through, place),
                "alias" if parts.words.iter().skip(1).any(|word| word.raw().contains('=')) => {
                    self.doubt("`alias` changes what words after it run");
                }
                "trap" => self.trap(&parts, &through, place),
                "su" | "runuser" => {
                    if self.su(name, &parts, &through, place) {
                        return;
                    }
                }
                _ => {}
            }
            let Some(row) = wrappers::find(name) else { break };
            match row.inner {
                Inner::Shell => {
                    if !self.shell(row, &parts, &mut through, place) {
                        break;
                    }
                    return;
                }
                Inner::Words | Inner::WordsAndMore | Inner::Text => {
                    if !self.unwrap(row, &mut parts, &mut through, place) {
                        break;
                    }
                    if parts.words.is_empty() {
                        return;
                    }
                }
            }
        }
        self.push(parts, &through);
    }

    /// Takes a wrapper off the words. `false`: it runs nothing itself, and is the command.
    fn unwrap(
        &mut self,
        row: &Wrapper,
        parts: &mut Parts,
        through: &mut Vec<String>,
        place: ScriptPlace,
    ) -> bool {
        let Some(mut start) = self.after_options(row, parts) else { return false };
        if row.name == "env"
            && let Some((text, end)) = split_string(&parts.words)
        {
            let rest = parts.words[end..].iter().map(|word| word.source.as_str());
            let text = std::iter::once(text.as_str()).chain(rest).collect::<Vec<_>>().join(" ");
            through.push(row.name.to_string());
            self.script(&text, ScriptPlace { depth: place.depth + 1, through });
            parts.words.clear();
            return true;
        }
        start += row.operands;
        if start >= parts.words.len() {
            return false;
        }
        let mut rest = parts.words.split_off(start);
        through.push(row.name.to_string());
        let is_text_option = |word: &Word| matches!(word.text.as_deref(), Some("-c" | "--command"));
        if row.name == "flock" && rest.first().is_some_and(is_text_option) {
            let text = rest.get(1).map(|word| text_of(word)).unwrap_or_default();
            self.script(&text, ScriptPlace { depth: place.depth + 1, through });
            parts.words.clear();
            return true;
        }
        match row.inner {
            Inner::Text => {
                let text = rest.iter().map(text_of).collect::<Vec<_>>().join(" ");
                self.script(&text, ScriptPlace { depth: place.depth + 1, through });
                parts.words.clear();
            }
            Inner::WordsAndMore if row.name == "parallel" => {
                let end = rest.iter().position(|word| {
                    word.text.as_deref().is_some_and(|text| text.starts_with(":::"))
                });
                rest.truncate(end.unwrap_or(rest.len()));
                let text = rest.iter().map(text_of).collect::<Vec<_>>().join(" ");
                self.script(
                    &format!("{text} ${{_}}"),
                    ScriptPlace { depth: place.depth + 1, through },
                );
                parts.words.clear();
            }
            Inner::WordsAndMore => {
                let marks = replaced_by_xargs(&parts.words);
                for word in &mut rest {
                    let is_marked =
                        |mark: &String| word.text.as_ref().is_some_and(|text| text.contains(mark));
                    if marks.iter().any(is_marked) {
                        *word = Word::unknown();
                    }
                }
                if marks.is_empty() {
                    rest.push(Word::unknown());
                }
                parts.words = rest;
            }
            Inner::Words | Inner::Shell => parts.words = rest,
        }
        true
    }

    /// The first word that is neither an option of a wrapper nor an assignment; `None` if the
    /// wrapper runs nothing, or if it cannot be told, which is then in doubt.
    fn after_options(&mut self, row: &Wrapper, parts: &mut Parts) -> Option<usize> {
        let mut at = 1;
        if row.name == "eval" {
            return Some(
                1 + usize::from(
                    parts.words.get(1).is_some_and(|word| word.text.as_deref() == Some("--")),
                ),
            );
        }
        while let Some(word) = parts.words.get(at) {
            let Some(text) = &word.text else {
                let raw = word.raw();
                if let Some((name, _)) =
                    raw.split_once('=').filter(|(name, _)| row.assigns && is_name(name))
                {
                    parts.assigns.push(Assignment { name: name.to_string(), value: None });
                    at += 1;
                    continue;
                }
                self.doubt(format!("cannot tell what `{}` runs", row.name));
                return None;
            };
            let is_query = row.name == "command" && matches!(text.as_str(), "-v" | "-V")
                || row.name == "sudo"
                    && matches!(
                        text.as_str(),
                        "-l" | "-v" | "-e" | "-V" | "--list" | "--edit" | "--validate"
                    )
                || matches!(text.as_str(), "--help" | "--version");
            if is_query {
                return None;
            }
            if text == "--" {
                return Some(at + 1);
            }
            let assignment = text.split_once('=').filter(|_| row.assigns && !text.starts_with('-'));
            if let Some((name, value)) = assignment {
                let (name, value) = (name.to_string(), Some(value.to_string()));
                parts.assigns.push(Assignment { name, value });
                at += 1;
                continue;
            }
            if text == "-" && row.name == "env" {
                at += 1;
                continue;
            }
            let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
                return Some(at);
            };
            if row.name == "env"
                && (option.starts_with('S')
                    || option.starts_with("-split-string")
                    || option.ends_with('S'))
            {
                return Some(at);
            }
            if row.name == "nice"
                && option.trim_start_matches('-').chars().all(|c| c.is_ascii_digit())
            {
                at += 1;
                continue;
            }
            match option_words(row, text) {
                Some(words) => at += words,
                None => {
                    self.doubt(format!("cannot tell what `{} {text}` runs", row.name));
                    return None;
                }
            }
        }
        Some(at)
    }

    /// `sh -c TEXT`, or a shell that reads its stdin. `false`: it runs a file.
    fn shell(
        &mut self,
        row: &Wrapper,
        parts: &Parts,
        through: &mut Vec<String>,
        place: ScriptPlace,
    ) -> bool {
        let mut at = 1;
        let mut takes_text = false;
        let mut reads_stdin = false;
        while let Some(word) = parts.words.get(at) {
            let Some(text) = &word.text else { break };
            let Some(option) = text.strip_prefix(['-', '+']).filter(|option| !option.is_empty())
            else {
                break;
            };
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with("--") {
                takes_text |= text.starts_with('-') && option.contains('c');
                reads_stdin |= option.contains('s');
                at += 1 + option.matches(['o', 'O']).count();
                continue;
            }
            match option_words(row, text) {
                Some(words) => at += words,
                None => {
                    self.doubt(format!("cannot tell what `{} {text}` runs", row.name));
                    return false;
                }
            }
        }
        let operand = parts.words.get(at);
        let text = match operand {
            Some(word) if takes_text => Some(text_of(word)),
            Some(_) if !reads_stdin => return false,
            None if takes_text => return false,
            _ if parts.has_stdin => parts.stdin.clone(),
            _ => return false,
        };
        through.push(row.name.to_string());
        match text {
            Some(text) => self.script(&text, ScriptPlace { depth: place.depth + 1, through }),
            // What comes through a pipe is known at run time only.
            None => self
                .line
                .commands
                .push(ShellCommand { through: through.clone(), ..ShellCommand::default() }),
        }
        if !parts.redirects.is_empty() {
            let redirects = parts.redirects.clone();
            self.push(Parts { redirects, ..Parts::default() }, place.through);
        }
        true
    }

    /// The commands of `find … -exec COMMAND ;`.
    fn find(&mut self, parts: &Parts, through: &[String], place: ScriptPlace) {
        let mut words = parts.words.iter().skip(1);
        while let Some(word) = words.next() {
            if !matches!(
                word.text.as_deref(),
                Some(
                    "-exec"
                        | "-execdir"
                        | "-ok"
                        | "-okdir"
                        | "-x"
                        | "-X"
                        | "--exec"
                        | "--exec-batch"
                )
            ) {
                continue;
            }
            let is_end = |word: &&Word| !matches!(word.text.as_deref(), Some(";" | "+"));
            let inner: Vec<Word> = words
                .by_ref()
                .take_while(is_end)
                .map(|word| match &word.text {
                    Some(text) if text.contains("{}") => Word::unknown(),
                    _ => word.clone(),
                })
                .collect();
            let through: Vec<String> =
                through.iter().cloned().chain(["find".to_string()]).collect();
            self.run(
                Parts { words: inner, ..Parts::default() },
                ScriptPlace { depth: place.depth, through: &through },
            );
        }
    }

    fn trap(&mut self, parts: &Parts, through: &[String], place: ScriptPlace) {
        let mut operands =
            parts.words.iter().skip(1).skip_while(|word| word.text.as_deref() == Some("--"));
        let Some(action) = operands
            .next()
            .filter(|word| !matches!(word.text.as_deref(), Some("-" | "" | "-l" | "-p")))
        else {
            return;
        };
        let through: Vec<String> = through.iter().cloned().chain(["trap".to_string()]).collect();
        self.script(&text_of(action), ScriptPlace { depth: place.depth + 1, through: &through });
    }

    /// `su -c TEXT`, `runuser -u USER -- COMMAND`. Whether it ran something.
    fn su(&mut self, name: &str, parts: &Parts, through: &[String], place: ScriptPlace) -> bool {
        let mut through = through.to_vec();
        through.push(name.to_string());
        let mut words = parts.words.iter().skip(1);
        while let Some(word) = words.next() {
            let Some(text) = word.text.as_deref() else { continue };
            let inner = match text.split_once('=') {
                Some(("--command" | "--session-command", text)) => Some(Cow::Borrowed(text)),
                _ if matches!(text, "-c" | "--command" | "--session-command") => {
                    words.next().map(|word| Cow::Owned(text_of(word)))
                }
                _ => None,
            };
            if let Some(inner) = inner {
                self.script(&inner, ScriptPlace { depth: place.depth + 1, through: &through });
                return true;
            }
            if name == "runuser" && text == "--" {
                let words = words.cloned().collect();
                self.run(
                    Parts { words, ..Parts::default() },
                    ScriptPlace { depth: place.depth, through: &through },
                );
                return true;
            }
        }
        false
    }

    pub(super) fn push(&mut self, parts: Parts, through: &[String]) {
        let Parts { words, assigns, redirects, stdin: _, has_stdin: _ } = parts;
        if words.is_empty() && redirects.is_empty() {
            return;
        }
        if self.line.commands.len() >= MOST_COMMANDS {
            return self.doubt("it has too many commands to read");
        }
        let mut words = words.into_iter();
        let program = match words.next() {
            Some(word) => word.into_word(),
            // Redirections alone are those of a command that does nothing.
            None => ShellWord { text: Some(":".to_string()), ..ShellWord::default() },
        };
        let args = words.map(Word::into_word).collect();
        self.line.commands.push(ShellCommand {
            program,
            args,
            through: through.to_vec(),
            assigns,
            redirects,
        });
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The word as a shell would be given it in a text.
pub(super) fn text_of(word: &Word) -> String {
    word.text.clone().unwrap_or_else(|| word.raw())
}

/// How many words an option of a wrapper takes, itself included; `None` if it is not known.
fn option_words(row: &Wrapper, text: &str) -> Option<usize> {
    if let Some(name) = text.strip_prefix("--") {
        let _ = name;
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (text, false),
        };
        return match (row.valued.contains(&name), row.plain.contains(&name)) {
            (true, _) => Some(if has_value { 1 } else { 2 }),
            (_, true) => Some(1),
            _ => None,
        };
    }
    let letters = &text[1..];
    if row.plain.contains(&letters) {
        return Some(1);
    }
    for (at, letter) in letters.char_indices() {
        let known =
            |table: &[&str]| table.iter().any(|name| name.len() == 1 && name.starts_with(letter));
        if known(row.valued) {
            let is_last = at + letter.len_utf8() == letters.len();
            return Some(if is_last { 2 } else { 1 });
        }
        // Values that must stand in the same word: `-i{}`.
        if row.name == "xargs" && "iel".contains(letter) || row.name == "stdbuf" {
            return Some(1);
        }
        if !known(row.plain) {
            return None;
        }
    }
    Some(1)
}

/// The text of `env -S TEXT`, and the word after it.
fn split_string(words: &[Word]) -> Option<(String, usize)> {
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_deref()?;
        if let Some(text) = text.strip_prefix("--split-string=") {
            return Some((text.to_string(), at + 1));
        }
        let option = text.strip_prefix('-')?;
        if option.ends_with('S') || option == "-split-string" {
            return Some((text_of(words.get(at + 1)?), at + 2));
        }
        if let Some((_, text)) = option.split_once('S').filter(|_| !option.starts_with('-')) {
            return Some((text.to_string(), at + 1));
        }
    }
    None
}

/// What `xargs -I MARK` replaces.
fn replaced_by_xargs(words: &[Word]) -> Vec<String> {
    let mut marks = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.text.as_deref() {
            Some("-I" | "--replace") => {
                marks.extend(words.get(at + 1).and_then(|word| word.text.clone()))
            }
            Some("-i") => marks.push("{}".to_string()),
            Some(text) => {
                let mark = text
                    .strip_prefix("-I")
                    .or(text.strip_prefix("--replace="))
                    .or(text.strip_prefix("-i"));
                marks.extend(mark.map(str::to_string));
            }
            None => {}
        }
    }
    marks
}
