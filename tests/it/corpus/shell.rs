//! What must hold for every command line, whatever is in it.

use hookrun::internals::shell::{self, CommandLine, ShellCommand};

/// A longer text may be in doubt in other surroundings.
const MOST_BYTES: usize = 64 << 10;

/// Reads a text; no file of the corpus has another form than that.
pub(crate) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let line = shell::read(&text);
    assert_eq!(
        shell::read(&text),
        line,
        "the same text is read in the same way"
    );
    check_words(&line);
    let is_blank = text
        .split('\n')
        .all(|line| line.trim_matches([' ', '\t']).is_empty());
    assert!(!is_blank || line.commands.is_empty());
    if line.doubt.is_none() && text.len() < MOST_BYTES {
        check_surroundings(&text, &line);
    }
    let shown = serde_json::to_string(&line).expect("commands are JSON");
    assert!(shown.starts_with('{'));
}

/// No word holds what no program can be given.
fn check_words(line: &CommandLine) {
    assert!(
        line.doubt
            .as_ref()
            .is_none_or(|doubt| !doubt.trim().is_empty())
    );
    for command in &line.commands {
        let words = std::iter::once(&command.program).chain(&command.args);
        let targets = command.redirects.iter().map(|one| &one.target);
        let wrapped = command.through.iter().flat_map(|one| &one.args);
        for word in words.chain(targets).chain(wrapped) {
            let known = word.text.as_deref().unwrap_or_default();
            assert!(
                !known.contains(['\0', '\u{10fffb}', '\u{10fffd}']),
                "{word:?}"
            );
        }
        assert!(
            command.through.iter().all(|one| !one.name.is_empty()),
            "{command:?}"
        );
    }
}

/// What a text runs, it also runs in a group, in another shell, and after another command.
fn check_surroundings(text: &str, line: &CommandLine) {
    let end = if ends_in_comment_or_escape(text) {
        "\n"
    } else {
        ""
    };
    let in_shell = format!("bash -c -- '{}'", text.replace('\'', r"'\''"));
    // In another shell the values of variables are not looked up, and what a third one would make of
    // them is not known either.
    let has_values = text.contains('=') && line.commands.iter().any(|one| !one.through.is_empty());
    let in_shell = (!has_values).then_some(in_shell);
    for surrounded in std::iter::once(format!("a\n{text}{end}\nb\n")).chain(in_shell) {
        let found = shell::read(&surrounded);
        if found.doubt.is_some() {
            continue;
        }
        for command in &line.commands {
            let is_same = |other: &&ShellCommand| is_found(command, other);
            assert!(
                found.commands.iter().any(|one| is_same(&one)),
                "{command:?} in {surrounded}"
            );
        }
    }
}

fn ends_in_comment_or_escape(text: &str) -> bool {
    text.ends_with('\\') || text.lines().last().is_some_and(|line| line.contains('#'))
}

/// Whether it is the same command, or less of it is known.
fn is_found(wanted: &ShellCommand, found: &ShellCommand) -> bool {
    let Some(name) = found.name() else {
        return true;
    };
    let is_word = |(wanted, found): (&hookrun::ShellWord, &hookrun::ShellWord)| {
        found.text.is_none() || wanted.text == found.text
    };
    wanted.name() == Some(name)
        && (wanted.args.len() == found.args.len()
            && wanted.args.iter().zip(&found.args).all(is_word)
            || found.args.iter().any(|word| word.text.is_none()))
}
