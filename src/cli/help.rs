//! The help, with commands grouped by purpose. The man pages are generated from it.

use clap::{Command, CommandFactory};

use crate::cli::args::Cli;
use crate::engine::names::words;

/// Commands by purpose. The short help only names all others.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Start",
        words!("init" "add" "new" "install" "uninstall" "trust" "doctor"),
    ),
    (
        "Test",
        words!("test" "explain" "list" "why" "report" "replay"),
    ),
    ("Run", &["run", "serve"]),
    ("Share", &["sets"]),
];

/// The command line with groups in its help; `-h` fits on a screen of 30 lines.
pub(crate) fn command() -> Command {
    let mut root = Cli::command();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let commands = names.iter().filter_map(|name| root.find_subcommand(name));
        groups.push_str(&group(title, commands));
    }
    let is_other = |command: &&Command| {
        let name = command.get_name();
        !command.is_hide_set() && !GROUPS.iter().any(|(_, names)| names.contains(&name))
    };
    let others: Vec<&Command> = root.get_subcommands().filter(is_other).collect();
    let names: Vec<&str> = others.iter().map(|command| command.get_name()).collect();
    // Without styles, because clap counts escape sequences when it wraps lines.
    let short = format!(
        "More: {}\nOptions: --color WHEN, --log LEVEL, -h, --help, -V, --version",
        names.join(", "),
    );
    let more = group("More", others.iter().copied());
    let examples = root.get_after_help().cloned().unwrap_or_default();
    let options = root.clone().help_template("{options}").render_long_help();
    let long = format!(
        "{more}{}\n{}\n{examples}",
        heading("Options"),
        options.ansi()
    );
    root = root.after_help(short).after_long_help(long);
    root.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}",
        groups.trim_end()
    ))
}

fn group<'c>(title: &str, commands: impl Iterator<Item = &'c Command>) -> String {
    let mut text = format!("{}\n", heading(title));
    for command in commands {
        let name = command.get_name();
        let about = command.get_about().cloned().unwrap_or_default();
        text.push_str(&format!("  \u{1b}[1m{name:<12}\u{1b}[0m {about}\n"));
    }
    text.push('\n');
    text
}

fn heading(text: &str) -> String {
    format!("\u{1b}[1m\u{1b}[4m{text}:\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use clap_mangen::Man;

    use super::*;

    /// Adds the man pages of a command and its subcommands.
    fn add_pages(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
        let mut text = Vec::new();
        // The generator omits the help of options that are hidden in the short help.
        let shown = command.clone().mut_args(|arg| arg.hide_short_help(false));
        Man::new(shown)
            .title(name)
            .source(concat!("hookrun ", env!("CARGO_PKG_VERSION")))
            .render(&mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        // An omitted date would make the version the date.
        let text = text.replacen(" 1  \"", " 1 \"\" \"", 1);
        let text = text.replace(".SH EXTRA\n", ".SH NOTES\n");
        pages.push((format!("{name}.1"), text));
        for below in command.get_subcommands() {
            if below.get_name() != "help" && !below.is_hide_set() {
                add_pages(below, &format!("{name}-{}", below.get_name()), pages);
            }
        }
    }

    /// `UPDATE_GOLDEN=1` writes them.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the setting of a test")]
    fn the_pages_of_the_commands_are_made_from_their_arguments() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        let mut pages = Vec::new();
        add_pages(&root, "hookrun", &mut pages);
        for (name, page) in &pages {
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(folder.join(name), page).unwrap();
            }
            let known = fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(
                known == *page,
                "man/{name} differs: UPDATE_GOLDEN=1 cargo test"
            );
        }
        let names: BTreeSet<String> = pages.into_iter().map(|(name, _)| name).collect();
        let files: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".1"))
            .collect();
        assert_eq!(files, names, "man/ has pages of commands that are gone");
    }
}
