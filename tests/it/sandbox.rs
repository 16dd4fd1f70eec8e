//! A folder with hooks in it, and hookrun run there with a scrubbed environment.

use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::schema;

/// The least context of an event of a tool.
pub(crate) const TOOL: &str = r#"{"toolName":"note"}"#;

/// What a tool that is about to run is called where its name is called `toolName`.
const TOOL_GATES: &[&str] = &[
    "tool.pre",
    "pretooluse",
    "PreToolUse",
    "tool_call",
    "before-tool-call",
    "before_tool_call",
];

/// A native context with the name of a tool, where the event is one of a tool and the test is not
/// about tools.
pub(crate) fn with_tool(bytes: &[u8], arguments: &[&str]) -> Vec<u8> {
    let is_gate = |one: &&str| TOOL_GATES.contains(one);
    // Hosts that write `tool_name` name it themselves in tests.
    let host = arguments
        .iter()
        .position(|one| ["--host", "--host"].contains(one));
    let host = host
        .and_then(|at| arguments.get(at + 1))
        .copied()
        .unwrap_or("native");
    let is_native = ["native", "loom", "pi", "omp", "wolli", "openclaw"].contains(&host);
    let head = &bytes[..bytes.len().min(4096)];
    match bytes.iter().position(|byte| !byte.is_ascii_whitespace()) {
        Some(start)
            if bytes[start] == b'{'
                && is_native
                && arguments.iter().any(is_gate)
                && !head.windows(5).any(|window| window == b"\"tool") =>
        {
            let rest = &bytes[start + 1..];
            let is_empty = rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'}');
            let comma: &[u8] = if is_empty { b"" } else { b"," };
            [&bytes[..=start], br#""toolName":"note""#, comma, rest].concat()
        }
        _ => bytes.to_vec(),
    }
}

/// Where a user configures hookrun.
pub(crate) const USER_FILE: &str = "home/.config/hookrun/hookrun.toml";

/// PATH of a person who has installed hookrun.
pub(crate) fn path_with_hookrun() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())
}

/// Settings, a plugin or a script in which `program` stands for whatever starts hookrun.
pub(crate) fn with_program(text: &str, program: &str) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let is_list = line.starts_with("const LAUNCH = ") || line.starts_with("# LAUNCH = ");
        if is_list {
            let (head, tail) = line.split_once('[').unwrap();
            let end = if tail.ends_with(';') { ";" } else { "" };
            lines.push(format!("{head}[\"{program}\"]{end}"));
            continue;
        }
        let mut line = line.replace(env!("CARGO_BIN_EXE_hookrun"), program);
        while let Some((head, tail)) = line.split_once("/bin/sh -c '") {
            let (script, arguments) = tail.split_once("' hookrun run").unwrap();
            let is_guarded = script.contains("exit 2");
            let (arguments, rest) = match arguments.split_once('"') {
                Some((arguments, rest)) => (arguments, format!("\"{rest}")),
                None => (arguments, String::new()),
            };
            let guard = if is_guarded {
                GUARD.replace('"', "\\\"")
            } else {
                String::new()
            };
            line = format!("{head}{program} run{arguments}{guard}{rest}");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// What follows a command where a failure blocks.
pub(crate) const GUARD: &str = " || { s=$?; [ $s = 2 ] || echo \"hookrun ended with status $s and no decision\" >&2; exit 2; }";

/// A temporary folder that is removed at the end, whatever happens.
pub(crate) struct Sandbox {
    folder: TempDir,
    /// Names and values that hookrun gets beside the scrubbed environment.
    variables: Vec<(String, String)>,
}

/// What hookrun did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Writes files for all tests: each is headed by a line with the lengths of its name and its text,
/// and answered by a plus.
const WRITER: &str = r#"
$| = 1;
while (<STDIN>) {
    my ($name, $text) = map { read STDIN, my $part, $_; $part } split;
    my $file;
    my $is_written = open($file, '>', $name) && print($file $text) && close($file);
    print $is_written ? '+' : '-';
}
"#;

/// Writes a file by a process of its own: a thread that forks meanwhile would otherwise hold the
/// file open for writing, and starting it would fail with ETXTBSY. One process writes them all, and
/// ends with the tests: they are thousands.
pub(crate) fn write_from_outside(file: &Path, text: &[u8]) {
    static WRITER_PROCESS: Mutex<Option<Child>> = Mutex::new(None);
    let mut process = WRITER_PROCESS
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let writer = process.get_or_insert_with(|| {
        let mut perl = Command::new("perl");
        perl.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        perl.args(["-e", WRITER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    });
    let name = file.as_os_str().as_bytes();
    let head = format!("{} {}\n", name.len(), text.len());
    writer
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&[head.as_bytes(), name, text].concat())
        .unwrap();
    let mut answer = [0];
    writer
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut answer)
        .unwrap();
    drop(process);
    assert_eq!(answer, *b"+", "{} cannot be written", file.display());
}

/// Hooks that nobody waits for may write a last line into the folder while it is removed, and
/// their supervisor makes the folder of the log anew.
impl Drop for Sandbox {
    fn drop(&mut self) {
        for _ in 0..100 {
            if !self.is_supervised() {
                let _ = fs::remove_dir_all(self.folder.path());
                if !self.folder.path().exists() {
                    return;
                }
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

impl Sandbox {
    /// Whether a `hookrun supervise` that was started here still runs.
    fn is_supervised(&self) -> bool {
        let here = self.folder.path().as_os_str().as_bytes();
        let has = |file: PathBuf, text: &[u8]| {
            fs::read(file).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text))
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.map(|process| process.path()).any(|process| {
            has(process.join("cmdline"), b"\0supervise\0") && has(process.join("environ"), here)
        })
    }
}

impl Sandbox {
    /// A folder without hooks, whose hooks the user trusts.
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::Builder::new()
            .prefix("hookrun-it")
            .tempdir()
            .unwrap();
        // As folders of projects are: others can reach what is in it.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let trusted = folder.path().display().to_string();
        let sandbox = Sandbox {
            folder,
            variables: Vec::new(),
        };
        sandbox.file(USER_FILE, &format!("[trust]\npaths = \"{trusted}\"\n"))
    }

    /// The same without a file of the user: the hooks of the project are not trusted.
    pub(crate) fn without_trust(self) -> Sandbox {
        fs::remove_dir_all(self.at("home/.config")).unwrap();
        self
    }

    /// The same with the hooks trusted as they are, by their digest.
    #[track_caller]
    pub(crate) fn trusted(self) -> Sandbox {
        let ran = self.hookrun(&["trust", "--digest", &self.digest()], b"");
        assert_eq!(ran.status, 0, "{ran:?}");
        self
    }

    /// The digest of the hooks here.
    #[track_caller]
    pub(crate) fn digest(&self) -> String {
        let shown = self.hookrun(&["trust", "--show"], b"").stdout;
        let at = shown.find("sha256:").unwrap_or_else(|| panic!("{shown}"));
        shown[at..].split_whitespace().next().unwrap().to_string()
    }

    /// The folder: hookrun's working directory.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path below the folder.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Adds `hooks.d/tool.pre/NAME`, a POSIX shell script with this body.
    pub(crate) fn hook(self, name: &str, body: &str) -> Sandbox {
        self.hook_for("tool.pre", name, body)
    }

    /// Adds `hooks.d/EVENT/NAME`, a POSIX shell script with this body.
    pub(crate) fn hook_for(self, event: &str, name: &str, body: &str) -> Sandbox {
        self.script(
            &format!("hooks.d/{event}/{name}"),
            &format!("#!/bin/sh\n{body}\n"),
        )
    }

    /// Adds `hooks.d/EVENT/NAME`, a POSIX shell script that was written for `dialect`.
    pub(crate) fn hook_of(self, dialect: &str, event: &str, name: &str, body: &str) -> Sandbox {
        let text = format!("#!/bin/sh\n# hookrun: dialect={dialect}\n{body}\n");
        self.script(&format!("hooks.d/{event}/{name}"), &text)
    }

    /// Adds an executable file with exactly this text.
    pub(crate) fn script(self, path: &str, text: &str) -> Sandbox {
        let sandbox = self.file(path, text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(sandbox.at(path), mode).unwrap();
        sandbox
    }

    /// Adds a file.
    pub(crate) fn file(self, path: &str, text: &str) -> Sandbox {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write_from_outside(&file, text.as_bytes());
        self
    }

    /// Sets a variable for hookrun.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Sandbox {
        self.variables.push((name.to_string(), value.to_string()));
        self
    }

    /// hookrun with a scrubbed environment, to be started by the test itself.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
        command.args(arguments).current_dir(self.path()).env_clear();
        command.env("PATH", path_with_hookrun()).env("LANG", "C");
        command.env("HOME", self.at("home"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs hookrun with `arguments` and these bytes on stdin.
    pub(crate) fn hookrun(&self, arguments: &[&str], stdin: &[u8]) -> Ran {
        self.hookrun_as(|_| {}, arguments, stdin)
    }

    /// Runs hookrun as `change` has arranged it.
    pub(crate) fn hookrun_as(
        &self,
        change: impl FnOnce(&mut Command),
        arguments: &[&str],
        stdin: &[u8],
    ) -> Ran {
        let mut command = self.command(arguments);
        // An empty pipe is an event that is missing; `test` is given none at all.
        if stdin.is_empty() && matches!(arguments.first(), Some(&"test" | &"try")) {
            command.stdin(Stdio::null());
        }
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let pipe = child.stdin.take();
        let bytes = with_tool(stdin, arguments);
        // hookrun may refuse before it has read everything.
        let feeder = thread::spawn(move || pipe.map(|mut pipe| drop(pipe.write_all(&bytes))));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran::from(output)
    }

    /// A line of the shell, for which hookrun is `$0`, to be started by the test itself.
    pub(crate) fn shell_command(&self, line: &str) -> Command {
        let own = self.command(&[]);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_hookrun")]);
        command.current_dir(self.path()).env_clear();
        command.envs(
            own.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a line of the shell, for which hookrun is `$0`.
    pub(crate) fn hookrun_by_shell(&self, line: &str, stdin: &[u8]) -> Ran {
        self.hookrun_as(|command| *command = self.shell_command(line), &[], stdin)
    }

    /// `hookrun run EVENT` with the least context that it can have.
    pub(crate) fn run(&self, event: &str) -> Ran {
        self.hookrun(&["run", event], b"{}")
    }

    /// `hookrun run tool.pre` for a shell command.
    pub(crate) fn run_shell(&self, command: &str) -> Ran {
        let context =
            serde_json::json!({ "toolName": "bash", "toolInput": { "command": command } });
        self.hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
    }

    /// `hookrun run EVENT --host DIALECT`, as a host of that system asks.
    pub(crate) fn ask(&self, dialect: &str, event: &str, context: &Value) -> Ran {
        let context = context.to_string();
        self.hookrun(&["run", event, "--host", dialect], context.as_bytes())
    }

    /// The JSON document in a file below the folder: what a hook was given, mostly.
    #[track_caller]
    pub(crate) fn read_json(&self, path: &str) -> Value {
        let text = self.read(path);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }

    /// `hookrun run EVENT --format json`, with the report.
    pub(crate) fn report(&self, event: &str, context: &str) -> Value {
        let arguments = ["run", event, "--format", "json"];
        let ran = self.hookrun(&arguments, context.as_bytes());
        let report =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        schema::hold(&arguments, &report);
        report
    }

    /// The JSON document that hookrun prints, whatever its exit status.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.hookrun(arguments, b"");
        let document =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        schema::hold(arguments, &document);
        document
    }

    /// The names of the hooks of an event in the order in which they run, as `list` tells.
    #[track_caller]
    pub(crate) fn order(&self, event: &str, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["list", "--format", "json", "--event", event];
        all.extend(arguments);
        let list = self.json(&all);
        let hooks = list["hooks"].as_array().unwrap().iter();
        hooks
            .map(|hook| hook["name"].as_str().unwrap().to_string())
            .collect()
    }

    /// The problems that `validate` finds, as `file:line:column: cause`, cures in brackets.
    #[track_caller]
    pub(crate) fn problems(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["validate", "--format", "json"];
        all.extend(arguments);
        let report = self.json(&all);
        let mut found = Vec::new();
        for file in report["files"].as_array().unwrap() {
            for problem in file["problems"].as_array().unwrap() {
                let text = |key: &str| problem[key].as_str().unwrap_or_default();
                let mut place = file["file"].as_str().unwrap().to_string();
                if problem["line"].is_u64() {
                    place = format!("{place}:{}:{}", problem["line"], problem["column"]);
                }
                let severity = text("severity");
                found.push(format!(
                    "{severity} {place}: {} [{}]",
                    text("cause"),
                    text("cure")
                ));
            }
        }
        found
    }

    /// The text of a file below the folder.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn has_file(&self, path: &str) {
        assert!(self.at(path).exists(), "{path} is missing");
    }

    pub(crate) fn has_no_file(&self, path: &str) {
        assert!(!self.at(path).exists(), "{path} should not be there");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// `run` allowed the event and had nothing to say.
    #[track_caller]
    pub(crate) fn allows(&self) -> &Ran {
        assert_eq!((self.status, self.stdout.as_str()), (0, ""), "{self:?}");
        self
    }

    /// `run` allowed the event with this structured result.
    #[track_caller]
    pub(crate) fn allows_with(&self, result: Value) -> &Ran {
        assert_eq!(self.status, 0, "{self:?}");
        let said: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        assert_eq!(said, result, "{self:?}");
        self
    }

    /// `run` refused the event with this result in the host's words.
    #[track_caller]
    pub(crate) fn blocks_with(&self, result: Value) -> &Ran {
        assert_eq!(self.status, 2, "{self:?}");
        let said: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        assert_eq!(said, result, "{self:?}");
        self
    }

    /// `run` refused the event: status 2, the reason on stderr and in the result.
    #[track_caller]
    pub(crate) fn blocks(&self, reason: &str) -> &Ran {
        assert_eq!(self.status, 2, "{self:?}");
        assert_eq!(self.stderr.trim_end(), reason, "{self:?}");
        let said: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        assert_eq!(
            said,
            serde_json::json!({ "continue": false, "reason": reason }),
            "{self:?}"
        );
        self
    }

    /// `run` refused the event with a reason that contains this.
    #[track_caller]
    pub(crate) fn blocks_saying(&self, part: &str) -> &Ran {
        assert_eq!(self.status, 2, "{self:?}");
        assert!(self.stderr.contains(part), "no `{part}` in {self:?}");
        let said: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        assert_eq!(said["continue"], false, "{self:?}");
        self
    }

    /// It ended with this status.
    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Ran {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// stdout contains this.
    #[track_caller]
    pub(crate) fn prints(&self, part: &str) -> &Ran {
        assert!(self.stdout.contains(part), "no `{part}` in {self:?}");
        self
    }

    /// stderr contains this.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Ran {
        assert!(self.stderr.contains(part), "no `{part}` in {self:?}");
        self
    }
}

/// A webhook on this port takes a body, and says so.
#[track_caller]
pub(crate) fn takes_posts(port: u16, body: &str) {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST / HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.contains("200") && answer.ends_with("OK"), "{answer}");
}
