//! What must be known of programs to tell their options from their operands.

/// The options of some programs.
#[derive(Debug)]
pub(super) struct ProgramOptions {
    /// Its names, divided by blanks.
    names: &'static str,
    /// All of its options that take the next word as their value, divided by blanks.
    pub(super) valued: &'static str,
    /// It takes the beginning of a long option for the option: `git reset --har`.
    pub(super) shortens: bool,
    /// Its long options begin with one `-`, and letters are not put together.
    pub(super) has_long_dash: bool,
}

const fn program(names: &'static str, valued: &'static str) -> ProgramOptions {
    ProgramOptions { names, valued, shortens: false, has_long_dash: false }
}

/// Options of git that other options of it begin with: they are never short for those.
pub(super) const WHOLE: &[&str] = &["--force", "--no", "--all", "--tag", "--dry-run", "--recurse"];

/// The programs that policies are mostly about, by their manuals of 2026. Of other programs any
/// option may take the next word.
#[rustfmt::skip]
const PROGRAMS: &[ProgramOptions] = &[
    ProgramOptions { shortens: true, ..program("git",
        "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix -m --message -F --file -o \
         --push-option -b -B --orphan -X --strategy-option --strategy --onto --author --date --since --until --format \
         --pretty --depth --branch --origin --receive-pack --repo --expire --expire-unreachable --source --pathspec-from-file") },
    ProgramOptions { shortens: true, ..program("rm rmdir unlink shred cp mv ln install mkdir touch chmod chown chgrp truncate tee",
        "-s --size -t --target-directory -S --suffix -m --mode -o --owner -g --group -r --reference -n --iterations -d --date") },
    ProgramOptions { has_long_dash: true, ..program("find", "-name -iname -path -ipath -type -maxdepth -mindepth -newer -mtime -size -user -perm -regex -exec") },
    ProgramOptions { has_long_dash: true, ..program("terraform tofu terragrunt", "") },
    program("kubectl oc k9s", "-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group \
         -l --selector -f --filename -o --output -c --container --field-selector --grace-period --timeout -k --kustomize -p --patch --type --replicas"),
    program("helm", "-n --namespace --kube-context --kubeconfig -f --values --set --set-string --version --repo --timeout"),
    program("docker podman nerdctl", "-H --host -c --context --config -l --log-level -f --file -p --project-name --profile --env-file \
         --project-directory --filter -v --volume -e --env --name --network -w --workdir -u --user --entrypoint --mount -t --timeout --tag --publish --label --platform --memory --cpus"),
    program("docker-compose", "-f --file -p --project-name --profile --env-file --project-directory -H --host -t --timeout"),
    program("npm pnpm yarn bun", "-w --workspace --registry --prefix --tag --otp --access -C --dir --filter --cwd"),
    program("pip pip3 uv", "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --python -p --prefix --root --index"),
    program("cargo", "-p --package --manifest-path --target --target-dir --features -F -j --jobs --bin --example --test --bench --profile --registry --index --token --config -Z --color"),
    program("apt apt-get dnf yum brew pacman apk", "-o -c -t --target-release"),
    program("aws", "--profile --region --endpoint-url --output --query --bucket --key --cli-input-json"),
    program("gcloud", "--project --account --configuration --format --zone --region --impersonate-service-account"),
    program("az", "--subscription -g --resource-group -n --name -o --output --query"),
    program("gh", "-R --repo -b --body -t --title -F --body-file -B --base -H --head -X --method -f -q --jq --json -l --label"),
    program("psql", "-c --command -d --dbname -f --file -h --host -p --port -U --username -v --set -o --output -L"),
    program("mysql mariadb", "-e --execute -h --host -P --port -u --user -D --database -S --socket"),
    program("curl", "-X --request -H --header -d --data --data-raw --data-binary -o --output -u --user -F --form -T --upload-file \
         -A --user-agent -e --referer -b --cookie -c --cookie-jar -K --config -m --max-time -x --proxy -w --write-out --url --cacert --cert --key"),
    program("wget", "-O --output-document -o --output-file -P --directory-prefix -U --user-agent --header --post-data --post-file -i --input-file -t --tries -T --timeout"),
    program("ssh mosh", "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w"),
    program("scp rsync", "-c -D -F -i -J -l -o -P -S -X -e --rsh -f --filter --exclude --include --rsync-path -T --temp-dir -B --port"),
    program("sudo", "-C -D -g -h -p -R -r -T -t -U -u --chdir --group --host --prompt --chroot --role --user"),
    program("sh bash dash zsh ksh", "-o -O --rcfile --init-file"),
    program("python python3", "-W -X"),
    program("node ruby perl php", ""),
    program("systemctl service journalctl", "-H --host -M --machine -t --type -p --property -n --lines -u --unit -s --signal"),
    program("kill pkill killall", "-s --signal -u --euid -U --uid -t --terminal -P --parent -g --pgroup"),
    program("make", "-C --directory -f --file -I -j --jobs -l --load-average -o -W"),
];

/// What is known of a program, by its base name.
pub(super) fn find(name: &str) -> Option<&'static ProgramOptions> {
    PROGRAMS.iter().find(|row| row.names.split(' ').any(|known| known == name))
}

impl ProgramOptions {
    /// Whether this option takes the next word.
    pub(super) fn takes_value(&self, option: &str) -> bool {
        self.valued.split_ascii_whitespace().any(|known| known == option)
    }
}
