//! The known forms of secrets, and the hints of where one may be in a text.

use crate::engine::names::{names, words};

#[derive(Debug)]
pub struct SecretRule {
    /// What is put in its place: `[redacted:KIND]`.
    pub kind: &'static str,
    pub about: &'static str,
    pub scope: RuleScope,
    /// In what Rust and Python read alike; see [`SecretRule::pattern`].
    form: &'static str,
    pub(super) hint: Hint,
    /// It has a digit, unlike a word.
    pub has_digit: bool,
}

/// Where a form of secrets counts. In logs and recordings all of them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleScope {
    /// The gate for commits too: its form is enough, even in source code.
    Everywhere,
    /// The hooks that keep secrets out of prompts, results and messages too.
    Messages,
    /// Those hooks only where it is of six characters and has a digit. In the source code that
    /// an agent reads it may be an expression, which a log can do without.
    MessagesWithDigit,
}

// As in the scripts that have a copy of the table.
names! {
    RuleScope: Everywhere "everywhere", Messages "messages",
    MessagesWithDigit "messages with a digit",
}

/// Names, or parts of names, whose values are secret. `{name}` in a form.
const NAME: &str = r"(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token)";

/// The value after `NAME=` in a shell or a file of settings, if it is not a variable or command;
/// but `"$(date)hunter2"` has a secret behind one. `{value}` in a form.
const VALUE: &str = r#"(?:"(?:[^"\n$<\[]|{rest})[^"\n]*"|'[^'\n$<\[][^'\n]*'|(?:[^\s"'\\$<\[*{(&;]|{rest})[^\s"'\\&;]*)"#;

/// A variable or command, and what follows it without a gap. `{rest}` in a form.
const REST: &str =
    r#"\$(?:[\w]+[^\w\s"'$/;&|)][A-Za-z0-9]|(?:\{[^}\n]*\}|\([^"\n;|&]{0,200}\))[A-Za-z0-9])"#;

/// The operand of an option. `{operand}` in a form.
const OPERAND: &str = r#"["']?[^\s"'\\$<\[{(-][^\s"'\\]*"#;

/// What may touch the beginning of a word, and is none of its letters: an escape as a shell, JSON or
/// an address writes it (`\n`, `\u000a`, `%0a`), or the end of a terminal's sequence. `{escape}`.
const ESCAPE: &str = r"\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z]";

impl SecretRule {
    /// How it looks, for Rust and for Python with `re.ASCII`. What the group `keep` matched stays
    /// in front, and the group `end` behind. `\w` is always in brackets. In Python a form that
    /// begins with a repetition, or has a long one that it may give up, takes time by the square.
    pub fn pattern(&self) -> String {
        let whole = self.form.replace("{name}", NAME).replace("{value}", VALUE);
        let whole = whole.replace("{rest}", REST).replace("{operand}", OPERAND);
        whole
            .replace("{edge}", r"\b|_|{escape}")
            .replace("{escape}", ESCAPE)
    }

    /// The same for Rust. Words of all alphabets would take a hundred times as long to build.
    pub(super) fn expression(&self) -> String {
        let ascii = self
            .pattern()
            .replace(r"\b", r"(?-u:\b)")
            .replace(r"\w", "0-9A-Za-z_");
        ascii.replace(r"\s", "[[:space:]]")
    }

    /// Every text that it matches has one of these in it, in small or capital letters.
    pub fn words(&self) -> &'static [&'static str] {
        match self.hint {
            Hint::Words(words) | Hint::Option(words) => words,
            Hint::Assigned => ASSIGNED,
            Hint::Address => &["://"],
        }
    }
}

/// What a text must contain before a rule is tried: cheap, and never too narrow.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hint {
    Words(&'static [&'static str]),
    /// `=` or `:` after a name in [`NAMES`].
    Assigned,
    Address,
    /// One of these, in any case, somewhere after a `-`.
    Option(&'static [&'static str]),
}

/// Ends of names whose values are secret, without `_` and `-`.
pub(super) const NAMES: &[&str] = words!(
    "password" "passwd" "passphrase" "pass" "pwd" "secret" "token" "apikey" "appkey" "secretkey"
    "privatekey" "accesskey" "accountkey" "signingkey" "encryptionkey" "masterkey" "deploykey"
    "webhookkey" "accesskeyid" "authorization" "cookie" "sig" "signature"
);

/// What is in all of [`NAMES`].
const ASSIGNED: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "authorization",
    "cookie",
    "sig",
];

const fn rule(
    kind: &'static str,
    about: &'static str,
    hint: Hint,
    form: &'static str,
) -> SecretRule {
    SecretRule {
        kind,
        about,
        scope: RuleScope::Everywhere,
        form,
        hint,
        has_digit: false,
    }
}

impl SecretRule {
    const fn with_digit(self) -> SecretRule {
        SecretRule {
            has_digit: true,
            ..self
        }
    }

    const fn of(self, scope: RuleScope) -> SecretRule {
        SecretRule { scope, ..self }
    }
}

const SERVICES: Hint = Hint::Words(words!(
    "hvs." "hvb." "hvr." "pypi-Ag" "gsk_" "xai-" "pplx-" "r8_" "nvapi-" "dop_v1_" "doo_v1_"
    "dor_v1_" "shpat_" "shpss_" "shpca_" "shppa_" "lin_api_" "figd_" "glsa_" "glc_" "dckr_pat_"
    "dckr_oat_" "rubygems_" "PMAK-" "sntrys_" "sntryu_" "xkeysib-" "tskey-" "ATATT3" "pul-"
    "dp.pt." "dp.st." "sq0atp-" "sq0csp-" "AGE-SECRET-KEY-1" "ntn_" "phc_" "phx_" "cfut_" "CCIPAT_"
));

/// The rules, in the order in which they are tried.
#[rustfmt::skip]
pub const RULES: &[SecretRule] = &[
    rule("private-key", "a private key block, PEM or PGP", Hint::Words(&["-----BEGIN "]),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)"),
    rule("aws-key", "an access key id of AWS", Hint::Words(&["AKIA", "ASIA", "ABIA", "ACCA"]),
        r"(?P<keep>\b|[_a-z]|{escape})(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?:\b|(?P<end>[_a-z]))"),
    rule("aws-key", "one that capital letters or digits touch", Hint::Words(&["AKIA", "ASIA"]),
        r"(?P<keep>[0-9A-Z])A[KS]IA[2-7A-Z]{16}|A[KS]IA[2-7A-Z]{16}(?P<end>[0-9A-Z])").with_digit(),
    rule("aws-secret", "a secret access key of AWS", Hint::Assigned,
        r#"(?i)(?P<keep>secret_?access_?key(?:\\*["'])?\s*(?:=>|:=|[:=])\s*(?:\\*["'])?)[A-Z0-9/+]{20,}"#).with_digit(),
    rule("aws-secret", "what `aws configure set` is given", Hint::Words(&["aws"]),
        r#"(?P<keep>(?:{edge})aws\b[^\n|;&]{0,200}?\sconfigure\s+set\s+[\w.-]*(?:key|token|secret|key_id)\s+){operand}"#).of(RuleScope::MessagesWithDigit),
    rule("github-token", "a token of GitHub", Hint::Words(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]),
        r"(?P<keep>{edge})gh[pousr]_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[\w]{20,}"),
    rule("gitlab-token", "a token of GitLab", Hint::Words(&["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glimt-", "glagent-", "glsoat-", "glft-", "gloas-", "glffct-"]),
        r"(?P<keep>{edge})gl(?:dt|rt|agent|ft)-[\w-]{20,}|gl(?:pat|ptt|cbt|imt|soat|oas|ffct)-[\w-]{20,}"),
    rule("slack-token", "a token or webhook of Slack", Hint::Words(&["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hooks.slack.com"]),
        r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}|(?P<keep>{edge})xapp-[\w-]{10,}|xapp-[0-9]-A[0-9A-Z]{8,}-[\w-]{10,}|hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}").with_digit(),
    rule("google-key", "an API key or OAuth secret of Google", Hint::Words(&["AIza", "GOCSPX-", "ya29."]),
        r"(?P<keep>{edge})(?:AIza[\w-]{35}|ya29\.[\w-]{20,})|AIzaSy[\w-]{33}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{64,}"),
    rule("npm-token", "a token of npm", Hint::Words(&["npm_"]),
        r"npm_[A-Za-z0-9]{36}"),
    rule("huggingface-token", "a token of Hugging Face", Hint::Words(&["hf_"]),
        r"(?P<keep>{edge})hf_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{34}(?:\b|(?P<end>_))").with_digit(),
    rule("sendgrid-key", "an API key of SendGrid", Hint::Words(&["SG."]),
        r"(?P<keep>{edge})SG\.[\w-]{16,}\.[\w-]{16,}|SG\.[\w-]{22}\.[\w-]{43}").with_digit(),
    rule("stripe-key", "a secret key of Stripe", Hint::Words(&["sk_live_", "rk_live_", "whsec_"]),
        r"(?P<keep>{edge})[rs]k_live_[A-Za-z0-9]{16,}|[rs]k_live_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/]{24,}"),
    rule("stripe-key", "a key of Stripe for tests", Hint::Words(&["sk_test_", "rk_test_"]),
        r"(?P<keep>{edge})[rs]k_test_[A-Za-z0-9]{16,}|[rs]k_test_[A-Za-z0-9]{24,}").of(RuleScope::Messages),
    rule("api-key", "an API key that begins with `sk-`, as those of OpenAI and Anthropic", Hint::Words(&["sk-"]),
        r"(?P<keep>{edge})sk-(?:[\w-]{0,80}[_-])?[A-Za-z0-9]{16,}[\w-]*|sk-ant-[a-z]{2,8}[0-9]{2}-[\w-]{20,}|sk-[\w-]{10,160}T3BlbkFJ[\w-]{10,}|sk-or-v1-[0-9a-f]{40,}").with_digit(),
    rule("service-token", "a token of Vault, PyPI, Docker, Shopify, Grafana and others that begins in its own way", SERVICES,
        r"(?P<keep>\b|{escape})(?:hv[sbr]\.|gsk_|xai-|pplx-|r8_|nvapi-|do[opr]_v1_|lin_api_|figd_|gl(?:sa|c)_|rubygems_|tskey-|pul-|dp\.[ps]t\.|ntn_|ph[cx]_|cfut_)[\w.=-]{20,}|(?:pypi-Ag|shp(?:at|ss|ca|pa)_|dckr_[op]at_|PMAK-|sntry[su]_|xkeysib-|tskey-(?:auth|api|client|scim|webhook)-|ATATT3|sq0(?:at|cs)p-|AGE-SECRET-KEY-1|CCIPAT_)[\w.=-]{20,}|(?:hv[sbr]\.|glsa_)[\w-]{24,}|(?:figd_|nvapi-|glc_)[\w-]{40,}|(?:gsk_|pplx-|do[opr]_v1_|lin_api_|rubygems_|pul-|dp\.[ps]t\.|ntn_|ph[cx]_|cfut_)[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{70,}|r8_[A-Za-z0-9]{37}(?:\b|(?P<end>_))").with_digit(),
    rule("azure-key", "a key in a connection string of Azure", Hint::Assigned,
        r"(?i)(?P<keep>(?:Account|SharedAccess)Key=)[A-Z0-9+/]{20,}={0,2}").with_digit(),
    rule("signature", "the signature of a pre-signed address", Hint::Assigned,
        r"(?i)(?P<keep>[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[\w%+/=-]{32,}").of(RuleScope::Messages),
    rule("jwt", "a JSON web token", Hint::Words(&["eyJ"]),
        r"(?P<keep>^|[^\w-]|{escape})eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|eyJ(?:[\w-]{8,200}\.eyJ|(?:hbGci|0eXAi|raWQi|lbmMi|jdHki)[\w-]{0,200}\.)[\w-]{8,}\.[\w-]{8,}").of(RuleScope::Messages),
    rule("authorization", "the credentials of an `Authorization` header", Hint::Assigned,
        r#"(?i)(?P<keep>authorization\\?["']?\s*[:=]\s*\\?["']?(?:basic|bearer|token|digest)\s+)[^\s"'\\\[]{8,}"#).of(RuleScope::Messages),
    rule("authorization", "a bearer token", Hint::Words(&["Bearer", "bearer", "BEARER"]),
        r"(?i)(?P<keep>(?:{edge})bearer\s+)[A-Za-z0-9._~+/=-]{16,}").with_digit().of(RuleScope::Messages),
    rule("cookie", "a `Cookie` header", Hint::Assigned,
        r#"(?i)(?P<keep>cookie\\?["']?\s*:\s*\\?["']?)[\w.!#%&*+^|~-]+=[^\r\n"'\\\[][^\r\n"'\\]*"#).of(RuleScope::Messages),
    rule("address-password", "a password in an address", Hint::Address,
        r#"(?P<keep>[\w]://[^\s/:@"'\\\[]+:)[^\s/@"'\\\[<$*{][^\s/@"'\\]{2,}(?P<end>@)"#),
    rule("address-password", "a short one, or one without a user", Hint::Address,
        r#"(?P<keep>[\w]://[^\s/:@"'\\\[]*:)[^\s/@"'\\\[<$*{][^\s/@"'\\]*(?P<end>@)"#).of(RuleScope::Messages),
    rule("address-password", "a token in an address", Hint::Address,
        r#"(?P<keep>[\w]://)[^\s/:@"'\\\[<$*{][^\s/:@"'\\\[]{19,}(?P<end>@)"#).of(RuleScope::Messages),
    rule("secret", "what is assigned to a telling name in capitals: `*_TOKEN=…`, `SIGNING_KEY=…`, `PASSWORD=…`", Hint::Assigned,
        r"(?P<keep>(?:(?:API|APP|ACCESS|PRIVATE|SECRET|ACCOUNT|SIGNING|ENCRYPTION|MASTER|DEPLOY|WEBHOOK)_?KEY|ACCESS_?KEY_ID|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE)=|(?:{edge})PASS=){value}").of(RuleScope::Messages),
    rule("secret", "the same in small letters: `password=…`, `api_key=…`, `dbPassword=…`", Hint::Assigned,
        r#"(?i)(?P<keep>(?:{name}|token)=)(?:"(?:[^"\n$<\[]|{rest})[^"\n]*"|'[^'\n$<\[][^'\n]*'|(?:[^\s"'\\$<\[*{(&;,)]|{rest})[^\s"'\\&;,()]*(?P<end>[\s"'\\&;,)]|\z))"#).of(RuleScope::MessagesWithDigit),
    rule("secret", "the same of a connection: `Pwd=…`", Hint::Assigned,
        r#"(?i)(?P<keep>(?:{edge})pwd=)["']?[^\s"'\\$<\[{(&;,/~.][^\s"'\\&;,]*"#).of(RuleScope::MessagesWithDigit),
    rule("secret", "the same with blanks, as INI has it: `secret_access_key = …`, with a digit", Hint::Assigned,
        r#"(?i)(?P<keep>{name}(?:[ \t]+=[ \t]*|=[ \t]+))[^\s"'\\\[$<{(&|=~][^\s"'\\]{7,}"#).with_digit().of(RuleScope::Messages),
    rule("secret", "the same in quotes: `\"password\": \"…\"`, of 16 characters", Hint::Assigned,
        r#"(?i)(?P<keep>(?:{name}(?:\\*["'])?\s*[:=]|(?:{edge})pwd\\*["']\s*:)\s*\\*["'])[^\s"'\\\[$<{][^\s"'\\]{15,}"#).of(RuleScope::Messages),
    rule("secret", "a shorter one", Hint::Assigned,
        r#"(?i)(?P<keep>(?:{name}(?:\\*["'])?\s*[:=]|(?:{edge})pwd\\*["']\s*:)\s*\\*["'])[^\s"'\\\[$<{][^\s"'\\]{5,}"#).of(RuleScope::MessagesWithDigit),
    rule("secret", "the same as YAML and headers have it: `clientSecret: …`, `Private-Token: …`, with a digit", Hint::Assigned,
        r#"(?i)(?P<keep>(?:{name}:[ \t]+|-token:[ \t]*))[^\s"'\\\[$<{(][^\s"'\\]{7,}"#).with_digit().of(RuleScope::Messages),
    rule("secret", "an option's: `--password …`, `--token=…`", Hint::Option(&["password", "passwd", "passphrase", "token", "secret", "key"]),
        r#"(?i)(?P<keep>(?:^|[\s"']|{escape})--?(?:[\w-]*-)?(?:password|passwd|passphrase|token|secret|(?:api|access|secret|private|account|signing|encryption|master)-?key)(?:[ \t]+|=)){operand}"#).of(RuleScope::MessagesWithDigit),
    rule("secret", "the password of `curl -u name:password`", Hint::Words(&["curl"]),
        r#"(?P<keep>(?:{edge})curl\b[^\n|;&]{0,200}?\s(?:-[A-Za-z]*u|--user|--proxy-user)[ \t=]*["']?[^\s:"'\\]+:)[^\s"'\\$\[][^\s"'\\]*"#).of(RuleScope::MessagesWithDigit),
    rule("secret", "the password of `mysql -pX` and `7z -pX`", Hint::Words(&["mysql", "mariadb", "7z", "7za", "7zr", "7zz"]),
        r"(?P<keep>(?:{edge})(?:(?:mysql|mariadb)[\w-]*|7z[arz]?)[ \t](?:[^\n|;&]{0,200}?\s)?-p){operand}").of(RuleScope::MessagesWithDigit),
    rule("secret", "the password of `sshpass -p X`, `docker login -p X`, `mongosh -p X` and their like",
        Hint::Words(&["sshpass", "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "az", "oc", "mongo"]),
        r"(?P<keep>(?:{edge})(?:sshpass|mongo[\w]*|(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc)\b[^\n|;&]{0,40}?\slogin)\s(?:[^\n|;&]{0,200}?\s)?-p[ \t=]*){operand}").of(RuleScope::MessagesWithDigit),
    rule("secret", "the password of `redis-cli -a X`, `sqlcmd -P X`, `zip -P X` and `ldapsearch -w X`",
        Hint::Words(&["redis-cli", "valkey-cli", "sqlcmd", "bcp", "zip", "unzip", "ldap"]),
        r"(?P<keep>(?:{edge})(?:(?:redis|valkey)-cli\s(?:[^\n|;&]{0,200}?\s)?-a|(?:sqlcmd|bcp|zip|unzip)\s(?:[^\n|;&]{0,200}?\s)?-P|ldap[\w]+\s(?:[^\n|;&]{0,200}?\s)?-w)[ \t]*){operand}").of(RuleScope::MessagesWithDigit),
    rule("secret", "a pass phrase for openssl: `-passin pass:…`", Hint::Words(&["pass:"]),
        r"(?P<keep>-pass(?:in|out)?[ \t=]+pass:){operand}").of(RuleScope::Messages),
];

/// A set of three bytes in a row: a bit for each, which few others share.
pub(super) type Triples = [u64; 128];

const fn bit_of(bytes: [u8; 3]) -> usize {
    let all = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
    (all.wrapping_mul(0x9e37_79b1) >> 19) as usize
}

pub(super) const fn may_have(triples: &Triples, bytes: [u8; 3]) -> bool {
    let bit = bit_of(bytes);
    triples[bit / 64] & (1 << (bit % 64)) != 0
}

const fn with(mut triples: Triples, bytes: [u8; 3]) -> Triples {
    let bit = bit_of(bytes);
    triples[bit / 64] |= 1 << (bit % 64);
    triples
}

/// The set with three bytes of this word: its sign and the two before it, else the first three.
/// One of two letters ends there.
const fn with_word(mut triples: Triples, word: &str, signed: bool) -> Triples {
    let (letters, sign) = (word.as_bytes(), sign_of(word));
    if signed != (sign > 0) {
        return triples;
    }
    if letters.len() > 2 {
        let start = if signed { sign - 2 } else { 0 };
        return with(
            triples,
            [letters[start], letters[start + 1], letters[start + 2]],
        );
    }
    let mut third = 0u8;
    while third < 128 {
        if !third.is_ascii_alphanumeric() {
            triples = with(triples, [letters[0], letters[1], third]);
        }
        third += 1;
    }
    triples
}

/// Where the first `_`, `-` or `.` of a word is that has two bytes before it; 0 if it has none.
/// Most tokens begin with such a word, and then what is before it need not be looked at.
pub(super) const fn sign_of(word: &str) -> usize {
    let word = word.as_bytes();
    let mut at = 2;
    while at < word.len() {
        if matches!(word[at], b'_' | b'-' | b'.') {
            return at;
        }
        at += 1;
    }
    0
}

const fn of_words(signed: bool) -> Triples {
    let mut triples = [0; 128];
    let mut at = 0;
    while at < RULES.len() {
        if let Hint::Words(words) = RULES[at].hint {
            let mut word = 0;
            while word < words.len() {
                triples = with_word(triples, words[word], signed);
                word += 1;
            }
        }
        at += 1;
    }
    triples
}

/// What the words of all rules begin with, of those without a sign.
pub(super) static FIRST_THREE: Triples = of_words(false);

/// The sign of the others with what is before it.
pub(super) static TO_SIGN: Triples = of_words(true);

/// The rules of such words by this letter of ASCII, a bit each: the one before the sign, or the
/// first.
const fn by_letter(signed: bool) -> [u64; 128] {
    let mut rules = [0; 128];
    let mut at = 0;
    while at < RULES.len() {
        if let Hint::Words(words) = RULES[at].hint {
            let mut word = 0;
            while word < words.len() {
                let sign = sign_of(words[word]);
                if signed == (sign > 0) {
                    let letter = words[word].as_bytes()[sign.saturating_sub(1)];
                    rules[letter as usize] |= 1 << at;
                }
                word += 1;
            }
        }
        at += 1;
    }
    rules
}

pub(super) static OF_FIRST: [u64; 128] = by_letter(false);

pub(super) static OF_LAST: [u64; 128] = by_letter(true);

/// The rules with such a hint, a bit each.
macro_rules! rules_with {
    ($hint:pat) => {{
        let mut rules = 0;
        let mut at = 0;
        while at < RULES.len() {
            if matches!(RULES[at].hint, $hint) {
                rules |= 1 << at;
            }
            at += 1;
        }
        rules
    }};
}

pub(super) const OPTIONED: u64 = rules_with!(Hint::Option(_));
pub(super) const ASSIGNED_RULES: u64 = rules_with!(Hint::Assigned);
pub(super) const ADDRESSED: u64 = rules_with!(Hint::Address);

/// The last two letters of [`NAMES`], behind a zero: there may be a sign before them.
pub(super) static LAST_TWO: Triples = {
    let mut triples = [0; 128];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].as_bytes();
        let last = name.len() - 1;
        triples = with(triples, [0, name[last - 1], name[last]]);
        at += 1;
    }
    triples
};
