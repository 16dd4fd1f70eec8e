//! Sets from archives: what they are pinned by, and what is refused.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use super::{ABOUT, GUARD, STRICTER, Sets, with_spy};
use crate::sandbox::Sandbox;

/// A folder `s` with a set, packed as `s.tar.gz` with the folder around its files.
fn packed() -> Sets {
    let sandbox = Sandbox::new()
        .file("s/hookset.toml", ABOUT)
        .file("s/hookrun.toml", GUARD);
    let sets = Sets { sandbox }.file("s", "hooks.d/tool.pre/10-look.sh", "#!/bin/sh\n");
    sets.pack(&["-czf", "s.tar.gz", "s"]);
    sets
}

impl Sets {
    fn pack(&self, words: &[&str]) {
        let mut tar = Command::new("tar");
        tar.env("TZ", "UTC")
            .current_dir(self.sandbox.path())
            .args(words);
        assert!(tar.status().unwrap().success());
    }

    fn add_archive(&self, url: &str) -> crate::sandbox::Ran {
        self.sets(&["add", "base", "--archive", url])
    }

    fn sha256(&self, file: &str) -> String {
        let sum = Command::new("sha256sum")
            .arg(self.sandbox.at(file))
            .output()
            .unwrap();
        format!("sha256:{}", &String::from_utf8(sum.stdout).unwrap()[..64])
    }
}

/// Serves these answers on loopback, one for each request, and returns the URL.
fn served(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/s.tar.gz", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            // The other side may have enough of it.
            let _ = stream.write_all(&answer);
        }
    });
    url
}

fn ok(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn a_set_in_an_archive_is_pinned_by_both_digests_and_used_as_any_other() {
    let sets = packed();
    sets.add_archive("s.tar.gz")
        .exits(0)
        .prints("added base (archive sha256:")
        .prints("3 files");
    assert_eq!(
        sets.sandbox.read("hookrun.toml"),
        "[sets.base]\narchive = \"s.tar.gz\"\n"
    );
    let lock = sets.sandbox.read("hookrun.lock");
    let archive = sets.sha256("s.tar.gz");
    let pins = format!("source = \"archive+s.tar.gz\"\narchive = \"{archive}\"\ntree = \"sha256:");
    assert!(lock.contains(&pins), "{lock}");
    let list = sets.sandbox.json(&["sets", "list", "--format", "json"]);
    assert_eq!(list["sets"][0]["archive"], archive);
    sets.force_push().blocks("no force: git push --force");
    sets.sets(&["why", "base"])
        .exits(0)
        .prints(&archive)
        .prints("hooks.d/tool.pre/10-look.sh");
    sets.sets(&["update"]).exits(0).prints("unchanged base");
    sets.sets(&["vendor", "base", "copy"]).exits(0);
    assert_eq!(sets.sandbox.read("copy/hookrun.toml"), GUARD);

    // A machine that has not seen it; packed otherwise it is the same set.
    let tree = sets.store()[0].file_name().unwrap().to_os_string();
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.force_push()
        .blocks_saying("is not on this machine yet");
    sets.sets(&["verify"]).exits(0).prints("fetched base");
    sets.force_push().blocks_saying("no force");
    for words in [
        ["--format=ustar", "-cf", "s.tar.gz", "s"],
        ["--format=gnu", "-cf", "s.tar.gz", "s"],
        ["--format=pax", "-cf", "s.tar.gz", "s"],
        ["-czf", "s.tar.gz", "-Cs", "."],
    ] {
        sets.pack(&words);
        sets.sets(&["update", "--moved"]).exits(0);
        assert_eq!(sets.store()[0].file_name().unwrap(), tree, "{words:?}");
    }
}

#[test]
fn long_names_and_archives_of_git_are_read() {
    let long = format!("lib/{}/{}", "a".repeat(90), "b".repeat(90));
    let longest = format!("lib/{}", "c".repeat(200));
    for format in ["gnu", "pax"] {
        let sets = packed().file("s", &long, "1").file("s", &longest, "2");
        sets.pack(&[&format!("--format={format}"), "-czf", "s.tar.gz", "s"]);
        sets.add_archive("s.tar.gz").exits(0).prints("5 files");
        assert_eq!(
            fs::read_to_string(sets.store()[0].join(&long)).unwrap(),
            "1"
        );
        assert_eq!(
            fs::read_to_string(sets.store()[0].join(&longest)).unwrap(),
            "2"
        );
    }
    let sets = Sets::new();
    sets.git(
        "r",
        &["archive", "--prefix=r-1/", "-o", "../r.tar.gz", "v1"],
    )
    .exits(0);
    let url = format!("file://{}", sets.sandbox.at("r.tar.gz").display());
    sets.add_archive(&url).exits(0).prints("2 files");
    sets.add("of_git", "r", "v1").exits(0);
    assert_eq!(sets.store().len(), 1);
}

#[test]
fn an_archive_is_downloaded_by_curl_and_never_by_a_run() {
    let sets = packed();
    let body = fs::read(sets.sandbox.at("s.tar.gz")).unwrap();
    // Settings of the user do not lead curl elsewhere.
    let sets = sets.file("home", ".curlrc", "output = stolen\n");
    let url = served(vec![ok(&body)]);
    sets.add_archive(&url).exits(0).prints("3 files");
    sets.sandbox.has_no_file("stolen");
    // Nothing is served any more.
    let ran = sets
        .sandbox
        .hookrun_as(with_spy(&sets, "curl"), &["run", "tool.pre"], b"{}");
    ran.allows();
    sets.force_push().blocks_saying("no force");
    sets.sandbox.has_no_file("spy.log");
    sets.sandbox
        .hookrun_as(with_spy(&sets, "curl"), &["sets", "update"], b"")
        .exits(2);
    sets.sandbox.has_file("spy.log");
}

#[test]
fn an_archive_that_has_changed_is_an_error_that_names_both_digests() {
    let sets = packed();
    let (old, was) = (
        fs::read(sets.sandbox.at("s.tar.gz")).unwrap(),
        sets.sha256("s.tar.gz"),
    );
    let sets = sets.file("s", "hookrun.toml", STRICTER);
    sets.pack(&["-czf", "s.tar.gz", "s"]);
    let (new, is) = (
        fs::read(sets.sandbox.at("s.tar.gz")).unwrap(),
        sets.sha256("s.tar.gz"),
    );
    let url = served(vec![ok(&old), ok(&new), ok(&new), ok(&new)]);
    sets.add_archive(&url).exits(0);
    let lock = sets.sandbox.read("hookrun.lock");
    sets.sets(&["update"])
        .exits(2)
        .says("was changed")
        .says(&was)
        .says(&is)
        .says("--moved");
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);
    sets.sandbox.run_shell("git push").allows();
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.sets(&["verify"]).exits(1).says(&was).says(&is);
    sets.sets(&["update", "--moved", "base"])
        .exits(0)
        .prints("updated base");
    sets.sandbox.run_shell("git push").blocks("never");
}

#[test]
fn a_download_that_fails_or_leads_elsewhere_adds_nothing() {
    let sets = packed();
    let to = |place: &str| format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\n\r\n").into_bytes();
    let file = format!("file://{}", sets.sandbox.at("s.tar.gz").display());
    let body = ok(&fs::read(sets.sandbox.at("s.tar.gz")).unwrap());
    let http = served(vec![body.clone()]);
    for (answer, says) in [
        (b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(), "404"),
        (to(&file), "rotocol"),
        (to(&http), "rotocol"),
        (body[..body.len() - 9].to_vec(), "curl cannot download"),
        (ok(b"<html>"), "is no hook set: it is no whole tar archive"),
        (ok(&[0x1f, 0x8b, 8, 0]), "gzip cannot read"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_vec(),
            "curl cannot download",
        ),
    ] {
        let ran = sets.add_archive(&served(vec![answer]));
        ran.exits(2).says(says);
        sets.sandbox.has_no_file("hookrun.lock");
    }
    sets.add_archive("none.tar.gz").exits(2).says("cannot read");
    sets.add_archive("s").exits(2).says("cannot read");
    assert!(
        Command::new("mkfifo")
            .arg(sets.sandbox.at("pipe"))
            .status()
            .unwrap()
            .success()
    );
    sets.add_archive("pipe").exits(2).says("it is not a file");
}

#[test]
fn addresses_that_curl_would_read_otherwise_are_refused() {
    let sandbox = Sandbox::new();
    let declare = |url: &str| {
        fs::write(
            sandbox.at("hookrun.toml"),
            format!("[sets.a]\narchive = {url:?}\n"),
        )
        .unwrap();
        sandbox.problems(&[]).join("\n")
    };
    for good in [
        "https://git.example/acme/hooks/archive/v1.tar.gz?x=1",
        "https://[::1]:8443/x.tgz",
        "http://127.0.0.1:8080/x.tgz",
        "http://localhost/x.tgz",
        "file:///srv/hooks.tar.gz",
        "../hooks.tar.gz",
        "/srv/hooks.tar",
    ] {
        let problems = declare(good);
        assert!(
            problems.contains("is not in hookrun.lock"),
            "{good}: {problems}"
        );
    }
    for bad in [
        "",
        "-o/x",
        "--config=x",
        "https://x/ -o y",
        "a\nb",
        "ext::sh",
        "c:x",
        "http://git.example/x.tgz",
        "http://localhost.example/x",
        "http://127.0.0.1@git.example/x",
        "http://git.example?@127.0.0.1/x",
        "http://git.example\\@127.0.0.1/x",
        "https://me:secret@git.example/x",
        "https://me@git.example/x",
        "https:///x",
        "https://{a,b}/x",
        "https://x?@y/z",
        "file://host/x",
        "file:///x?y",
        "file:///x%2fy",
        "ftp://git.example/x",
        "ssh://git.example/x",
        "scp://-oProxyCommand=id/x",
        "HTTPS://git.example/x",
    ] {
        let problems = declare(bad);
        assert!(problems.contains("is no archive"), "{bad}: {problems}");
        let ran = sandbox.hookrun(&["sets", "add", "base", "--archive", bad], b"");
        assert_eq!(ran.status, 2, "{bad}: {ran:?}");
    }
    sandbox.has_no_file("hookrun.lock");
}

/// The header and the content of a member.
fn member(name: &[u8], kind: u8, content: &[u8]) -> Vec<u8> {
    let mut head = [0; 512];
    head[..name.len()].copy_from_slice(name);
    head[100..107].copy_from_slice(b"0000644");
    head[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    head[148..156].copy_from_slice(b"        ");
    (head[156], head[157]) = (kind, b'x');
    head[257..263].copy_from_slice(b"ustar\0");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut all = [&head[..], content].concat();
    all.resize(all.len().next_multiple_of(512), 0);
    all
}

fn file(name: &str) -> Vec<u8> {
    member(name.as_bytes(), b'0', b"x")
}

fn extended(line: &str) -> Vec<u8> {
    let length = line.len() + 4;
    [
        member(b"x", b'x', format!("{length} {line}\n").as_bytes()),
        file("a"),
    ]
    .concat()
}

#[test]
fn members_that_are_no_plain_files_inside_are_refused() {
    let whole = |hostile: &[u8]| {
        let about = member(b"hookset.toml", b'0', ABOUT.as_bytes());
        [
            &about,
            &member(b"hookrun.toml", b'0', GUARD.as_bytes()),
            hostile,
            &[0; 1024],
        ]
        .concat()
    };
    let sets = Sets {
        sandbox: Sandbox::new(),
    };
    let add = |tar: &[u8]| {
        fs::write(sets.sandbox.at("x.tar"), tar).unwrap();
        sets.add_archive("x.tar")
    };
    let (first, second) = (file("a"), file("a"));
    let cut = member(b"a", b'0', &[b'x'; 600]);
    let mut wrong_sum = file("a");
    wrong_sum[0] = b'b';
    let mut large = file("a");
    large[124] = 0x80;
    for (hostile, says) in [
        (member(b"a", b'2', b""), "`a` is a link"),
        (member(b"a", b'1', b""), "`a` is a link"),
        (
            member(b"a", b'3', b""),
            "`a` is neither a file nor a folder",
        ),
        (
            member(b"a", b'4', b""),
            "`a` is neither a file nor a folder",
        ),
        (
            member(b"a", b'6', b""),
            "`a` is neither a file nor a folder",
        ),
        (
            member(b"a", b'S', b""),
            "`a` is neither a file nor a folder",
        ),
        (file("/etc/x"), "`/etc/x` is no plain name"),
        (file("../x"), "`../x` is no plain name"),
        (file("a/../../x"), "is no plain name"),
        (file("a//x"), "is no plain name"),
        (file(".git/config"), "is no plain name"),
        (file("a\\b"), "is no plain name"),
        (file("a\u{1b}[2Jb"), "is no plain name"),
        (member(b"a\xff", b'0', b""), "is not UTF-8"),
        ([first, second].concat(), "`a` is in it twice"),
        (extended("path=../evil"), "`../evil` is no plain name"),
        (extended("size=9"), "is too long or has holes"),
        (extended("GNU.sparse.major=1"), "is too long or has holes"),
        (
            member(b"x", b'x', b"99 path=a\n"),
            "an extended header is damaged",
        ),
        (
            [member(b"x", b'L', b"/etc/x"), file("a")].concat(),
            "`/etc/x` is no plain name",
        ),
        (wrong_sum, "it is no tar archive"),
        (large, "it is no tar archive"),
    ] {
        let ran = add(&whole(&hostile));
        ran.exits(2).says("`x.tar` is no hook set").says(says);
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    }
    let all = whole(&cut);
    add(&all[..all.len() - 1024 - 600])
        .exits(2)
        .says("it is cut off");
    add(&all[..all.len() - 1024])
        .exits(2)
        .says("it is no whole tar archive");
    let many: Vec<u8> = (0..2000)
        .flat_map(|number| file(&number.to_string()))
        .collect();
    add(&whole(&many))
        .exits(2)
        .says("it has more than 2000 files");
    sets.sandbox.has_no_file("hookrun.lock");
    assert!(sets.store().is_empty());
    add(&whole(&file("a"))).exits(0).prints("3 files");
}

#[test]
fn a_small_archive_that_becomes_huge_is_refused() {
    let sets = packed();
    fs::write(sets.sandbox.at("s/big"), vec![0; 64 << 20]).unwrap();
    sets.pack(&["-czf", "s.tar.gz", "s"]);
    assert!(fs::metadata(sets.sandbox.at("s.tar.gz")).unwrap().len() < 1 << 20);
    sets.add_archive("s.tar.gz")
        .exits(2)
        .says("it has more than 16 MiB");
    // One with a hole takes no room either.
    fs::File::create(sets.sandbox.at("huge.tar"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    sets.add_archive("huge.tar")
        .exits(2)
        .says("it has more than 16 MiB");
    assert!(sets.store().is_empty());
}
