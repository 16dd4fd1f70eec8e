//! The rows of the hosts whose hooks are like Claude Code's, and of their relatives.

use crate::cli::host::install::row::{
    Beside, Comments, HostForm, InstallHost, SettingsShape, UserFile,
};
use crate::hosts::settings::files;

/// A host whose HTTP hooks were not tried.
/// A host with nothing special.
const PLAIN: InstallHost = InstallHost::PLAIN;

pub(super) const QWEN: InstallHost = InstallHost {
    name: "qwen",
    title: "Qwen Code",
    project: ".qwen/settings.json",
    user: UserFile::Home(".qwen/settings.json"),
    form: HostForm::Settings(SettingsShape {
        comments: Comments::Read,
        ..SettingsShape::of(&files::QWEN)
    }),
    cannot: &["with `-p` there is no person to ask: a question from a hook blocks"],
    ..PLAIN
};

pub(super) const VSCODE: InstallHost = InstallHost {
    name: "vscode",
    program: Some("code"),
    title: "VS Code",
    project: ".github/hooks/hookrun-vscode.json",
    user: UserFile::Home(".copilot/hooks/hookrun-vscode.json"),
    form: HostForm::Settings(SettingsShape::of(&files::VSCODE)),
    must: &["leave the setting `chat.useHooks` on, which an organisation may have switched off"],
    ..PLAIN
};

pub(super) const FACTORY: InstallHost = InstallHost {
    name: "factory",
    program: Some("droid"),
    title: "Factory Droid",
    project: ".factory/settings.json",
    user: UserFile::Home(".factory/settings.json"),
    form: HostForm::Settings(SettingsShape::of(&files::FACTORY)),
    cannot: &["where no tool needs leave, it does not ask: a tool that a hook asks about runs"],
    must: &[
        "have no `hooks.json` next to the file: its documents say that it wins, and version \
             0.225.2 reads `settings.json` alone",
    ],
    beside: &[Beside {
        file: "hooks.json",
        is_of_user: true,
    }],
    ..PLAIN
};

pub(super) const WINDSURF: InstallHost = InstallHost {
    name: "windsurf",
    title: "Windsurf",
    project: ".windsurf/hooks.json",
    user: UserFile::Home(".codeium/windsurf/hooks.json"),
    form: HostForm::Settings(SettingsShape::of(&files::WINDSURF)),
    ..PLAIN
};

pub(super) const DEVIN: InstallHost = InstallHost {
    name: "devin",
    title: "Devin CLI",
    project: ".devin/config.json",
    user: UserFile::Config("devin/config.json"),
    form: HostForm::Settings(SettingsShape {
        comments: Comments::Read,
        ..SettingsShape::of(&files::DEVIN)
    }),
    beside: &[Beside {
        file: "config.local.json",
        is_of_user: false,
    }],
    ..PLAIN
};

pub(super) const CRUSH: InstallHost = InstallHost {
    name: "crush",
    title: "Crush",
    project: "crush.json",
    user: UserFile::Config("crush/crush.json"),
    form: HostForm::Settings(SettingsShape::of(&files::CRUSH)),
    cannot: &["a new input is merged into the old one: a key that a hook takes out stays"],
    ..PLAIN
};

pub(super) const GOOSE: InstallHost = InstallHost {
    name: "goose",
    title: "goose",
    project: ".agents/plugins/hookrun/hooks/hooks.json",
    user: UserFile::Home(".agents/plugins/hookrun/hooks/hooks.json"),
    form: HostForm::Settings(SettingsShape::of(&files::GOOSE)),
    cannot: &["elsewhere too nothing reaches the model but the reason of a block"],
    must: &["start it again: plugins are read when it starts"],
    ..PLAIN
};

pub(super) const AGY: InstallHost = InstallHost {
    name: "agy",
    title: "Antigravity",
    project: ".agents/hooks.json",
    user: UserFile::Home(".gemini/config/hooks.json"),
    form: HostForm::Settings(SettingsShape {
        names_event: true,
        ..SettingsShape::of(&files::AGY)
    }),
    cannot: &["elsewhere too nothing is rewritten, and only reasons reach the model"],
    ..PLAIN
};

pub(super) const GROK: InstallHost = InstallHost {
    name: "grok",
    title: "Grok Build",
    project: ".grok/hooks/hookrun.json",
    user: UserFile::Home(".grok/hooks/hookrun.json"),
    form: HostForm::Settings(SettingsShape::of(&files::GROK)),
    cannot: &["what a hook says when a session starts or a prompt comes does not reach the model"],
    ..PLAIN
};

pub(super) const KIRO: InstallHost = InstallHost {
    name: "kiro",
    program: Some("kiro-cli"),
    title: "Kiro",
    project: ".kiro/hooks/hookrun.json",
    user: UserFile::Home(".kiro/hooks/hookrun.json"),
    form: HostForm::Settings(SettingsShape {
        version: Some("\"v1\""),
        ..SettingsShape::of(&files::KIRO)
    }),
    cannot: &["elsewhere too nothing reaches the model but the reason of a block"],
    ..PLAIN
};

pub(super) const KIMI: InstallHost = InstallHost {
    name: "kimi",
    title: "Kimi Code",
    project: "",
    user: UserFile::Moved {
        variable: "KIMI_CODE_HOME",
        usual: ".kimi-code",
        file: "config.toml",
    },
    form: HostForm::Settings(SettingsShape::of(&files::KIMI)),
    cannot: &["a stop is sent on once and no more: after that Kimi does not ask"],
    must: &["start a new session: hooks are read when one starts"],
    ..PLAIN
};

/// Its command line and its extension read the same folders.
pub(super) const CLINE: InstallHost = InstallHost {
    name: "cline",
    title: "Cline",
    project: ".clinerules/hooks/PreToolUse",
    user: UserFile::Home("Documents/Cline/Hooks/PreToolUse"),
    form: HostForm::Scripts(include_str!("../plugin/cline.sh")),
    // Its command line calls them so, and reads the same files.
    but: &["tool_call", "tool_result"],
    cannot: &[
        "its command line sends no prompt to a hook, and its extension takes no new input",
        "a block ends the run, and the model does not get the reason",
    ],
    beside: &[
        Beside {
            file: "TaskStart",
            is_of_user: true,
        },
        Beside {
            file: "TaskResume",
            is_of_user: true,
        },
        Beside {
            file: "UserPromptSubmit",
            is_of_user: true,
        },
        Beside {
            file: "PostToolUse",
            is_of_user: true,
        },
        Beside {
            file: "TaskComplete",
            is_of_user: true,
        },
        Beside {
            file: "TaskCancel",
            is_of_user: true,
        },
        Beside {
            file: "PreCompact",
            is_of_user: true,
        },
    ],
    ..PLAIN
};
