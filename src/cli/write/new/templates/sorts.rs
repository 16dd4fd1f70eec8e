//! The sorts of events and what a new hook for one does, in every language, with its first cases.

use crate::engine::event::catalog::command;
use crate::engine::event::{EventSpec, Schedule};

use super::{Bodies, TemplateSort, looked_at};

type Fits = fn(&EventSpec) -> bool;

/// Every sort with the events whose new hook is of it: the first that an event fits.
pub(super) const SORTS: &[(Fits, TemplateSort)] = &[
    (|spec| command::name_of(&spec.name).is_some(), COMMAND),
    (|spec| spec.blocks && spec.carries("toolName"), SHELL),
    (|spec| spec.blocks && spec.carries("changes"), PATHS),
    (|spec| spec.blocks && spec.carries("prompt"), PROMPT),
    (|spec| spec.blocks && spec.conduct.most_refusals.is_some(), STOP),
    (|spec| spec.blocks && !looked_at(spec).key.is_empty(), VALUE),
    (|spec| spec.blocks, FREEZE),
    (|spec| spec.schedule == Schedule::Detached, WATCH),
    (has_written, FINDINGS),
    (|_| true, TELL),
];

fn has_written(spec: &EventSpec) -> bool {
    !spec.blocks && spec.carries("toolInput") && spec.carries("result")
}

/// A command of the user: its output is the answer.
const COMMAND: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "description=\"say what it does\"",
    about: "the host's list of commands shows the description.",
    bodies: Bodies {
        sh: r#"arguments=$(hookrun field args --default '') || exit 1
if [ -z "$arguments" ]; then
    echo 'usage: @COMMAND@ TEXT' >&2
    exit 1
fi
printf 'You said: %s\n' "$arguments"
"#,
        bash: r#"arguments=$(hookrun field args --default '') || exit 1
if [[ -z $arguments ]]; then
    echo 'usage: @COMMAND@ TEXT' >&2
    exit 1
fi
printf 'You said: %s\n' "$arguments"
"#,
        python: r#"import json
import sys

arguments = json.load(sys.stdin).get("args") or ""
if not arguments:
    sys.exit("usage: @COMMAND@ TEXT")
print("You said:", arguments)
"#,
    },
    cases: r#"
[[case]]
name = "without arguments it says how it is used"
context = { args = "" }
expect = { decision = "block", reason = "^usage: @COMMAND@ TEXT$" }

[[case]]
name = "its output is the answer"
context = { args = "all of it" }
expect = { decision = "allow", output = "^You said: all of it$" }
"#,
};

/// A tool that is about to run.
const SHELL: TemplateSort = TemplateSort {
    name: "guard",
    suits: |spec| spec.blocks && spec.carries("toolName"),
    directive: "tool=bash",
    about: "this hook runs for shell tools only, under any host's\n# name for them.",
    bodies: Bodies {
        sh: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case ${HOOKRUN_ACTION_COMMAND-} in
*'git push'*' --force'*)
    echo 'force pushes are blocked; push to your own branch' >&2
    exit 1
    ;;
esac
"#,
        bash: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

if [[ ${HOOKRUN_ACTION_COMMAND-} == *'git push'*' --force'* ]]; then
    echo 'force pushes are blocked; push to your own branch' >&2
    exit 1
fi
"#,
        python: r#"import json
import sys

event = json.load(sys.stdin)
# The action is the same in every host: kind, command, paths.
command = (event.get("action") or {}).get("command") or ""
if "git push" in command and " --force" in command:
    sys.exit("force pushes are blocked; push to your own branch")
"#,
    },
    cases: r#"
[[case]]
name = "force pushes are blocked"
context = { toolName = "bash", toolInput = { command = "git push --force origin main" } }
expect = { decision = "block", reason = "^force pushes are blocked" }

[[case]]
name = "another push is allowed"
context = { toolName = "bash", toolInput = { command = "git push origin work" } }
expect = { decision = "allow" }

[[case]]
name = "this hook is not asked about another tool"
context = { toolName = "read", toolInput = { path = "notes about git push --force" } }
expect = { decision = "allow", asked = [] }
"#,
};

/// A commit or a push, with the paths that it changes.
const PATHS: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "timeout=10s",
    about: "how long this hook may run; path=GLOB would ask it only\n# about changes to such paths.",
    bodies: Bodies {
        sh: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

# There is one path a line: split only there, and take a star as a star.
IFS='
'
set -f
for path in ${HOOKRUN_ACTION_PATHS-}; do
    case ${path##*/} in
    .env | *.pem)
        echo "$path stays out of the repository" >&2
        exit 1
        ;;
    esac
done
"#,
        bash: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

# There is one path a line.
while IFS= read -r path; do
    case ${path##*/} in
    .env | *.pem)
        echo "$path stays out of the repository" >&2
        exit 1
        ;;
    esac
done <<<"${HOOKRUN_ACTION_PATHS-}"
"#,
        python: r#"import json
import sys

event = json.load(sys.stdin)
for path in (event.get("action") or {}).get("paths") or []:
    name = path.rpartition("/")[2]
    if name == ".env" or name.endswith(".pem"):
        sys.exit(f"{path} stays out of the repository")
"#,
    },
    cases: r#"
[[case]]
name = "a key stays out of the repository"
context = { changes = [{ path = "src/a.rs", status = "M" }, { path = "keys/host.pem", status = "A" }] }
expect = { decision = "block", reason = "^keys/host.pem stays out of the repository$" }

[[case]]
name = "other files are taken in"
context = { changes = [{ path = "src/a.rs", status = "M" }] }
expect = { decision = "allow" }
"#,
};

/// A prompt, which has a variable of its own.
const PROMPT: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "timeout=5s",
    about: "how long this hook may run.",
    bodies: Bodies {
        sh: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[ -z "${HOOKRUN_TRUNCATED-}" ] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

case ${HOOKRUN_PROMPT-} in
*'BEGIN PRIVATE KEY'*)
    echo 'a private key is not for the model; take it out' >&2
    exit 1
    ;;
esac
"#,
        bash: r#"# A value that is too long for a variable is named here; what was not seen is not allowed.
[[ -z ${HOOKRUN_TRUNCATED-} ]] || { echo "too long to be judged: $HOOKRUN_TRUNCATED" >&2; exit 1; }

if [[ ${HOOKRUN_PROMPT-} == *'BEGIN PRIVATE KEY'* ]]; then
    echo 'a private key is not for the model; take it out' >&2
    exit 1
fi
"#,
        python: r#"import json
import sys

event = json.load(sys.stdin)
if "BEGIN PRIVATE KEY" in (event.get("prompt") or ""):
    sys.exit("a private key is not for the model; take it out")
"#,
    },
    cases: r#"
[[case]]
name = "a private key is not for the model"
context = { prompt = "use this: -----BEGIN PRIVATE KEY-----" }
expect = { decision = "block", reason = "^a private key is not for the model" }

[[case]]
name = "another prompt is allowed"
context = { prompt = "write tests" }
expect = { decision = "allow" }
"#,
};

/// An agent that wants to stop: it has to go on until the tests pass.
const STOP: TemplateSort = TemplateSort {
    name: "test-gate",
    suits: |spec| spec.blocks && (spec.conduct.most_refusals.is_some() || spec.carries("changes")),
    directive: "timeout=2m",
    about: "how long the tests may run. They are test.sh here.",
    bodies: Bodies {
        sh: r#"cd "${HOOKRUN_PROJECT_DIR:?}" || exit 1
[ -e test.sh ] || exit 0
if ! said=$(sh ./test.sh 2>&1); then
    echo 'the tests fail; mend them first:' >&2
    printf '%s\n' "$said" | tail -n 20 >&2
    exit 1
fi
"#,
        bash: r#"cd "${HOOKRUN_PROJECT_DIR:?}" || exit 1
[[ -e test.sh ]] || exit 0
if ! said=$(sh ./test.sh 2>&1); then
    echo 'the tests fail; mend them first:' >&2
    tail -n 20 <<<"$said" >&2
    exit 1
fi
"#,
        python: r#"import os
import subprocess
import sys

os.chdir(os.environ["HOOKRUN_PROJECT_DIR"])
if os.path.exists("test.sh"):
    command = ["sh", "./test.sh"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        said = "\n".join(ran.stdout.splitlines()[-20:])
        sys.exit(f"the tests fail; mend them first:\n{said}")
"#,
    },
    cases: r#"
[[case]]
name = "it goes on while the tests fail"
files = { "test.sh" = "echo 1 of 2 fails; exit 1", ".git/HEAD" = "" }
expect = { decision = "block", reason = '^the tests fail; mend them first:\n1 of 2 fails$' }

[[case]]
name = "it may stop when they pass"
files = { "test.sh" = "echo 2 passed", ".git/HEAD" = "" }
expect = { decision = "allow" }

[[case]]
name = "it may stop where there are none"
files = { ".git/HEAD" = "" }
expect = { decision = "allow" }
"#,
};

/// Something with a text in it that says what it is about.
const VALUE: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "timeout=5s",
    about: "how long this hook may run; where.@KEY@=REGEX would\n# ask it only about such events.",
    bodies: Bodies {
        sh: r#"value=$(hookrun field @KEY@ --default '') || exit 1
case $(printf '%s' "$value" | tr '[:upper:]' '[:lower:]') in
*'@WORD@'*)
    echo '@KEY@: "@WORD@" is blocked' >&2
    exit 1
    ;;
esac
"#,
        bash: r#"value=$(hookrun field @KEY@ --default '') || exit 1
if [[ ${value,,} == *'@WORD@'* ]]; then
    echo '@KEY@: "@WORD@" is blocked' >&2
    exit 1
fi
"#,
        python: r#"import json
import sys

value = json.load(sys.stdin).get("@KEY@")
if "@WORD@" in (value if isinstance(value, str) else json.dumps(value)).lower():
    sys.exit('@KEY@: "@WORD@" is blocked')
"#,
    },
    cases: r#"
[[case]]
name = "`@WORD@` is blocked"
context = { @KEY@ = @BAD@ }
expect = { decision = "block", reason = '^@KEY@: "@WORD@" is blocked$' }

[[case]]
name = "so it is in capitals"
context = { @KEY@ = @LOUD@ }
expect = { decision = "block", reason = '^@KEY@: "@WORD@" is blocked$' }

[[case]]
name = "anything else is allowed"
context = { @KEY@ = @GOOD@ }
expect = { decision = "allow" }
"#,
};

/// A gate whose events say nothing that could be looked at.
const FREEZE: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "timeout=5s",
    about: "how long this hook may run.",
    bodies: Bodies {
        sh: r#"# While the file FREEZE lies in the project's root, this does not happen.
if [ -e "${HOOKRUN_PROJECT_DIR:?}/FREEZE" ]; then
    echo 'not now: the file FREEZE is there' >&2
    exit 1
fi
"#,
        bash: r#"# While the file FREEZE lies in the project's root, this does not happen.
if [[ -e ${HOOKRUN_PROJECT_DIR:?}/FREEZE ]]; then
    echo 'not now: the file FREEZE is there' >&2
    exit 1
fi
"#,
        python: r#"import json
import os
import sys

event = json.load(sys.stdin)  # What to judge by, as soon as the event has keys.
# While the file FREEZE lies in the project's root, this does not happen.
if os.path.exists(os.path.join(os.environ["HOOKRUN_PROJECT_DIR"], "FREEZE")):
    sys.exit("not now: the file FREEZE is there")
"#,
    },
    cases: r#"
[[case]]
name = "a freeze blocks"
files = { FREEZE = "", ".git/HEAD" = "" }
expect = { decision = "block", reason = "^not now: the file FREEZE is there$" }

[[case]]
name = "without a freeze it is allowed"
files = { ".git/HEAD" = "" }
expect = { decision = "allow" }
"#,
};

/// An event that is told of when nobody waits any more.
const WATCH: TemplateSort = TemplateSort {
    name: "",
    suits: |_| false,
    directive: "timeout=30s",
    about: "how long this hook may run; the host does not wait for it.",
    bodies: Bodies {
        sh: r#"# In a folder of this hook's own, which stays, or where HOOKRUN_SEEN_LOG says.
echo "$HOOKRUN_EVENT" >>"${HOOKRUN_SEEN_LOG:-${HOOKRUN_STATE_DIR:?}/seen.log}"
"#,
        bash: r#"# In a folder of this hook's own, which stays, or where HOOKRUN_SEEN_LOG says.
echo "$HOOKRUN_EVENT" >>"${HOOKRUN_SEEN_LOG:-${HOOKRUN_STATE_DIR:?}/seen.log}"
"#,
        python: r#"import json
import os
import sys

event = json.load(sys.stdin)
# In a folder of this hook's own, which stays, or where HOOKRUN_SEEN_LOG says.
seen = os.environ.get("HOOKRUN_SEEN_LOG")
with open(seen or os.path.join(os.environ["HOOKRUN_STATE_DIR"], "seen.log"), "a") as log:
    print(json.dumps(event), file=log)
"#,
    },
    cases: r#"
[[case]]
name = "it notes the event"
env = { HOOKRUN_SEEN_LOG = "{case.folder}/seen.log" }
expect = { decision = "allow", files = { "seen.log" = '@EVENT@' } }
"#,
};

/// A tool that has run: what it wrote is looked at.
const FINDINGS: TemplateSort = TemplateSort {
    name: "findings",
    suits: has_written,
    directive: "tool='write|edit'",
    about: "this hook runs for tools that write only, under any\n# host's name for them.",
    bodies: Bodies {
        sh: r#"# There is one path a line: split only there, and take a star as a star.
IFS='
'
set -f
for path in ${HOOKRUN_ACTION_PATHS-}; do
    [ -f "$path" ] || continue
    grep -n '^<<<<<<< ' "$path" | while IFS=: read -r line _; do
        printf '%s:%s: a conflict marker is left\n' "$path" "$line"
    done
done
"#,
        bash: "",
        python: r#"import json
import os
import sys

event = json.load(sys.stdin)
findings = []
for path in (event.get("action") or {}).get("paths") or []:
    if not os.path.isfile(path):
        continue
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("<<<<<<< "):
                message = "a conflict marker is left"
                findings.append({"path": path, "line": number, "level": "error", "message": message})
if findings:
    print(json.dumps({"findings": findings}))
"#,
    },
    cases: r#"
[[case]]
name = "a conflict marker is found"
files = { "a.txt" = "one\n<<<<<<< HEAD\n" }
context = { toolName = "write", toolInput = { path = "a.txt" } }
expect = { decision = "allow", @FOUND@ = "a.txt:2:? a conflict marker is left$" }

[[case]]
name = "a file without one is fine"
files = { "a.txt" = "one\n" }
context = { toolName = "write", toolInput = { path = "a.txt" } }
expect = { decision = "allow" }

[[case]]
name = "this hook is not asked about another tool"
files = { "a.txt" = "<<<<<<< HEAD\n" }
context = { toolName = "read", toolInput = { path = "a.txt" } }
expect = { decision = "allow", asked = [] }
"#,
};

/// An event that has happened, or cannot be refused.
const TELL: TemplateSort = TemplateSort {
    name: "context",
    suits: |spec| spec.conduct.text_teaches,
    directive: "timeout=5s",
    about: "how long this hook may run.",
    bodies: Bodies {
        sh: r#"# @PRINTED@
notes=${HOOKRUN_PROJECT_DIR:?}/NOTES.md
[ -e "$notes" ] || exit 0
printf 'Notes: %s\n' "$(head -n 1 "$notes")"
"#,
        bash: r#"# @PRINTED@
notes=${HOOKRUN_PROJECT_DIR:?}/NOTES.md
[[ -e $notes ]] || exit 0
IFS= read -r first <"$notes"
printf 'Notes: %s\n' "$first"
"#,
        python: r#"import json
import os
import sys

event = json.load(sys.stdin)  # What to judge by.
notes = os.path.join(os.environ["HOOKRUN_PROJECT_DIR"], "NOTES.md")
if os.path.exists(notes):
    with open(notes, encoding="utf-8") as file:
        # For the model; `output` would be shown to the person.
        print(json.dumps({"additionalContext": f"Notes: {file.readline().strip()}"}))
"#,
    },
    cases: r#"
[[case]]
name = "it prints the first line of the notes"
files = { "NOTES.md" = "mind the gap\n", ".git/HEAD" = "" }
expect = { decision = "allow", @SAID@ = "^Notes: mind the gap$" }

[[case]]
name = "without notes it has nothing to say"
files = { ".git/HEAD" = "" }
expect = { decision = "allow" }
@NEVER@"#,
};
