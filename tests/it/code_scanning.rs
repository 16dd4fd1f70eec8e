//! SARIF, and code quality of GitLab: the same findings as in the annotations of GitHub, from suites,
//! `validate` and `run`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// A suite in which a case fails, and a configuration with a mistake.
fn sandbox() -> Sandbox {
    let evil = "]##vso[task.setvariable variable=x]1 100%; a\\nb";
    let case = "[[case]]\nname = \"a pipe | and: a comma, too\"\nevent = \"tool.pre\"\n\
                context = { toolName = \"bash\", toolInput = { command = \"ls\" } }\n\
                expect = { decision = \"block\" }\n";
    let body = format!("printf '{{\"output\":\"%s\"}}' '{evil}'");
    Sandbox::new()
        .hook("10 odd.sh", &body)
        .file("hooks.d/tests/my cases.toml", case)
}

/// The commands that have findings, each with its exit status.
fn reports(format: &str) -> Vec<Ran> {
    let sandbox = sandbox();
    let suite = sandbox.hookrun(&["test", "--suite", "--format", format], b"");
    suite.exits(1);
    let sandbox = sandbox.hook("10 odd.sh", "echo 'not in `dist`' >&2; exit 1");
    let run = sandbox.hookrun(&["run", "tool.pre", "--format", format], b"{}");
    run.exits(2).says("not in `dist`");
    let sandbox = sandbox.file("hookrun.toml", "[[hook]]\nnam = \"x\"\n");
    let validate = sandbox.hookrun(&["validate", "--format", format], b"");
    validate.exits(1);
    vec![suite, run, validate]
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn sarif_has_a_result_for_each_finding() {
    let names = ["hookrun-test---suite", "hookrun-run", "hookrun-validate"];
    for (ran, name) in reports("sarif").iter().zip(names) {
        let document = document(ran);
        assert_eq!(document["version"], "2.1.0");
        assert!(
            document["$schema"]
                .as_str()
                .unwrap()
                .ends_with("sarif-2.1.0.json")
        );
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "hookrun");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert!(rules.iter().any(|rule| rule["id"] == name));
        assert_eq!(run["invocations"], json!([{ "executionSuccessful": true }]));
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{document:#}");
        for result in results {
            let rule = rules.iter().find(|rule| rule["id"] == result["ruleId"]);
            let rule = rule.unwrap_or_else(|| panic!("{result:#} has no rule in the list"));
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(!rule[text]["text"].as_str().unwrap().is_empty());
            }
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let print = result["partialFingerprints"]["hookrun/v1"]
                .as_str()
                .unwrap();
            assert_eq!(print.len(), 16);
            let locations = result["locations"].as_array().unwrap();
            assert_eq!(locations.len(), 1, "GitHub refuses {result:#}");
            for location in locations {
                let place = &location["physicalLocation"];
                let uri = place["artifactLocation"]["uri"].as_str().unwrap();
                assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
                if !place["region"].is_null() {
                    assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
                }
            }
        }
    }
    let suite = document(&reports("sarif")[0]);
    let place = &suite["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "hooks.d/tests/my%20cases.toml"
    );
    assert_eq!(
        place["region"],
        json!({ "startLine": 5, "startColumn": 23 })
    );
}

#[test]
fn code_quality_has_an_issue_for_each_finding() {
    let all = reports("gitlab");
    for ran in &all {
        assert!(!document(ran).as_array().unwrap().is_empty(), "{ran:?}");
    }
    // The reason of a block is at the hook.
    let block = &document(&all[1])[0];
    assert_eq!(block["check_name"], "10 odd.sh");
    assert_eq!(
        block["location"],
        json!({ "path": "hooks.d/tool.pre/10 odd.sh", "lines": { "begin": 1 } })
    );
    for issue in all
        .iter()
        .flat_map(|ran| document(ran).as_array().unwrap().clone())
    {
        let keys: Vec<&String> = issue.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "description",
                "check_name",
                "fingerprint",
                "severity",
                "location"
            ]
        );
        let severity = issue["severity"].as_str().unwrap();
        assert!(["info", "minor", "major"].contains(&severity), "{issue}");
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() > 0);
    }
}

/// The results of a decision, each as `RULE FILE:LINE MESSAGE`.
fn results(ran: &Ran) -> Vec<String> {
    let document = document(ran);
    let mut rows = Vec::new();
    for result in document["runs"][0]["results"].as_array().unwrap() {
        let place = &result["locations"][0]["physicalLocation"];
        rows.push(format!(
            "{} {}:{} {}",
            result["ruleId"].as_str().unwrap(),
            place["artifactLocation"]["uri"].as_str().unwrap(),
            place["region"]["startLine"],
            result["message"]["text"].as_str().unwrap()
        ));
    }
    rows
}

#[test]
fn results_have_the_rules_of_findings_and_the_block_is_not_said_twice() {
    let answer = json!({
        "continue": false,
        "reason": "blocked:\nport 22 is open [open-port]\nmain.tf:7: it is public",
        "findings": [
            { "path": "main.tf", "line": 3, "message": "port 22 is open [open-port]" },
            { "path": "main.tf", "line": 7, "message": "it is public", "rule": "public" },
            { "path": "main.tf", "level": "notice", "message": "see [1] [not a word]" },
        ],
    });
    let sandbox = Sandbox::new()
        .hook("10-plan.sh", "cat answer.json")
        .file("answer.json", &answer.to_string())
        .file("main.tf", "");

    let ran = sandbox.hookrun(&["run", "tool.pre", "--format", "sarif"], b"{}");

    assert_eq!(
        results(ran.exits(2)),
        [
            "10-plan.sh/open-port main.tf:3 10-plan.sh: port 22 is open [open-port]",
            "10-plan.sh/public main.tf:7 10-plan.sh: it is public",
            "10-plan.sh main.tf:null 10-plan.sh: see [1] [not a word]",
        ]
    );
    let issues = sandbox.hookrun(&["run", "tool.pre", "--format", "gitlab"], b"{}");
    let mut names = Vec::new();
    for issue in document(&issues).as_array().unwrap() {
        names.push(issue["check_name"].as_str().unwrap().to_string());
    }
    let wanted = ["10-plan.sh/open-port", "10-plan.sh/public", "10-plan.sh"];
    assert_eq!(names, wanted);
}

#[test]
fn a_reason_that_says_more_than_the_findings_is_a_result_at_the_hook() {
    let answer = json!({
        "continue": false,
        "reason": "blocked:\nit is public\nand 3 more",
        "findings": [{ "path": "main.tf", "message": "it is public" }],
    });
    let manifest = "# Hooks\n[[hook]]\nname = \"plan\"\nevent = \"tool.pre\"\n\
                    command = \"cat sub/answer.json\"\n";
    // Readers look for files from the root of the repository.
    let sandbox = Sandbox::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("sub/hookrun.toml", manifest)
        .file("sub/answer.json", &answer.to_string())
        .file("sub/main.tf", "");

    let ran = sandbox.hookrun_as(
        |hookrun| {
            hookrun.current_dir(sandbox.at("sub"));
        },
        &["run", "tool.pre", "--hooks", ".", "--format", "sarif"],
        br#"{"cwd": ".."}"#,
    );

    assert_eq!(
        results(ran.exits(2)),
        [
            "plan sub/main.tf:null plan: it is public",
            "plan sub/hookrun.toml:2 plan blocked tool.pre: blocked:\nit is public\nand 3 more",
        ]
    );
}

#[test]
fn a_block_by_hookrun_itself_has_a_place() {
    let sandbox = Sandbox::new().file("hookrun.toml", "[[hook]]\nnam = \"x\"\n");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--format", "sarif"], b"{}");
    let rows = results(ran.exits(2));
    assert!(
        rows[0].starts_with("hookrun hookrun.toml:null "),
        "{rows:?}"
    );
}

#[test]
fn the_rule_of_a_finding_is_a_word() {
    let answer = json!({ "findings": [{ "path": "a", "message": "b", "rule": "two words" }] });
    let sandbox = Sandbox::new()
        .hook("10-a.sh", "cat answer.json")
        .file("answer.json", &answer.to_string());
    let ran = sandbox.run("tool.pre");
    ran.blocks_saying("`findings.0`: `rule` must be a word of letters, digits");
}

#[test]
fn one_event_and_vectors_are_no_list_of_findings() {
    let sandbox = Sandbox::new();
    for format in ["sarif", "gitlab"] {
        sandbox
            .hookrun(&["test", "tool.pre", "--format", format], b"{}")
            .exits(2)
            .says(&format!("`--format {format}` is only for a suite"));
    }
}
