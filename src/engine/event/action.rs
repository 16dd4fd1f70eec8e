//! What a tool is about to do, in words that are the same in every host.
//!
//! A policy written on `action` needs no knowledge of a host's tool names or input shapes.

mod calls;
mod commands;
mod input;
mod patch;
mod paths;

use serde::Serialize;

pub(crate) use paths::Guesses;

use super::context::{Context, ContextError};
use super::json::{child, elements, string_text};

/// What a tool does, or a commit or push, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The sort of tool.
    pub kind: ActionKind,
    /// The command line, for tools that run one.
    pub command: Option<String>,
    /// The paths that the tool names, as it names them.
    pub paths: Vec<String>,
    /// The same paths in the same order, absolute and with links followed, and after them what
    /// they may mean besides; empty as long as nobody has looked.
    pub resolved: Vec<String>,
}

/// The sort of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    Shell,
    Read,
    Write,
    Edit,
    Search,
    Fetch,
    Mcp,
    Agent,
    Other,
}

/// A row of [`TOOLS`]: one sort of tool, and what hosts call it.
#[derive(Debug)]
pub struct ToolClass {
    /// The sort.
    pub kind: ActionKind,
    /// Its name in `action.kind` and in `tool` matchers.
    pub word: &'static str,
    /// The names of such tools in every host; all of them mean the same in a `tool` matcher.
    pub names: &'static [&'static str],
}

/// Every sort of tool with its names in the hosts (Claude, Codex, Gemini, Cursor, Copilot,
/// pi, oh-my-pi, OpenCode; their documents of 2026). Tools of no row are `other`, or `mcp`
/// if they are named like one.
pub const TOOLS: &[ToolClass] = &[
    ToolClass {
        kind: ActionKind::Shell,
        word: "shell",
        names: &[
            "bash",
            "run_shell_command",
            "exec_command",
            "local_shell",
            "powershell",
            "sh",
            "run_terminal_cmd",
            "execute_command",
            "exec",
            // Copilot CLI: text for a shell that runs already.
            "write_bash",
            "write_powershell",
            // Codex: the same.
            "write_stdin",
            "shell_command",
            "run_command",
            "run_in_terminal",
            "run_terminal_command",
        ],
    },
    ToolClass {
        kind: ActionKind::Read,
        word: "read",
        names: &["read_file", "read_many_files", "view", "notebookread", "view_image"],
    },
    ToolClass {
        kind: ActionKind::Write,
        word: "write",
        names: &["write_file", "create", "create_file"],
    },
    ToolClass {
        kind: ActionKind::Edit,
        word: "edit",
        names: &[
            "multiedit",
            "notebookedit",
            "replace",
            "str_replace_editor",
            "str_replace",
            "apply_patch",
            "edit_file",
            // Cursor.
            "applypatch",
            "editnotebook",
            "patch",
            "insert",
            "delete",
            "delete_file",
        ],
    },
    ToolClass {
        kind: ActionKind::Search,
        word: "search",
        names: &[
            "grep",
            "glob",
            "ls",
            "find",
            "list",
            "list_directory",
            "search_file_content",
            "grep_search",
            "codebase_search",
            "file_search",
            "list_dir",
            "rg",
        ],
    },
    ToolClass {
        kind: ActionKind::Fetch,
        word: "fetch",
        names: &[
            "webfetch",
            "web_fetch",
            "websearch",
            "web_search",
            "google_web_search",
            "fetch_url",
        ],
    },
    ToolClass { kind: ActionKind::Mcp, word: "mcp", names: &[] },
    ToolClass {
        kind: ActionKind::Agent,
        word: "agent",
        names: &["task", "spawn_agent", "delegate_to_agent", "subagent"],
    },
    ToolClass { kind: ActionKind::Other, word: "other", names: &[] },
];

impl ActionKind {
    /// The row of this sort.
    fn class(self) -> &'static ToolClass {
        TOOLS.iter().find(|class| class.kind == self).unwrap_or(&TOOLS[TOOLS.len() - 1])
    }

    /// The word for it: `shell`, `write`, …
    pub fn word(self) -> &'static str {
        self.class().word
    }

    /// The sort that `word` names.
    pub fn from_word(word: &str) -> Option<ActionKind> {
        TOOLS.iter().find(|class| class.word.eq_ignore_ascii_case(word)).map(|class| class.kind)
    }

    /// The sort of the tool that a host calls `name`. `mcp__server__tool` (Claude, Codex) and
    /// `mcp_server_tool` (Gemini) are `mcp`.
    pub fn of_tool(name: &str) -> ActionKind {
        let known = TOOLS.iter().find(|class| {
            class.word.eq_ignore_ascii_case(name)
                || class.names.iter().any(|known| known.eq_ignore_ascii_case(name))
        });
        match known {
            Some(class) => class.kind,
            None if name.to_ascii_lowercase().starts_with("mcp_") => ActionKind::Mcp,
            None => ActionKind::Other,
        }
    }
}

impl Action {
    /// Reads the `action` that a host gave.
    ///
    /// # Errors
    /// When it is not an object, or its parts have other types than [`Action`]'s.
    pub fn read(raw: &str) -> Result<Action, ContextError> {
        let wrong = |problem: &str| ContextError::Field {
            field: "action".to_string(),
            problem: problem.to_string(),
        };
        if !raw.starts_with('{') {
            return Err(wrong("it is not an object"));
        }
        let kind = match child(raw, "kind") {
            None => return Err(wrong("it has no `kind`")),
            Some(word) => string_text(word)
                .and_then(|word| ActionKind::from_word(&word))
                .ok_or_else(|| wrong("`kind` is not one of shell, read, write, edit, search, fetch, mcp, agent, other"))?,
        };
        let command = match child(raw, "command") {
            None | Some("null") => None,
            Some(text) => {
                Some(string_text(text).ok_or_else(|| wrong("`command` is not a string"))?)
            }
        };
        let strings = |key: &str| {
            let Some(list) = child(raw, key).filter(|list| *list != "null") else {
                return Ok(Vec::new());
            };
            let list = elements(list).ok_or_else(|| wrong(&format!("`{key}` is not a list")))?;
            let texts: Option<Vec<String>> =
                list.iter().map(|one| string_text(one.get())).collect();
            texts.ok_or_else(|| wrong(&format!("`{key}` holds something else than strings")))
        };
        let (paths, resolved) = (strings("paths")?, strings("resolved")?);
        Ok(Action { kind, command, paths, resolved })
    }

    /// The action of a tool event that comes without one: `None` if there is no `toolName`.
    /// A call of several tools at once is what the gravest of them is, with the commands and the
    /// paths of all.
    ///
    /// # Errors
    /// When `toolName` is not a string, or a key of `toolInput` appears twice, so that no policy
    /// could tell what is about to run.
    pub fn derive(context: &Context) -> Result<Option<Action>, ContextError> {
        let Some(name) = context.raw("toolName") else {
            return Ok(None);
        };
        let name = string_text(name).ok_or_else(|| ContextError::Field {
            field: "toolName".to_string(),
            problem: "it is not a string".to_string(),
        })?;
        input::read(&name, context.raw("toolInput")).map(Some)
    }

    /// The files that a patch in the command touches: such a command edits them as well.
    pub(crate) fn patched(&self) -> Vec<String> {
        match (&self.command, self.kind) {
            (Some(command), ActionKind::Shell) => patch::in_command(command),
            _ => Vec::new(),
        }
    }

    /// The texts of the tool's input that may each be a path, though no key of it says so.
    pub(crate) fn guessed_paths(&self, context: &Context) -> Guesses {
        let name = context.string("toolName");
        let kind = name.as_deref().map_or(self.kind, ActionKind::of_tool);
        let input = context.raw("toolInput");
        input.map_or_else(Guesses::default, |input| {
            input::guesses(kind, name.as_deref().unwrap_or_default(), input)
        })
    }

    /// The texts of a shell's input that it may run besides its command.
    pub(crate) fn guessed_commands(&self, context: &Context) -> Vec<String> {
        let input = context.raw("toolInput").filter(|_| self.kind == ActionKind::Shell);
        input.map_or_else(Vec::new, input::guessed_commands)
    }

    /// The action of an event that changes paths, such as a commit: it writes all of them.
    /// `None` if there is no `changes`.
    ///
    /// # Errors
    /// When `changes` is not a list of paths, or of objects with a `path`.
    pub fn of_changes(context: &Context) -> Result<Option<Action>, ContextError> {
        let Some(changes) = context.raw("changes").filter(|raw| *raw != "null") else {
            return Ok(None);
        };
        let wrong = |problem: &str| ContextError::Field {
            field: "changes".to_string(),
            problem: problem.to_string(),
        };
        let list = elements(changes).ok_or_else(|| wrong("it is not a list"))?;
        let path = |raw: &str| string_text(raw).or_else(|| string_text(child(raw, "path")?));
        let paths: Option<Vec<String>> = list.iter().map(|one| path(one.get())).collect();
        let paths = paths.ok_or_else(|| wrong("one of them has no `path`"))?;
        Ok(Some(Action { kind: ActionKind::Write, command: None, paths, resolved: Vec::new() }))
    }

    /// The action as it stands in a context.
    pub fn to_json(&self) -> String {
        json_text(&WrittenAction {
            kind: self.kind.word(),
            command: self.command.as_deref(),
            paths: &self.paths,
            resolved: &self.resolved,
        })
    }

    /// The JSON text of an action with its `resolved` added.
    pub(super) fn with_resolved(&self, raw: &str) -> String {
        let resolved = json_text(&self.resolved);
        let open = raw.strip_suffix('}').unwrap_or(raw);
        format!("{open},\"resolved\":{resolved}}}")
    }
}

/// An action as it stands in a context.
#[derive(Serialize)]
struct WrittenAction<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    paths: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    resolved: &'a [String],
}

fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn derive(json: &str) -> Action {
        Action::derive(&Context::parse(json).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn every_host_s_shell_tool_is_shell() {
        for name in ["Bash", "Shell", "run_shell_command", "bash", "exec_command"] {
            let action =
                derive(&format!(r#"{{"toolName":"{name}","toolInput":{{"command":"ls -l"}}}}"#));
            assert_eq!(action.kind, ActionKind::Shell, "{name}");
            assert_eq!(action.command.as_deref(), Some("ls -l"));
        }
        assert_eq!(ActionKind::of_tool("mcp__github__push"), ActionKind::Mcp);
        assert_eq!(ActionKind::of_tool("my_tool"), ActionKind::Other);
    }

    #[test]
    fn a_command_given_as_words_is_one_command_line() {
        let action =
            derive(r#"{"toolName":"shell","toolInput":{"command":["bash","-lc","rm -rf x"]}}"#);
        assert_eq!(action.command.as_deref(), Some("rm -rf x"));
        let action = derive(r#"{"toolName":"shell","toolInput":{"command":["rm","-rf","a b"]}}"#);
        assert_eq!(action.command.as_deref(), Some("rm -rf 'a b'"));
    }

    #[test]
    fn no_shell_command_is_invisible() {
        for input in [
            r#""rm -rf /""#,
            r#"{"command":["rm","-rf","/"]}"#,
            r#"{"line":"rm -rf /"}"#,
            r#"{"command":"","cmd":"rm -rf /"}"#,
            r#"{"command":"ls","cmd":"rm -rf /"}"#,
            r#"{"command":[],"x":["rm","-rf","/"]}"#,
            r#"{"\ud800":1,"command":"rm\u0020-rf /"}"#,
        ] {
            let action = derive(&format!(r#"{{"toolName":"bash","toolInput":{input}}}"#));
            assert!(action.command.unwrap().contains("rm -rf /"), "{input}");
        }
        let twice = r#"{"toolName":"bash","toolInput":{"command":"rm x","command":"ls"}}"#;
        let error = Action::derive(&Context::parse(twice).unwrap()).unwrap_err();
        assert_eq!(error, ContextError::Duplicate("toolInput.command".into()));
    }

    #[test]
    fn the_paths_of_a_patch_are_taken_out_of_it() {
        let patch = r"*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n*** Delete File: .env\n*** End Patch";
        let action =
            derive(&format!(r#"{{"toolName":"apply_patch","toolInput":{{"command":"{patch}"}}}}"#));
        assert_eq!(action.kind, ActionKind::Edit);
        assert_eq!(action.paths, ["src/a.rs", "src/b.rs", ".env"]);
        assert_eq!(action.command, None);
    }

    #[test]
    fn what_a_tool_touches_is_seen_wherever_it_stands() {
        let patch = r"*** Begin Patch\n*** Update File: .env\n*** End Patch";
        let patched = |key: &str| format!(r#"{{"{key}":"{patch}"}}"#);
        for (tool, input, kind) in [
            ("apply_patch", patched("patchText"), ActionKind::Edit),
            ("patch", patched("patchText"), ActionKind::Edit),
            ("ApplyPatch", patched("patch"), ActionKind::Edit),
            ("ApplyPatch", format!(r#""{patch}""#), ActionKind::Edit),
            ("multiedit", r#"{"edits":[{"filePath":".env"}]}"#.to_string(), ActionKind::Edit),
            ("multiedit", r#"{"edits":[{"file_path":".env"}]}"#.to_string(), ActionKind::Edit),
            ("EditNotebook", r#"{"target_notebook":".env"}"#.to_string(), ActionKind::Edit),
            ("Glob", r#"{"target_directory":".env"}"#.to_string(), ActionKind::Search),
            ("read_many_files", r#"{"include":[".env"]}"#.to_string(), ActionKind::Read),
        ] {
            let action = derive(&format!(r#"{{"toolName":"{tool}","toolInput":{input}}}"#));
            assert_eq!((action.kind, action.paths), (kind, vec![".env".into()]), "{tool}: {input}");
        }
        let grep = derive(r#"{"toolName":"grep","toolInput":{"path":"a","include":"*.ts"}}"#);
        assert_eq!(grep.paths, ["a"]);
    }

    #[test]
    fn a_path_is_seen_under_every_key_at_every_depth() {
        let keys = [
            "path",
            "file_path",
            "filePath",
            "filepath",
            "file",
            "files",
            "filename",
            "uri",
            "relative_path",
            "pathInProject",
            "TargetFile",
            "AbsolutePath",
            "notebookPath",
            "absolute_path",
            "new_path",
            "destination",
            "target",
            "dest",
            "to",
        ];
        let shapes = [
            r#"{"KEY":VALUE}"#,
            r#"{"KEY":[VALUE]}"#,
            r#"{"x":{"y":{"KEY":VALUE}}}"#,
            r#"{"files":[{"n":1,"KEY":VALUE}]}"#,
            r#"{"a\"b":"\\","list":[[{"KEY":[VALUE]}]],"content":"x"}"#,
        ];
        let values =
            [r#"".env""#, r#""\u002eenv""#, r#""file:///.env""#, r#""file://localhost/%2Eenv""#];
        for tool in ["Write", "edit", "mcp__fs__copy", "frobnicate"] {
            for (key, shape) in keys.iter().flat_map(|key| shapes.map(|shape| (key, shape))) {
                for value in values {
                    let input = shape.replace("KEY", key).replace("VALUE", value);
                    let action = derive(&format!(r#"{{"toolName":"{tool}","toolInput":{input}}}"#));
                    let found =
                        action.paths.iter().any(|path| path.trim_start_matches('/') == ".env");
                    assert!(found, "{tool} {input}: {:?}", action.paths);
                }
            }
        }
    }

    #[test]
    fn where_no_key_names_a_path_every_text_may_be_one() {
        for (input, paths, guessed) in [
            (r#"".env""#, &[".env"][..], &[".env"][..]),
            (r#"{"where":".env","text":"two words"}"#, &[".env"], &[".env", "two words"]),
            (r#"{"a":[{"b":"src/x.rs"},7]}"#, &["src/x.rs"], &["src/x.rs"]),
            (r#"{"a":"Makefile"}"#, &[], &["Makefile"]),
            (r#"{"a":"https://x.y/z"}"#, &[], &["https://x.y/z"]),
            (r#"{"a":"line\nline/x"}"#, &[], &[]),
            (r#"{"path":"a","b":"c/d"}"#, &["a"], &["c/d"]),
        ] {
            for tool in ["Write", "mcp__a__b", "frobnicate"] {
                let json = format!(r#"{{"toolName":"{tool}","toolInput":{input}}}"#);
                let context = Context::parse(json.as_str()).unwrap();
                let action = derive(&json);
                assert_eq!(action.paths, paths, "{tool} {input}");
                assert_eq!(action.guessed_paths(&context).texts, guessed, "{tool} {input}");
            }
            let grep = derive(&format!(r#"{{"toolName":"Bash","toolInput":{input}}}"#));
            assert!(grep.paths.iter().all(|path| path == "a"), "{input}");
        }
    }

    #[test]
    fn the_paths_of_every_patch_are_seen_wherever_it_stands() {
        let codex = "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch";
        let diff = "--- a/.env\t2026\n+++ b/.env\n@@\n-x\n+y";
        let renamed = "diff --git a/x b/.env\nrename from x\nrename to .env";
        for patch in [codex, diff, renamed] {
            for command in [
                format!("apply_patch <<'EOF'\n{patch}\nEOF"),
                format!("cd sub && git apply << EOF\n{patch}\nEOF\nls"),
                format!("apply_patch \"\n{patch}\""),
            ] {
                for input in
                    [json!({ "command": command }), json!({"cmd": ["bash", "-lc", command]})]
                {
                    let context = json!({ "toolName": "Bash", "toolInput": input }).to_string();
                    let action = derive(&context);
                    assert_eq!(action.kind, ActionKind::Shell);
                    assert_eq!(action.command.as_deref(), Some(command.as_str()));
                    assert!(action.paths.contains(&".env".to_string()), "{command}: {action:?}");
                    assert_eq!(action.paths, action.patched());
                }
            }
            for (tool, key) in
                [("apply_patch", "input"), ("mcp__fs__patch", "diff"), ("patch", "patch")]
            {
                let context = json!({ "toolName": tool, "toolInput": { key: patch } }).to_string();
                assert!(derive(&context).paths.contains(&".env".to_string()), "{tool} {patch}");
            }
        }
        let escaped = derive(
            r#"{"toolName":"Bash","toolInput":{"command":"printf '*** Add File: .env\\n+x' | apply_patch"}}"#,
        );
        assert_eq!(escaped.paths, [".env"]);
        for command in [
            "cat <<x\n+*** Add File: .env\n-*** Add File: .env\nx",
            "ls --- a\n+++",
            "echo '---'\necho '+++ x'",
            "git diff",
        ] {
            let context = json!({ "toolName": "Bash", "toolInput": { "command": command } });
            assert_eq!(derive(&context.to_string()).paths, Vec::<String>::new(), "{command}");
        }
    }

    #[test]
    fn text_for_a_running_shell_is_a_command() {
        let action = derive(
            r#"{"toolName":"write_bash","toolInput":{"sessionId":"1","input":"rm -rf x{enter}"}}"#,
        );
        assert_eq!(action.kind, ActionKind::Shell);
        assert_eq!(action.command.as_deref(), Some("rm -rf x{enter}"));
    }

    #[test]
    fn a_batch_is_what_the_gravest_of_its_calls_is() {
        let batch = |calls: &str| {
            derive(&format!(r#"{{"toolName":"batch","toolInput":{{"tool_calls":{calls}}}}}"#))
        };
        let action = batch(
            r#"[{"tool":"read","parameters":{"filePath":"a"}},
                {"tool":"bash","parameters":{"command":"rm x"}},
                {"tool":"bash","parameters":{"command":"ls"}},
                {"tool":"edit","parameters":{"filePath":".env"}}]"#,
        );
        assert_eq!(action.kind, ActionKind::Shell);
        assert_eq!(action.command.as_deref(), Some("rm x\nls"));
        assert_eq!(action.paths, ["a", ".env"]);
        assert_eq!(batch(r#"[{"tool":"read"},{"tool":"write"}]"#).kind, ActionKind::Write);
        let twice = r#"{"toolName":"batch","toolInput":{"tool_calls":[
            {"tool":"bash","parameters":{"command":"ls","command":"rm x"}}]}}"#;
        assert!(Action::derive(&Context::parse(twice).unwrap()).is_err());
    }

    #[test]
    fn a_key_with_half_a_character_hides_no_path() {
        let action = derive(r#"{"toolName":"Write","toolInput":{"path":".env","\udc00":1}}"#);
        assert_eq!(action.paths, [".env"]);
    }

    #[test]
    fn no_name_is_in_two_rows() {
        let mut seen = std::collections::HashSet::new();
        for class in TOOLS {
            for name in class.names.iter().chain([&class.word]) {
                assert!(seen.insert(name.to_ascii_lowercase()), "{name} appears twice");
            }
        }
    }

    #[test]
    fn what_changes_paths_writes_them() {
        let of = |json: &str| Action::of_changes(&Context::parse(json).unwrap());
        let action = of(r#"{"changes":[{"path":".env","status":"D"},"a"]}"#).unwrap().unwrap();
        assert_eq!(
            (action.kind, action.paths),
            (ActionKind::Write, vec![".env".into(), "a".into()])
        );
        assert_eq!(of("{}").unwrap(), None);
        assert!(of(r#"{"changes":".env"}"#).is_err() && of(r#"{"changes":[{}]}"#).is_err());
    }

    #[test]
    fn a_given_action_must_have_its_shape() {
        assert!(Action::read(r#"{"kind":"shell","command":"ls","paths":["a"]}"#).is_ok());
        assert!(Action::read(r#"{"kind":"shall"}"#).is_err());
        assert!(Action::read(r#"{"kind":"read","paths":"a"}"#).is_err());
        assert!(Action::read("7").is_err() && Action::read("{}").is_err());
    }
}
