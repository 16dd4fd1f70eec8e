//! A page in headless Chromium, driven over its debugging pipe: JSON documents that end with a NUL.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The names under which systems install it.
const PROGRAMS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "chrome"];

pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: String,
    /// What the browser said between the answers.
    events: Vec<Value>,
}

/// `HOOKRUN_CHROMIUM`, or what is on the path.
pub(super) fn chromium() -> Option<PathBuf> {
    program("HOOKRUN_CHROMIUM", PROGRAMS)
}

/// The program that a variable names, or the first of these on the path.
#[expect(
    clippy::disallowed_methods,
    reason = "programs are where this process finds them"
)]
pub(crate) fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = || std::env::split_paths(&path);
    let mut files = names
        .iter()
        .flat_map(|name| folders().map(move |folder| folder.join(name)));
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.or_else(|| files.find(|file| file.is_file()))
}

impl Browser {
    /// Starts it with its files below `folder`.
    pub(super) fn start(program: &Path, folder: &Path) -> Browser {
        // The pipe is descriptors 3 and 4.
        let line = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", line]).arg(program).args([
            "--headless",
            "--no-sandbox",
            "--no-zygote",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            &profile,
        ]);
        shell
            .env("HOME", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let (session, events) = (String::new(), Vec::new());
        let mut browser = Browser {
            child,
            to,
            from,
            calls: 0,
            session,
            events,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).unwrap();
        message.pop();
        serde_json::from_slice(&message).unwrap_or_else(|error| panic!("the browser left: {error}"))
    }

    pub(super) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            call["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{call}\0").as_bytes()).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens a page as wide as this, in the dark or not, and waits until it is loaded.
    pub(super) fn open(&mut self, page: &Path, width: u32, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false }),
        );
        self.events.clear();
        self.call(
            "Page.navigate",
            &json!({ "url": format!("file://{}", page.display()) }),
        );
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let message = self.next();
            self.events.push(message);
        }
    }

    /// The value of an expression in the page.
    pub(super) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Presses a key.
    pub(super) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "text": if kind == "keyDown" { key } else { "" } });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// What went wrong in the page since it was opened, and what it wanted from elsewhere.
    pub(super) fn troubles(&self) -> Vec<&Value> {
        let is_trouble = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => true,
            "Runtime.consoleAPICalled" => true,
            "Log.entryAdded" => true,
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default();
                !url.starts_with("file:")
            }
            _ => false,
        };
        self.events.iter().filter(is_trouble).collect()
    }

    /// An area of the page, as PNG in base64.
    pub(super) fn picture(&mut self, area: &Value) -> String {
        let how = json!({ "format": "png", "clip": area, "captureBeyondViewport": true });
        let shot = self.call("Page.captureScreenshot", &how);
        shot["data"].as_str().unwrap().to_string()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
