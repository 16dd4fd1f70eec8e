//! Hooks that somebody chooses by `--template`, where the event alone would mean another one.

use crate::engine::event::EventSpec;

use super::{Bodies, TemplateSort};

/// Every one of them.
pub(super) const CHOSEN: &[TemplateSort] = &[ASK, REWRITE, REDACT];

/// Whether hooks may rewrite this field of the event.
fn rewrites(spec: &EventSpec, field: &str) -> bool {
    spec.rewrites.iter().any(|one| one.field == field)
}

/// A person decides.
const ASK: TemplateSort = TemplateSort {
    name: "ask",
    suits: |spec| spec.blocks && spec.carries("toolName"),
    directive: "tool=bash",
    about: "this hook runs for shell tools only, under any host's\n# name for them.",
    bodies: Bodies {
        sh: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case " ${HOOKRUN_ACTION_COMMAND-} " in
*[!a-zA-Z0-9._-]sudo[!a-zA-Z0-9._-]*) echo '{"ask": "Let it use sudo?"}' ;;
esac
"#,
        bash: "",
        python: r#"import json
import re
import sys

event = json.load(sys.stdin)
command = (event.get("action") or {}).get("command") or ""
if re.search(r"(?<![\w.-])sudo(?![\w.-])", command):
    print(json.dumps({"ask": "Let it use sudo?"}))
"#,
    },
    cases: r#"
[[case]]
name = "a person decides about sudo"
context = { toolName = "bash", toolInput = { command = "sudo apt install jq" } }
expect = { decision = "ask", reason = "^Let it use sudo\\?$" }

[[case]]
name = "another command is allowed"
context = { toolName = "bash", toolInput = { command = "man sudoers" } }
expect = { decision = "allow" }

[[case]]
name = "this hook is not asked about another tool"
context = { toolName = "read", toolInput = { path = "sudo" } }
expect = { decision = "allow", asked = [] }
"#,
};

/// Another command takes the place of one.
const REWRITE: TemplateSort = TemplateSort {
    name: "rewrite",
    suits: |spec| spec.carries("toolName") && rewrites(spec, "toolInput"),
    directive: "rewrite tool=bash",
    about: "this hook may rewrite, and runs for shell tools only.",
    bodies: Bodies {
        sh: "",
        bash: "",
        python: r#"import json
import sys

given = json.load(sys.stdin).get("toolInput") or {}
if given.get("command") == "npm install":
    # What was locked is installed, and nothing newer. The other keys stay.
    print(json.dumps({"update": {"toolInput": {**given, "command": "npm ci"}}}))
"#,
    },
    cases: r#"
[[case]]
name = "what was locked is installed"
context = { toolName = "bash", toolInput = { command = "npm install", timeout = 9 } }
expect = { decision = "allow", rewrites = { toolInput = { command = "npm ci", timeout = 9 } } }

[[case]]
name = "another command stays"
context = { toolName = "bash", toolInput = { command = "npm install left-pad" } }
expect = { decision = "allow" }

[[case]]
name = "this hook is not asked about another tool"
context = { toolName = "read", toolInput = { command = "npm install" } }
expect = { decision = "allow", asked = [] }
@NEVER@"#,
};

/// What the model must not see is taken out of what a tool said.
const REDACT: TemplateSort = TemplateSort {
    name: "redact",
    suits: |spec| spec.carries("toolName") && rewrites(spec, "result"),
    directive: "rewrite timeout=5s",
    about: "this hook may rewrite, and how long it may run.",
    bodies: Bodies {
        sh: "",
        bash: "",
        python: r#"import json
import re
import sys

SECRET = re.compile(r"AKIA[0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36}")

said = json.dumps(json.load(sys.stdin).get("result"))
clean = SECRET.sub("[redacted]", said)
if clean != said:
    print(json.dumps({"update": {"result": json.loads(clean)}}))
"#,
    },
    cases: r#"
[[case]]
name = "a key is taken out"
context = { toolName = "bash", result = "id=AKIAIOSFODNN7EXAMPLE" }
expect = { decision = "allow", rewrites = { result = "id=[redacted]" } }

[[case]]
name = "anything else stays"
context = { toolName = "bash", result = "2 passed" }
expect = { decision = "allow" }
@NEVER@"#,
};
