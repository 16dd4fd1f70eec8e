//! Which commands a form of `runs` meets.

use hookrun::Event;
use hookrun::internals::hook::{Matcher, PathBase};
use serde_json::json;

/// How a form and a command line fit: `true` and `false` surely, `None` in doubt, which counts on
/// a gate only.
fn fits(form: &str, line: &str) -> Option<bool> {
    let matcher = Matcher::default().runs(form).unwrap();
    let place = PathBase {
        cwd: "/p".into(),
        project: "/p".into(),
    };
    let is_met = |event: &str| {
        let input = json!({ "command": line });
        let event = match event {
            "tool.pre" => Event::tool_pre("bash", input),
            _ => Event::of(
                "tool.post",
                json!({ "toolName": "bash", "toolInput": input, "result": "" }),
            ),
        };
        matcher.decide(&event.unwrap(), &place).is_ok()
    };
    match (is_met("tool.post"), is_met("tool.pre")) {
        (true, true) => Some(true),
        (false, false) => Some(false),
        (false, true) => None,
        (true, false) => panic!("{form} fits `{line}` on a gate only"),
    }
}

#[test]
fn a_form_meets_a_command_wherever_it_is_and_however_it_is_written() {
    let force = "git push --force|-f";
    for line in [
        "git push --force",
        "git push origin main -f",
        "git push -fu origin main",
        "git push -uf",
        "cd x && sudo git -C repo push --force; ls",
        "git -c a=b --no-pager push origin --force=yes",
        "ls\ngit push -f",
        "bash -c 'git push --force'",
        "g''it pu\\sh \"--force\"",
        "/usr/bin/git push -f",
        "\"$HOME\"/bin/git push -f",
        "timeout 5 env A=1 git push -f",
    ] {
        assert_eq!(fits(force, line), Some(true), "{line}");
    }
    for line in [
        "git push",
        "git push --force-with-lease",
        "git push origin fix-f",
        "git push -u origin main",
        "git push -o -f",
        "git push -- -f",
        "git commit -m 'push --force'",
        "git commit -m \"push $x\" -F y",
        "git log push --force",
        "echo git push --force",
        "grep -f push git",
        "git push origin \"feature/$x\"",
    ] {
        assert_eq!(fits(force, line), Some(false), "{line}");
    }
    for line in [
        "git push $x",
        "git push \"$x\"",
        "$x",
        "git $x",
        "g?t push -f",
        "git push 'x",
        "ls | xargs git push",
    ] {
        assert_eq!(fits(force, line), None, "{line}");
    }
}

#[test]
fn operands_options_and_values_are_told_apart() {
    for (form, line, wanted) in [
        ("rm -r|-R|--recursive", "rm -fR x", Some(true)),
        ("rm -r|-R|--recursive", "rm --rec x", Some(true)),
        ("rm -r|-R|--recursive", "rm notes.txt", Some(false)),
        (
            "rsync --del|--delete-*",
            "rsync -a --delete-after a b",
            Some(true),
        ),
        (
            "rsync --del|--delete-*",
            "rsync -a --delay-updates a b",
            Some(false),
        ),
        ("rsync --delete-*", "rsync --delete$x a b", None),
        (
            "terraform apply -auto*",
            "terraform apply -auto-approve",
            Some(true),
        ),
        ("rm -rf", "rm -f -r x", Some(true)),
        ("rm -rf", "rm -r x", Some(false)),
        ("rm -r", "rm -- -r", Some(false)),
        ("git reset --hard", "git reset --har", Some(true)),
        (
            "git push --force-with-lease",
            "git push --force",
            Some(false),
        ),
        ("git push ** +*|:*", "git push origin +main", Some(true)),
        ("git push ** +*|:*", "git push origin main :old", Some(true)),
        ("git push ** +*|:*", "git push origin main", Some(false)),
        ("kubectl delete", "kubectl -n prod delete ns x", Some(true)),
        (
            "kubectl delete",
            "kubectl --context=a --namespace b delete ns",
            Some(true),
        ),
        ("kubectl delete", "kubectl get delete", Some(false)),
        ("mytool delete", "mytool --region eu delete x", None),
        ("mytool delete", "mytool --verbose delete x", Some(true)),
        ("mytool delete", "mytool list delete", Some(false)),
        (
            "docker compose down -v|--volumes",
            "docker compose -f x down -v",
            Some(true),
        ),
        ("truncate -s=0|--size=0", "truncate -s 0 f", Some(true)),
        ("truncate -s=0|--size=0", "truncate -s0 f", Some(true)),
        ("truncate -s=0|--size=0", "truncate --size=0 f", Some(true)),
        ("truncate -s=0|--size=0", "truncate -s 10M f", Some(false)),
        (
            "terraform destroy",
            "terraform -chdir=x destroy",
            Some(true),
        ),
        (
            "terraform apply -destroy",
            "terraform apply -destroy",
            Some(true),
        ),
        ("find -delete", "find . -depth -empty -lname x", Some(false)),
        ("chmod *[2367]", "chmod -R 777 .", Some(true)),
        ("chmod *[2367]", "chmod 755 777", Some(false)),
        ("cp ** /dev/sd* $", "cp x /dev/sda", Some(true)),
        ("cp ** /dev/sd* $", "cp /dev/sda x", Some(false)),
        ("python*|node $", "python3.12", Some(true)),
        ("node $", "node x.js", Some(false)),
        ("sudo", "sudo apt install jq", Some(true)),
        ("sudo|doas", "nohup doas ls", Some(true)),
        ("sudo -u=root", "sudo -n -u root rm x", Some(true)),
        ("sudo -u=root", "sudo -u me rm \"$x\"", Some(false)),
        ("ssh prod*", "ssh -p 22 prod-1 'cd /x && ls'", Some(true)),
        ("ssh prod*", "ssh test-1 reboot", Some(false)),
        ("ssh prod*", "ssh \"$HOST\" ls", None),
        ("bash|sh|zsh $", "cd x && sh", Some(true)),
        ("bash|sh|zsh $", "bash x.sh", Some(false)),
        ("sudo apt", "nice sudo -n apt install jq", Some(true)),
        ("sudo apt", "sudo ls apt", Some(false)),
        ("bash -c", "bash -lc ls", Some(true)),
        (
            "bash|python3 $",
            "bash -c ls; python3 -m json.tool",
            Some(false),
        ),
        ("bash|python3 $", "env A=1 bash", Some(true)),
        ("x *.pem $", "x a.pem.pem", Some(true)),
        ("x a*b*c", "x aXbXbXc", Some(true)),
        ("x a*b*c", "x aXbX", Some(false)),
        ("x ?", "x é", Some(true)),
        ("x [!0-7]*", "x u+x", Some(true)),
        ("x [!0-7]*", "x 7", Some(false)),
        ("x [a-c]]", "x 'b]'", Some(true)),
        ("x [", "x '['", Some(true)),
        ("x ma*", "x \"m$x\"", None),
        ("x ma*", "x \"b$x\"", Some(false)),
        ("/opt/tool", "/opt/tool x", Some(true)),
        ("/opt/tool", "tool x", Some(false)),
        ("* prod", "deploy prod", Some(true)),
        ("git push", "$GIT status", None),
        ("rm", "\"$DIR\"/bin/tool", Some(false)),
        ("npm publish", "npm -w a publish", Some(true)),
        ("dd ** of=/dev/*", "dd if=x of=/dev/sda bs=1M", Some(true)),
        ("dd ** of=/dev/*", "dd if=\"$x\" of=x.img", Some(false)),
        ("dd ** of=/dev/*", "dd if=x of=\"$x\"", None),
        ("psql", "echo 'drop table x' | psql db", Some(true)),
    ] {
        assert_eq!(fits(form, line), wanted, "{form}: {line}");
    }
}

#[test]
fn no_option_hides_what_follows_it() {
    for (form, line, wanted) in [
        ("rm -f", "rm -rf x", Some(true)),
        ("rm build", "rm -r build", Some(true)),
        ("cp secret", "cp -r secret b", Some(true)),
        ("cp b $", "cp -r a b", Some(false)),
        ("mv a", "mv -n a b", Some(true)),
        ("git checkout main", "git checkout -b x main", Some(true)),
        ("chmod 777", "chmod -r 777 b", Some(true)),
        ("rsync ** prod:*", "rsync -l a prod:b", Some(true)),
        ("docker rm mydb", "docker rm -f mydb", Some(true)),
        ("docker rm -v", "docker rm -fv mydb", Some(true)),
        ("docker run alpine", "docker run -t alpine", Some(true)),
        ("docker build .", "docker build -f x .", None),
        (
            "docker compose down",
            "docker compose -f x down",
            Some(true),
        ),
        ("pnpm publish", "pnpm -w publish", Some(true)),
        ("make install", "make -j install", Some(true)),
        ("make install", "make -j 4 install", None),
        // What is not known is a part of the word, or all of the value.
        ("git push", "git -C\"$x\" push", Some(true)),
        ("git push", "git -C$x log push", None),
        ("git push", "git \"-Ca$x\" log push", Some(false)),
        ("kubectl delete", "kubectl -n$NS delete x", Some(true)),
        ("git push -f", "git -C\"$x\" -f push", Some(true)),
        ("git push -f", "git push -u\"$x\"", None),
        ("git push --force", "git push --\"$x\"", None),
        ("git push --force", "git push --fo\"$x\"", None),
        ("git push --force", "git push --tags\"$x\"", Some(false)),
        ("git push -f", "git push -o\"$x\"", Some(false)),
        ("truncate -s=0", "truncate -s\"$x\" f", None),
        (
            "sudo apt install -u",
            "sudo -n apt install -u x",
            Some(true),
        ),
        ("sudo git push main", "sudo git push -u main", Some(true)),
        ("env git push main", "env -u X git push -u main", Some(true)),
        ("sed s/*", "sed -e s/x/y/ f", Some(true)),
    ] {
        assert_eq!(fits(form, line), wanted, "{form}: {line}");
    }
}

#[test]
fn a_form_that_can_mean_nothing_is_an_error() {
    for (form, problem) in [
        ("", "it does not name a program"),
        ("git push (--force|-f)", "`(--force|-f)` has parentheses"),
        ("--force", "it must begin with a program"),
        ("git push|", "an alternative is empty"),
        ("git $ push", "a word follows it"),
        ("git --force|push", "cannot be alternatives"),
        ("git -- x", "leave it out"),
        ("git 'push", "a quote is not closed"),
    ] {
        let error = Matcher::default().runs(form).unwrap_err().to_string();
        assert!(error.contains(problem), "{form}: {error}");
    }
}
