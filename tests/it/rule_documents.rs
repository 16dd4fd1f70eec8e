//! Rules over documents: `documents` and paths in `where`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const EVENT: &str = "[event.\"plan.pre\"]\nsummary = \"a plan is about to be applied\"\n";

/// A project with one rule over documents.
fn with_rule(keys: &str) -> Sandbox {
    let rule = format!("{EVENT}\n[[rule]]\nname = \"plan\"\nevent = \"plan.pre\"\n{keys}\n");
    Sandbox::new().file("hookrun.toml", &rule)
}

const PUBLIC: &str = r#"documents = "plan.json"
where = { "resource_changes[].change.after.acl" = "^public" }
deny = "{resource_changes[].address}: `{value}` at {path}""#;

/// A plan with a bucket for each of these, by their names.
fn plan(buckets: &[(&str, Value)]) -> String {
    let mut changes = Vec::new();
    for (name, after) in buckets {
        changes.push(json!({ "address": name, "type": "bucket", "change": { "after": after } }));
    }
    serde_json::to_string_pretty(&json!({ "resource_changes": changes })).unwrap()
}

fn decided(sandbox: &Sandbox) -> Ran {
    sandbox.run("plan.pre")
}

#[test]
fn every_match_is_a_line_of_the_reason_and_a_finding() {
    let buckets = [
        ("a", json!({ "acl": "private" })),
        ("b", json!({ "acl": "public-read" })),
        ("c", json!({})),
        ("d", json!({ "acl": "public-read-write" })),
    ];
    let sandbox = with_rule(PUBLIC).file("plan.json", &plan(&buckets));

    let ran = decided(&sandbox);

    ran.blocks_saying(
        "plan.json:17: b: `public-read` at resource_changes[1].change.after.acl\n\
         plan.json:33: d: `public-read-write` at resource_changes[3].change.after.acl",
    );
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["findings"][0]["path"], "plan.json");
    assert_eq!(answer["findings"][0]["line"], 17);
    let sandbox = with_rule(PUBLIC).file("plan.json", &plan(&buckets[..1]));
    decided(&sandbox).allows();
}

#[test]
fn conditions_and_exceptions_are_about_one_element() {
    let keys = r#"documents = "plan.json"
where = { "resource_changes[].type" = "^bucket$", "resource_changes[].change.after.acl" = "." }
except = { where = { "resource_changes[].change.after.tags[]" = "^ok$", "version" = "^1" } }
deny = "{resource_changes[].address}""#;
    let open = json!({ "acl": "x" });
    let tagged = json!({ "acl": "x", "tags": ["no", "ok"] });
    let text = plan(&[("a", open), ("b", tagged)]);
    let with_version = text.replacen('{', "{\"version\": 1.5,", 1);

    decided(&with_rule(keys).file("plan.json", &with_version)).blocks_saying(": a");
    let ran = decided(&with_rule(keys).file("plan.json", &text));

    ran.blocks_saying(": a\n").blocks_saying(": b");
    let other = text.replace("bucket", "disk");
    decided(&with_rule(keys).file("plan.json", &other)).allows();
}

#[test]
fn yaml_and_toml_are_read_and_globs_name_many() {
    let keys = r#"documents = ["k8s/**/*.yaml", "app.toml"]
where = { "spec.containers[].securityContext.privileged" = "true" }
deny = "{file} {spec.containers[].name} {value}""#;
    let pod = "spec:\n  containers:\n    - &c\n      name: a\n      securityContext: {privileged: yes}\n    - <<: *c\n      name: b\n";
    let sandbox = with_rule(keys)
        .file("k8s/one.yaml", "spec: {}\n---\nkind: x\n")
        .file("k8s/deep/er/two.yaml", pod)
        .file("k8s/three.txt", pod)
        .file(
            "app.toml",
            "[[spec.containers]]\nname = \"t\"\nsecurityContext.privileged = true\n",
        );

    decided(&sandbox).blocks_saying(
        "k8s/deep/er/two.yaml:5: k8s/deep/er/two.yaml a true\n\
         k8s/deep/er/two.yaml:5: k8s/deep/er/two.yaml b true\n\
         app.toml:3: app.toml t true",
    );
}

#[test]
fn each_value_of_a_table_is_an_element_and_a_dot_can_be_in_a_key() {
    let keys = r#"documents = "ci.yml"
where = { 'jobs[].permissions.a\.b' = "write" }
ask = "{path}?""#;
    let sandbox =
        with_rule(keys).file("ci.yml", "jobs:\n  build:\n    permissions: {a.b: write}\n");
    decided(&sandbox).blocks_saying("ci.yml:3: jobs[build].permissions.a.b?");
}

#[test]
fn a_key_that_appears_twice_counts_twice() {
    let keys = "documents = \"a.json\"\nwhere = { acl = \"public\" }\ndeny = \"no\"";
    let sandbox = with_rule(keys).file("a.json", r#"{"acl": "public", "acl": "private"}"#);
    decided(&sandbox).blocks_saying("a.json:1: no");
}

#[test]
fn a_document_that_cannot_be_read_blocks_with_file_line_and_cure() {
    let cases = [
        (
            "other.json",
            "{}",
            "`plan.json` cannot be read: No such file",
        ),
        (
            "plan.json",
            "{\n \"a\": }",
            "`plan.json:2` cannot be read: ",
        ),
        ("plan.json", "", "`plan.json:1` cannot be read: "),
    ];
    for (file, text, cause) in cases {
        let ran = decided(&with_rule(PUBLIC).file(file, text));
        ran.exits(2)
            .says("hook `plan` failed: never ran: ")
            .says(cause);
        ran.says("; ");
    }
    let keys = PUBLIC.replace("plan.json", "k8s/*.yaml");
    decided(&with_rule(&keys))
        .says("no file matches `k8s/*.yaml`; create the file before this event");
    let yaml = with_rule(&keys).file("k8s/a.yaml", "a: [1\nb: 2\n");
    decided(&yaml)
        .exits(2)
        .says("`k8s/a.yaml:2` cannot be read: ");
    let bytes = with_rule(PUBLIC);
    std::fs::write(bytes.at("plan.json"), b"{\"a\":\n \"\xff\"}").unwrap();
    decided(&bytes)
        .exits(2)
        .says("`plan.json:2` is not UTF-8; save it as UTF-8");
    let pipe = with_rule(PUBLIC);
    std::process::Command::new("mkfifo")
        .arg(pipe.at("plan.json"))
        .status()
        .unwrap();
    decided(&pipe).exits(2).says("it is not a file");
    let odd = with_rule(&PUBLIC.replace("plan.json", "plan.txt")).file("plan.txt", "{}");
    decided(&odd)
        .exits(2)
        .says("must end with `.json`, `.yaml`, `.yml` or `.toml`");
}

#[test]
fn many_matches_are_cut() {
    let keys = "documents = \"a.json\"\nwhere = { \"[]\" = \"x\" }\ndeny = \"no\"";
    let list: Vec<&str> = vec!["x"; 60];
    let sandbox = with_rule(keys).file("a.json", &json!(list).to_string());
    decided(&sandbox).exits(2).says("and 10 more");
}

#[test]
fn mistakes_are_errors_of_the_configuration() {
    for (keys, problem) in [
        (
            "documents = \"a.json\"\ndeny = \"no\"",
            "the rule has no `where` for its documents",
        ),
        (
            "documents = []\nwhere = { a = \"b\" }\ndeny = \"no\"",
            "name a file or a glob",
        ),
        (
            "documents = \"a[\"\nwhere = { a = \"b\" }\ndeny = \"no\"",
            "`a[` is not a valid pattern",
        ),
        (
            "documents = \"a.json\"\nwhere = { \"a..b\" = \"b\" }\ndeny = \"no\"",
            "`a..b` is not a valid path in `where`",
        ),
        (
            "documents = \"a.json\"\nwhere = { \"a[0]\" = \"b\" }\ndeny = \"no\"",
            "write `[]` for each element",
        ),
        (
            "where = { \"a[].b\" = \"x\" }\ndeny = \"no\"",
            "`[]` needs a rule with `documents`",
        ),
        (
            "documents = \"a.json\"\nwhere = { a = \"(\" }\ndeny = \"no\"",
            "`(` is not a valid pattern",
        ),
    ] {
        let ran = with_rule(keys).hookrun(&["validate"], b"");
        assert_eq!(ran.status, 1, "{keys}: {ran:?}");
        ran.prints(problem).prints("hookrun.toml:");
    }
}

#[test]
fn a_rule_over_documents_is_listed_explained_tested_and_covered() {
    let sandbox = with_rule(PUBLIC)
        .file("plan.json", &plan(&[("b", json!({ "acl": "public-read" }))]))
        .file(
            "hooks.d/tests/plan.toml",
            "[[case]]\nname = \"public\"\nevent = \"plan.pre\"\ncontext = {}\n\
             files = { \"plan.json\" = '{\"resource_changes\": [{\"address\": \"b\", \"change\": {\"after\": {\"acl\": \"public\"}}}]}' }\n\
             expect = { decision = \"block\", findings = 'error plan.json:1 b: `public`' }\n",
        );
    let wants = "documents plan.json, where resource_changes[].change.after.acl /^public/";
    sandbox.hookrun(&["list"], b"").exits(0).prints(wants);
    let ran = sandbox.hookrun(&["test", "plan.pre"], b"{}");
    ran.exits(1).prints("plan.json:8: b: `public-read`");

    let short = sandbox.hookrun(&["test", "--suite", "--coverage=100"], b"");

    short.exits(1).prints("allowed");
    let case = "\n[[case]]\nname = \"private\"\nevent = \"plan.pre\"\ncontext = {}\nfiles = { \"plan.json\" = '{}' }\n\
                expect = { decision = \"allow\" }\n";
    let cases = sandbox.read("hooks.d/tests/plan.toml") + case;
    let sandbox = sandbox.file("hooks.d/tests/plan.toml", &cases);
    let whole = sandbox.hookrun(&["test", "--suite", "--coverage=100"], b"");
    whole.exits(0);
}

#[test]
fn explain_says_what_a_rule_finds_now() {
    let rule = "[[rule]]\nruns = \"kubectl apply\"\ndocuments = \"a.yaml\"\n\
                where = { kind = \"^Secret$\" }\ndeny = \"{file} is a secret\"\n";
    let sandbox = Sandbox::new().file("hookrun.toml", rule);
    let ran = |sandbox: &Sandbox| sandbox.hookrun(&["explain", "kubectl apply -f a.yaml"], b"");
    ran(&sandbox).prints("matches runs kubectl apply, documents a.yaml, where kind /^Secret$/");
    ran(&sandbox).prints("deny: `a.yaml` cannot be read");
    let sandbox = sandbox.file("a.yaml", "kind: Secret\n");
    ran(&sandbox).prints("deny: a.yaml:1: a.yaml is a secret");
    let sandbox = sandbox.file("a.yaml", "kind: List\n");
    assert!(!ran(&sandbox).stdout.contains("deny"));
}

#[test]
fn a_rule_that_nobody_trusts_blocks_whatever_is_in_its_documents() {
    let sandbox = with_rule(PUBLIC).file("plan.json", "{}").without_trust();
    decided(&sandbox).exits(2).says("trust");
}

/// YAML as compact JSON.
fn json_of(yaml: &str) -> String {
    let ran = Sandbox::new().hookrun(&["hook", "json", "yaml"], yaml.as_bytes());
    assert_eq!(ran.status, 0, "{yaml}: {ran:?}");
    ran.stdout.trim().to_string()
}

#[test]
fn scalars_of_yaml_are_what_clusters_take_them_for() {
    let cases = [
        ("yes", "true"),
        ("Off", "false"),
        ("~", "null"),
        ("\"yes\"", "\"yes\""),
        ("!!str 1", "\"1\""),
        ("!!int \"1\"", "1"),
        ("!Ref x", "\"x\""),
        ("0x10", "16"),
        ("010", "8"),
        ("00", "0"),
        ("1_000", "1000"),
        ("-3", "-3"),
        ("--3", "\"--3\""),
        ("1.5", "1.5"),
        (".5e1", "5.0"),
        ("inf", "\"inf\""),
        ("1.2.3", "\"1.2.3\""),
        ("2024-01-01", "\"2024-01-01\""),
        ("0-1", "\"0-1\""),
        ("0x", "\"0x\""),
        ("dead", "\"dead\""),
    ];
    let mut yaml = String::new();
    let mut json = Vec::new();
    for (written, value) in cases {
        yaml.push_str(&format!("- {written}\n"));
        json.push(value);
    }
    assert_eq!(
        json_of(&yaml).replace('\n', ""),
        format!("[{}]", json.join(","))
    );
}

#[test]
fn aliases_and_merges_of_yaml_are_replaced_up_to_a_bound() {
    assert_eq!(
        json_of("{a: &x {k: 1, on: b}, b: {<<: *x, k: 2}, c: {<<: [*x, {z: 3}]}, d: {<<: text}}"),
        r#"{"a":{"k":1,"on":"b"},"b":{"k":2,"on":"b"},"c":{"k":1,"on":"b","z":3},"d":{"<<":"text"}}"#
    );
    let mut bomb = "a0: &a0 [x, x]\n".to_string();
    for level in 1..40 {
        bomb.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
    }
    for (yaml, problem) in [
        (bomb.as_str(), "aliases expand to more than 4000000 values"),
        ("a: &x [*x]\n", "an alias without an anchor above it"),
        ("? [a]\n: b\n", "a key must be text"),
        (&"[".repeat(1000), "recursion limit exceeded"),
        (&"- ".repeat(200), "nested too deep"),
        ("a: 1\nb: [\n", "line 3 of stdin: "),
    ] {
        let ran = Sandbox::new().hookrun(&["hook", "json", "yaml"], yaml.as_bytes());
        ran.exits(2).says(problem);
    }
}

#[test]
fn yaml_becomes_json_on_the_same_lines() {
    let sandbox = Sandbox::new();
    let yaml = "# \u{e4}\na:\n  - \u{e4}: 1\n    on: yes\n\n  - [2, ~]\n---\nb: {}\n";
    let ran = sandbox.hookrun(&["hook", "json", "yaml"], yaml.as_bytes());
    ran.exits(0);
    assert_eq!(
        ran.stdout,
        "\n{\"a\":\n[{\"\u{e4}\":1,\n\"on\":true},\n\n[2,null]]} \n\n{\"b\":{}} \n"
    );
    let toml = sandbox.hookrun(&["hook", "json", "toml"], b"\n[[p]]\nn = \"a\"\n");
    assert_eq!(toml.stdout, "{\n\"p\":[{\n\"n\":\"a\"}]} \n");
    let bad = sandbox.hookrun(&["hook", "json", "toml"], b"\na =\n");
    bad.exits(2).says("line 2 of stdin: ");
}
