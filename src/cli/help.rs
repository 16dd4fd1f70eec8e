//! The help: commands by what a person wants to do. The manual pages are made from it.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::cli::args::Cli;

/// What a person wants to do, and the commands for it. All others are in the last group.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Start",
        &[
            "init",
            "add",
            "new",
            "install",
            "uninstall",
            "trust",
            "doctor",
        ],
    ),
    (
        "Test",
        &["test", "explain", "list", "why", "report", "replay"],
    ),
    ("Run", &["run", "serve"]),
    ("Share", &["sets"]),
    ("More", &[]),
];

/// The command line with groups in its help.
pub(crate) fn command() -> Command {
    let root = Cli::command();
    let groups = groups(&root);
    root.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}{{after-help}}",
        heading("Options")
    ))
}

fn groups(root: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{}", heading(title));
        for name in *names {
            if let Some(command) = root.find_subcommand(name) {
                text.push_str(&line(command));
            }
        }
        for command in root.get_subcommands().filter(|_| names.is_empty()) {
            let name = command.get_name();
            let is_grouped = GROUPS.iter().any(|(_, names)| names.contains(&name));
            if !is_grouped && !command.is_hide_set() {
                text.push_str(&line(command));
            }
        }
        text.push('\n');
    }
    text
}

fn line(command: &Command) -> String {
    let name = command.get_name();
    let about = command.get_about().cloned().unwrap_or_default();
    format!("  \u{1b}[1m{name:<12}\u{1b}[0m {about}\n")
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

    /// Adds the pages of a command and of those below it.
    fn add_pages(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
        let mut text = Vec::new();
        Man::new(command.clone())
            .title(name)
            .section("1")
            .source(concat!("hookrun ", env!("CARGO_PKG_VERSION")))
            .render(&mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
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
        let mut root = Cli::command();
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
