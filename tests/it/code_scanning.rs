//! SARIF, code quality of GitLab, and issues of Azure Pipelines: the same findings as in the
//! annotations of GitHub, from suites, `validate` and `run`.

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
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], name);
        assert_eq!(run["invocations"], json!([{ "executionSuccessful": true }]));
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{document:#}");
        for result in results {
            assert_eq!(result["ruleId"], name);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let print = result["partialFingerprints"]["hookrun/v1"]
                .as_str()
                .unwrap();
            assert_eq!(print.len(), 16);
            for location in result["locations"].as_array().unwrap() {
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
fn code_quality_has_an_issue_for_each_finding_with_a_file() {
    let all = reports("gitlab");
    let counts: Vec<usize> = all
        .iter()
        .map(|ran| document(ran).as_array().unwrap().len())
        .collect();
    // The reason of a block is in no file.
    assert_eq!((counts[0] > 0, counts[1], counts[2] > 0), (true, 0, true));
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

#[test]
fn azure_gets_one_command_for_each_finding_and_none_of_a_hook() {
    for ran in reports("azure") {
        let commands: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.contains("##vso["))
            .collect();
        assert!(!commands.is_empty(), "{ran:?}");
        for command in commands {
            let rest = command.strip_prefix("##vso[task.logissue type=").unwrap();
            let (properties, message) = rest.split_once(']').unwrap();
            assert!(properties.starts_with("error") || properties.starts_with("warning"));
            assert!(
                !message.is_empty() && !message.contains("##vso["),
                "{command}"
            );
        }
    }
    let suite = &reports("azure")[0];
    suite.prints("sourcepath=hooks.d/tests/my cases.toml;linenumber=5;columnnumber=23]");
    suite.prints("100%AZP25; a");
    assert!(
        !suite
            .stdout
            .lines()
            .any(|line| line.starts_with("##vso[task.setvariable"))
    );
}

#[test]
fn one_event_and_vectors_are_no_list_of_findings() {
    let sandbox = Sandbox::new();
    for format in ["sarif", "gitlab", "azure"] {
        sandbox
            .hookrun(&["test", "tool.pre", "--format", format], b"{}")
            .exits(2)
            .says(&format!("`--format {format}` is only for a suite"));
    }
}
