//! What a person does in a host before it asks: a project is trusted, and hooks are accepted.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::sandbox::Sandbox;

/// The folder trusted in Gemini CLI and Codex, all hooks accepted in Codex as its `/hooks` does, and
/// the plugin known to openclaw.
pub(super) fn by_a_person(sandbox: Sandbox) -> Sandbox {
    let folder = sandbox.path().display().to_string();
    let trusted = format!("{{\"{folder}\": \"TRUST_FOLDER\"}}");
    let mut config = format!("[projects.\"{folder}\"]\ntrust_level = \"trusted\"\n");
    for file in [".codex/hooks.json", "home/.codex/hooks.json"] {
        let text = std::fs::read_to_string(sandbox.at(file)).unwrap_or_default();
        let Ok(mut settings) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let Value::Object(events) = settings["hooks"].take() else {
            continue;
        };
        for (event, groups) in &events {
            for (at, group) in groups.as_array().unwrap().iter().enumerate() {
                for (below, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                    let path = sandbox.at(file).display().to_string();
                    let key = format!("{path}:{}:{at}:{below}", snake(event));
                    let sum = sum(&snake(event), hook);
                    config.push_str(&format!(
                        "[hooks.state.\"{key}\"]\ntrusted_hash = \"{sum}\"\n"
                    ));
                }
            }
        }
    }
    let plugins = serde_json::json!({
        "load": { "paths": [sandbox.at(".openclaw/hookrun.js")] },
        "entries": { "hookrun": { "hooks": { "allowConversationAccess": true } } },
    });
    let openclaw = serde_json::json!({ "plugins": plugins }).to_string();
    let root = sandbox.path().canonicalize().unwrap();
    let pi = serde_json::json!({ root.display().to_string(): true }).to_string();
    sandbox
        .file("home/.pi/agent/trust.json", &pi)
        .file("home/.openclaw/openclaw.json", &openclaw)
        .file("home/.codex/config.toml", &config)
        .file("home/.gemini/trustedFolders.json", &trusted)
}

fn snake(event: &str) -> String {
    let letters = event
        .char_indices()
        .map(|(at, letter)| match (at, letter.is_uppercase()) {
            (0, _) | (_, false) => letter.to_ascii_lowercase().to_string(),
            (_, true) => format!("_{}", letter.to_ascii_lowercase()),
        });
    letters.collect()
}

/// The sum as Codex makes it, written out.
fn sum(event: &str, hook: &Value) -> String {
    let (command, timeout) = (&hook["command"], hook["timeout"].as_u64().unwrap_or(600));
    let text = format!(
        "{{\"event_name\":\"{event}\",\"hooks\":[{{\"async\":false,\"command\":{command},\
         \"timeout\":{timeout},\"type\":\"command\"}}]}}"
    );
    let digits: Vec<String> = Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{}", digits.concat())
}
