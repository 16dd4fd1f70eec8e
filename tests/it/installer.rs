//! `packaging/install.sh`, with a small release of its own: what it refuses, and that whoever calls
//! hookrun meanwhile finds a program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::nasty::running::skipped;
use crate::sandbox::Sandbox;

/// A home with everything that has to be quoted.
const HOME: &str = "it's $a \"home\" -x;*\n";

/// Makes the archives of the versions 1 and 2, and their sums. The second has no page `old`.
const MAKE: &str = r#"
for version in 1 2; do
    name=hookrun-$version-$TARGET
    mkdir -p "$name/bin" "$name/man" "$name/completions" release
    printf '#!/bin/sh\necho %s\n' "$version" >"$name/bin/hookrun"
    for file in man/hookrun.1.gz completions/hookrun.bash completions/_hookrun completions/hookrun.fish; do
        echo "$version" >"$name/$file"
    done
    [ "$version" = 2 ] || echo old >"$name/man/old.7.gz"
    tar -cf - "$name" | gzip >"release/$name.tar.gz"
done
cd release && sha256sum *.tar.gz >SHA256SUMS
"#;

const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

struct Installer {
    sandbox: Sandbox,
}

impl Installer {
    fn new() -> Option<Installer> {
        let target = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => "x86_64-unknown-linux-musl",
            ("linux", "aarch64") => "aarch64-unknown-linux-musl",
            _ => {
                skipped("a release is made on Linux");
                return None;
            }
        };
        let installer = Installer {
            sandbox: Sandbox::new().file(&format!("{HOME}/own"), "kept"),
        };
        let (status, said) = installer.sh(&["-c", &format!("TARGET={target}\n{MAKE}")], USUAL);
        assert_eq!(status, 0, "{said}");
        Some(installer)
    }

    fn sh(&self, arguments: &[&str], path: &str) -> (i32, String) {
        let mut command = Command::new("/bin/sh");
        command
            .args(arguments)
            .current_dir(self.sandbox.path())
            .env_clear();
        command
            .env("HOME", self.sandbox.at(HOME))
            .env("PATH", path)
            .env("LC_ALL", "C");
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        (ran.status.code().unwrap_or(-1), said)
    }

    fn install(&self, arguments: &[&str], path: &str) -> (i32, String) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/install.sh");
        self.sh(&[&[script.to_str().unwrap()], arguments].concat(), path)
    }

    #[track_caller]
    fn installs(&self, version: &str) {
        let (status, said) = self.install(&["--from", "release", "--version", version], USUAL);
        assert_eq!(status, 0, "{said}");
        assert_eq!(self.program(), version);
    }

    /// What the installed program says.
    fn program(&self) -> String {
        let ran = Command::new(self.sandbox.at(HOME).join(".local/bin/hookrun")).output();
        ran.map_or_else(
            |error| error.to_string(),
            |ran| String::from_utf8(ran.stdout).unwrap().trim().to_string(),
        )
    }

    /// All files in the home.
    fn files(&self) -> Vec<String> {
        let (_, found) = self.sh(&["-c", "cd -- \"$HOME\" && find . -type f | sort"], USUAL);
        found.lines().map(str::to_string).collect()
    }

    /// A folder whose programs run `before` and then do what they always do.
    fn wrappers(&self, before: &str) -> String {
        let folder = self.sandbox.at("wrappers");
        fs::create_dir_all(&folder).unwrap();
        for name in ["cp", "mv", "rm", "mkdir", "rmdir", "chmod"] {
            let text =
                format!("#!/bin/sh\nname={name}\n{before}\nPATH={USUAL}\nexec {name} \"$@\"\n");
            let (status, said) = self.sh(
                &[
                    "-c",
                    "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"",
                    "sh",
                    &text,
                    folder.join(name).to_str().unwrap(),
                ],
                USUAL,
            );
            assert_eq!(status, 0, "{said}");
        }
        format!("{}:{USUAL}", folder.display())
    }
}

#[test]
fn it_installs_replaces_and_removes_in_any_home() {
    let Some(installer) = Installer::new() else {
        return;
    };
    installer.installs("1");
    assert!(
        installer
            .files()
            .iter()
            .any(|file| file.ends_with("man7/old.7.gz"))
    );
    let first = installer.files();
    installer.installs("1");
    assert_eq!(installer.files(), first);
    installer.installs("2");
    assert!(
        !installer
            .files()
            .iter()
            .any(|file| file.ends_with("old.7.gz"))
    );
    let (status, said) = installer.install(&["--uninstall"], USUAL);
    assert_eq!((status, said.as_str()), (0, ""));
    assert_eq!(installer.files(), ["./own"]);
    assert!(!installer.sandbox.at(HOME).join(".local/bin").exists());
    let (status, said) = installer.install(&["--uninstall"], USUAL);
    assert!(
        status == 1 && said.contains("nothing was installed by this script"),
        "{said}"
    );
}

#[test]
fn a_release_that_is_not_whole_changes_nothing() {
    let Some(installer) = Installer::new() else {
        return;
    };
    installer.installs("1");
    let before = installer.files();
    let sums = "release/SHA256SUMS";
    for (damage, said) in [
        ("sed -i 's/^[0-9a-f]/x/' release/SHA256SUMS", "is damaged"),
        ("sed -i '/-2-/d' release/SHA256SUMS", "does not name"),
        (
            "cat release/SHA256SUMS release/SHA256SUMS >x; mv x release/SHA256SUMS",
            "is damaged",
        ),
        ("rm release/SHA256SUMS", "cannot fetch"),
        ("printf x >>\"$(echo release/*-2-*)\"", "is damaged"),
        ("rm release/*-2-*", "cannot fetch"),
        (
            "rm hookrun-2-*/bin/hookrun; cd release; tar -cf - -C .. hookrun-2-* | gzip >\"$(echo *-2-*)\"; sha256sum *.gz >SHA256SUMS",
            "has no bin/hookrun",
        ),
    ] {
        let (status, _) = installer.sh(
            &[
                "-c",
                "rm -rf kept; cp -R release kept; cp -R hookrun-2-* kept",
            ],
            USUAL,
        );
        assert_eq!(status, 0);
        installer.sh(&["-c", damage], USUAL);
        let (status, words) = installer.install(&["--from", "release", "--version", "2"], USUAL);
        assert!(status != 0 && words.contains(said), "{damage}: {words}");
        assert_eq!(
            (installer.program().as_str(), installer.files()),
            ("1", before.clone()),
            "{damage}"
        );
        installer.sh(
            &[
                "-c",
                "rm -rf release hookrun-2-*; mv kept/hookrun-2-*/ . ; mv kept release",
            ],
            USUAL,
        );
        assert!(installer.sandbox.at(sums).exists(), "{damage}");
    }
    installer.installs("2");
}

#[test]
fn at_every_moment_of_an_upgrade_there_is_a_program() {
    let Some(installer) = Installer::new() else {
        return;
    };
    installer.installs("1");
    let looks =
        "[ -x \"$HOME/.local/bin/hookrun\" ] || echo \"none at $name $*\" >>gaps; echo x >>looked";
    let path = installer.wrappers(looks);
    let (status, said) = installer.install(&["--from", "release", "--version", "2"], &path);
    assert_eq!(status, 0, "{said}");
    installer.sandbox.has_no_file("gaps");
    assert!(installer.sandbox.read("looked").len() > 20);
    assert_eq!(installer.program(), "2");
}

#[test]
fn one_that_ends_in_the_middle_leaves_a_program_and_can_be_removed() {
    let Some(installer) = Installer::new() else {
        return;
    };
    for (step, ends) in [
        ("1", "exit 1"),
        ("2", "exit 1"),
        ("3", "kill -TERM $PPID; exit 1"),
    ] {
        installer.installs("1");
        // The first copies are those of the release.
        let fails = format!(
            "case $name$* in cp*.local*) echo x >>copies; [ \"$(wc -l <copies)\" -ne {step} ] || {{ {ends}; }} ;; esac"
        );
        let path = installer.wrappers(&fails);
        let (status, _) = installer.install(&["--from", "release", "--version", "2"], &path);
        assert_ne!(status, 0, "{step}");
        let program = if step == "1" { "1" } else { "2" };
        assert_eq!(installer.program(), program, "{step}");
        assert!(
            !installer.files().iter().any(|file| file.contains(".new")),
            "{step}"
        );
        fs::remove_file(installer.sandbox.at("copies")).unwrap();
        let (status, said) = installer.install(&["--uninstall"], USUAL);
        assert_eq!(status, 0, "{said}");
        assert_eq!(installer.files(), ["./own"], "{step}");
    }
}
