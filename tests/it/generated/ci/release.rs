//! The action fetches a release and verifies it. The releases are served on the loopback.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use super::{action, commands, root};
use crate::sandbox::{Ran, Sandbox};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Serves the files of a folder until the test ends, and returns its address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let Some(Ok(first)) = lines.next() else {
                continue;
            };
            lines
                .take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()))
                .count();
            let path = first
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .trim_start_matches('/');
            let (status, body) = fs::read(folder.join(path))
                .map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(&body));
        }
    });
    address
}

/// A release of which the program is a script around the one that is tested; in `sandbox`, below
/// the folder `name`.
fn release(sandbox: &Sandbox, name: &str) -> PathBuf {
    let out = sandbox.at(name);
    let machine = std::env::consts::ARCH;
    let name = format!("hookrun-{VERSION}-{machine}-unknown-linux-musl");
    let stage = out.join(&name);
    for folder in ["bin", "man", "completions"] {
        fs::create_dir_all(stage.join(folder)).unwrap();
    }
    let program = stage.join("bin/hookrun");
    let ours = env!("CARGO_BIN_EXE_hookrun");
    let script = format!("#!/bin/sh\necho fetched >>\"$RUNNER_TEMP/used\"\nexec '{ours}' \"$@\"\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for file in [
        "man/hookrun.1.gz",
        "man/hookrun-hook.5.gz",
        "completions/hookrun.bash",
    ] {
        fs::write(stage.join(file), file).unwrap();
    }
    for file in ["completions/_hookrun", "completions/hookrun.fish"] {
        fs::write(stage.join(file), file).unwrap();
    }
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.arg("-czf")
        .arg(out.join(&archive))
        .arg("-C")
        .arg(&out)
        .arg(&name);
    assert!(tar.status().unwrap().success());
    fs::remove_dir_all(&stage).unwrap();
    let mut sum = Command::new("sha256sum");
    let summed = sum.current_dir(&out).arg(&archive).output().unwrap();
    fs::write(out.join("SHA256SUMS"), summed.stdout).unwrap();
    out
}

fn archive(release: &Path) -> PathBuf {
    let files = fs::read_dir(release)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .into_iter()
        .find(|file| file.extension().is_some_and(|end| end == "gz"))
        .unwrap()
}

/// The action with a cargo that builds nothing, and no hookrun in `PATH`.
fn run(sandbox: &Sandbox, variables: &[(&str, &str)]) -> (Ran, String) {
    let tools = format!("{}:/usr/bin:/bin", sandbox.at("tools").display());
    let temporary = sandbox.path().canonicalize().unwrap();
    let source = root();
    let _ = fs::remove_file(sandbox.at("used"));
    let _ = fs::remove_dir_all(sandbox.at("hookrun"));
    let usual = [
        ("ACTION_EVENT", "gc.pre"),
        ("ACTION_BINARY", ""),
        ("PATH", tools.as_str()),
        ("RUNNER_TEMP", temporary.to_str().unwrap()),
        ("GITHUB_ACTION_PATH", source.to_str().unwrap()),
    ];
    action(sandbox, &[&usual[..], variables].concat())
}

fn sandbox() -> Sandbox {
    let cargo = "#!/bin/sh\necho built >>\"$RUNNER_TEMP/used\"\nexit 1\n";
    Sandbox::new().script("tools/cargo", cargo)
}

fn used(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.at("used")).unwrap_or_default()
}

/// The one annotation of a step that failed.
fn block(ran: &Ran, output: &str) -> String {
    assert_ne!(ran.status, 0, "{ran:?}");
    assert_eq!(output, "allowed=false\n");
    let said = commands(&ran.stdout);
    assert_eq!(said.len(), 1, "{ran:?}");
    said[0].clone()
}

#[test]
fn the_action_runs_the_release_whose_checksum_is_right() {
    let sandbox = sandbox();
    let address = serve(release(&sandbox, "release"));
    let (ran, output) = run(&sandbox, &[("ACTION_RELEASE", &address)]);
    assert_eq!(
        (ran.status, output.as_str()),
        (0, "allowed=true\n"),
        "{ran:?}"
    );
    assert_eq!(used(&sandbox), "fetched\n");
}

#[test]
fn the_action_finds_the_release_of_its_own_version_and_repository() {
    let sandbox = sandbox();
    let releases = format!("site/you/hooks/releases/download/v{VERSION}");
    release(&sandbox, &releases);
    let address = serve(sandbox.at("site"));
    // As the runner lays out the actions that it fetches.
    let here = sandbox.at("_actions/you/hooks/main");
    fs::create_dir_all(here.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(root(), &here).unwrap();
    let own = [
        ("GITHUB_ACTION_PATH", here.to_str().unwrap()),
        ("GITHUB_SERVER_URL", &address),
    ];
    let (ran, output) = run(&sandbox, &own);
    assert_eq!(
        (ran.status, output.as_str()),
        (0, "allowed=true\n"),
        "{ran:?}"
    );
    assert_eq!(used(&sandbox), "fetched\n");

    // Without a release of this version cargo builds the source.
    fs::remove_dir_all(sandbox.at("site")).unwrap();
    let (ran, output) = run(&sandbox, &own);
    assert!(block(&ran, &output).contains("hookrun could not be built"));
    assert_eq!(used(&sandbox), "built\n");
}

#[test]
fn the_action_takes_no_release_that_is_damaged_or_not_there() {
    let sandbox = sandbox();
    let release = release(&sandbox, "release");
    let address = serve(release.clone());
    let whole = fs::read(archive(&release)).unwrap();
    let sums = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let named = [("ACTION_RELEASE", address.as_str())];
    let blocked = |says: &str| {
        let (ran, output) = run(&sandbox, &named);
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
        let said = block(&ran, &output);
        // Neither runs what was fetched, nor builds something else.
        assert_eq!(used(&sandbox), "", "{says}");
        assert!(!sandbox.at("hookrun/bin/hookrun").exists(), "{says}");
        said
    };

    fs::write(archive(&release), [&whole[..], b"x"].concat()).unwrap();
    assert!(blocked("is damaged").contains("the release was not installed"));
    fs::write(archive(&release), &whole[..whole.len() / 2]).unwrap();
    blocked("is damaged");
    fs::write(archive(&release), &whole).unwrap();

    fs::write(release.join("SHA256SUMS"), sums.replace(VERSION, "9.9.9")).unwrap();
    blocked("SHA256SUMS does not name");
    fs::remove_file(release.join("SHA256SUMS")).unwrap();
    assert!(blocked("cannot fetch").contains("there is no such release"));
    fs::write(release.join("SHA256SUMS"), &sums).unwrap();
    fs::rename(archive(&release), release.join("away")).unwrap();
    assert!(blocked("cannot fetch").contains("there is no such release"));
}

/// `minisign` is the test's own: it agrees with signatures that are the key.
#[test]
fn a_release_whose_signature_is_wrong_or_missing_is_not_taken() {
    let minisign = "#!/bin/sh\n[ \"$(cat \"$6.minisig\")\" = \"$4\" ]\n";
    let sandbox = sandbox().script("tools/minisign", minisign);
    let release = release(&sandbox, "release");
    let address = serve(release.clone());
    let keyed = [("ACTION_RELEASE", address.as_str()), ("ACTION_KEY", "RWQ1")];
    let (ran, output) = run(&sandbox, &keyed);
    assert!(
        block(&ran, &output).contains("there is no such release"),
        "{ran:?}"
    );
    fs::write(release.join("SHA256SUMS.minisig"), "RWQ2").unwrap();
    let (ran, output) = run(&sandbox, &keyed);
    assert!(
        ran.stdout.contains("the signature of SHA256SUMS is wrong"),
        "{ran:?}"
    );
    block(&ran, &output);
    assert_eq!(used(&sandbox), "");
    fs::write(release.join("SHA256SUMS.minisig"), "RWQ1").unwrap();
    let (ran, output) = run(&sandbox, &keyed);
    assert_eq!(
        (ran.status, output.as_str()),
        (0, "allowed=true\n"),
        "{ran:?}"
    );
    assert_eq!(used(&sandbox), "fetched\n");
}
