//! The forms of secrets that are known, and where one of them may stand in a text.

/// A form of secrets.
#[derive(Debug)]
pub struct Rule {
    /// What is put in its place: `[redacted:KIND]`.
    pub kind: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it looks. What the group `keep` matched stays in front, and the group `end` behind.
    /// Words are those of ASCII: `\b` and, only between brackets, `\w`.
    pattern: &'static str,
    /// Where to look for it at all.
    pub(super) hint: Hint,
    /// It has a digit, which tells it from a word.
    pub(super) has_digit: bool,
}

impl Rule {
    /// Its expression. Words of all alphabets would take a hundred times as long to build.
    pub(super) fn expression(&self) -> String {
        self.pattern.replace(r"\b", r"(?-u:\b)").replace(r"\w", "0-9A-Za-z_")
    }
}

/// What a text must have in it for a rule to be tried: cheap, and never too narrow.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hint {
    /// One of these at the beginning of a word.
    Words(&'static [&'static str]),
    /// `=` or `:` after a name in [`NAMES`].
    Assigned,
    /// `@` in the first part of an address.
    Address,
    /// One of these, in any case, somewhere after a `-`.
    Option(&'static [&'static str]),
}

/// Ends of names whose values are secrets.
pub(super) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "access_key_id",
    "accesskeyid",
    "privatekey",
    "private_key",
    "private-key",
    "secretkey",
    "secret_key",
    "secret-key",
    "authorization",
];

const fn rule(kind: &'static str, about: &'static str, hint: Hint, pattern: &'static str) -> Rule {
    Rule { kind, about, pattern, hint, has_digit: false }
}

const fn with_digit(rule: Rule) -> Rule {
    Rule { has_digit: true, ..rule }
}

/// The rules, in the order in which they are tried.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("private-key", "a private key block, PEM or PGP", Hint::Words(&["-----BEGIN "]),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)"),
    rule("aws-key", "an access key id of AWS", Hint::Words(&["AKIA", "ASIA"]),
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    rule("github-token", "a token of GitHub", Hint::Words(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[\w]{20,})"),
    rule("gitlab-token", "a token of GitLab", Hint::Words(&["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"]),
        r"\bgl(?:pat|dt|rt|ptt|cbt)-[\w-]{20,}"),
    with_digit(rule("slack-token", "a token or webhook of Slack", Hint::Words(&["xox", "xapp-", "hooks.slack.com/"]),
        r"\b(?:xox[abeoprs]|xapp)-[\w-]{10,}|\bhooks\.slack\.com/services/[\w/]{20,}")),
    rule("google-key", "an API key of Google", Hint::Words(&["AIza"]),
        r"\bAIza[\w-]{35}"),
    rule("npm-token", "a token of npm", Hint::Words(&["npm_"]),
        r"\bnpm_[A-Za-z0-9]{36}"),
    with_digit(rule("huggingface-token", "a token of Hugging Face", Hint::Words(&["hf_"]),
        r"\bhf_[A-Za-z0-9]{30,}")),
    with_digit(rule("sendgrid-key", "an API key of SendGrid", Hint::Words(&["SG."]),
        r"\bSG\.[\w-]{16,}\.[\w-]{16,}")),
    rule("stripe-key", "a secret key of Stripe", Hint::Words(&["sk_live_", "rk_live_", "sk_test_", "rk_test_"]),
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    with_digit(rule("api-key", "an API key that begins with `sk-`", Hint::Words(&["sk-"]),
        r"\bsk-[\w-]{16,}")),
    rule("jwt", "a JSON web token", Hint::Words(&["eyJ"]),
        r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    rule("authorization", "the credentials of an `Authorization` header", Hint::Assigned,
        r#"(?i)(?P<keep>\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:basic|bearer|token|digest)\s+)[^\s"'\\\[]{8,}"#),
    with_digit(rule("authorization", "a bearer token", Hint::Words(&["Bearer", "bearer", "BEARER"]),
        r"(?i)(?P<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}")),
    rule("address-password", "a password in an address", Hint::Address,
        r#"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'\\\[]*:)[^\s/@"'\\\[][^\s/@"'\\]*(?P<end>@)"#),
    rule("address-password", "a token in an address", Hint::Address,
        r#"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/:@"'\\\[]{20,}(?P<end>@)"#),
    rule("secret", "what is assigned to a telling name: `*_TOKEN=…`, `*_SECRET=…`, `PASSWORD=…`", Hint::Assigned,
        r#"(?P<keep>\b[A-Z0-9_]*(?:API_?KEY|ACCESS_?KEY(?:_ID)?|PRIVATE_?KEY|SECRET(?:_?KEY)?|TOKEN|PASSWORD|PASSWD|PASSPHRASE)=|\b(?:[A-Z0-9_]*_)?PASS=)(?:"[^"\n$<\[][^"\n]*"|'[^'\n$<\[][^'\n]*'|[^\s"'\\$<\[*{(&;][^\s"'\\&;]*)"#),
    rule("secret", "the same in small letters: `password=…`, `api_key=…`", Hint::Assigned,
        r#"(?i)(?P<keep>\b(?:[\w-]*[_-])?(?:password|passwd|passphrase|pwd|secret|(?:api|secret|private|access)[_-]?key|(?:access|auth|refresh|id|api)[_-]?token|token)=)(?:"[^"\n$<\[][^"\n]*"|'[^'\n$<\[][^'\n]*'|[^\s"'\\$<\[*{(&;,)][^\s"'\\&;,)]*)"#),
    with_digit(rule("secret", "the same with blanks, as INI has it: `secret_access_key = …`, with a digit", Hint::Assigned,
        r#"(?i)(?P<keep>\b(?:[\w-]*[_-])?(?:password|passwd|passphrase|secret|(?:api|secret|private|access)[_-]?key|(?:access|auth|refresh|id|api)[_-]?token)(?:[ \t]+=[ \t]*|=[ \t]+))[^\s"'\\\[$<{(&|=~][^\s"'\\]{7,}"#)),
    rule("secret", "the same in quotes: `\"password\": \"…\"`", Hint::Assigned,
        r#"(?i)(?P<keep>\b(?:[\w-]*[_-])?(?:password|passwd|passphrase|pwd|secret|(?:api|secret|private|access)[_-]?key|(?:client|app)[_-]?secret|(?:access|auth|refresh|id|api)[_-]?token|secret[_-]?access[_-]?key)(?:\\*["'])?\s*[:=]\s*\\*["'])[^\s"'\\\[$<{][^\s"'\\]{5,}"#),
    with_digit(rule("secret", "the same as YAML has it: `password: …`, with a digit", Hint::Assigned,
        r#"(?i)(?P<keep>\b(?:[\w-]*[_-])?(?:password|passwd|passphrase|secret|(?:api|secret|private|access)[_-]?key|(?:access|auth|refresh|id|api)[_-]?token):[ \t]+)[^\s"'\\\[$<{(][^\s"'\\]{7,}"#)),
    rule("secret", "an option's: `--password …`, `--token=…`", Hint::Option(&["password", "passwd", "passphrase", "token", "secret", "key"]),
        r#"(?i)(?P<keep>(?:^|[\s"'])--?(?:[\w-]*-)?(?:password|passwd|passphrase|token|secret|(?:api|access|secret|private)-?key)(?:[ \t]+|=)["']?)[^\s"'\\$<\[{(-][^\s"'\\]*"#),
    rule("secret", "the password of `curl -u name:password`", Hint::Words(&["curl"]),
        r#"(?P<keep>\bcurl\b[^\n|;&]*?\s(?:-u|--user|--proxy-user)[ \t=]*["']?[^\s:"'\\]+:)[^\s"'\\$\[][^\s"'\\]*"#),
];

/// A beginning that [`Hint::Words`] looks for, and the number of its rule.
pub(super) type Word = (&'static [u8], usize);

/// How many there are.
const WORD_COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < RULES.len() {
        if let Hint::Words(words) = RULES[at].hint {
            count += words.len();
        }
        at += 1;
    }
    count
};

/// All of them, in one place.
pub(super) static WORDS: [Word; WORD_COUNT] = {
    let mut all: [Word; WORD_COUNT] = [(b"", 0); WORD_COUNT];
    let (mut count, mut at) = (0, 0);
    while at < RULES.len() {
        if let Hint::Words(words) = RULES[at].hint {
            let mut word = 0;
            while word < words.len() {
                all[count] = (words[word].as_bytes(), at);
                count += 1;
                word += 1;
            }
        }
        at += 1;
    }
    all
};

/// What a byte may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Nothing of interest.
    Nothing,
    /// One of [`WORDS`].
    Word,
    /// The value of a name, the host of an address, an option, or an escape.
    Sign,
}

/// What each byte may begin.
pub(super) static BEGINS: [Begins; 256] = {
    let mut begins = [Begins::Nothing; 256];
    let mut at = 0;
    while at < WORDS.len() {
        begins[WORDS[at].0[0] as usize] = Begins::Word;
        at += 1;
    }
    // `-` begins both.
    let signs = b"=:\\-";
    at = 0;
    while at < signs.len() {
        begins[signs[at] as usize] = Begins::Sign;
        at += 1;
    }
    begins
};

/// Pairs of bytes, some of which share a bit: what is not in it is in no word.
pub(super) type Pairs = [u64; 8];

/// Whether a pair may be in it.
pub(super) const fn may_have(pairs: &Pairs, one: u8, other: u8) -> bool {
    let bit = (one as usize * 31 + other as usize) % 512;
    pairs[bit / 64] & (1 << (bit % 64)) != 0
}

const fn with(mut pairs: Pairs, one: u8, other: u8) -> Pairs {
    let bit = (one as usize * 31 + other as usize) % 512;
    pairs[bit / 64] |= 1 << (bit % 64);
    pairs
}

/// The first two bytes of [`WORDS`].
pub(super) static FIRST_TWO: Pairs = {
    let mut pairs = [0; 8];
    let mut at = 0;
    while at < WORDS.len() {
        pairs = with(pairs, WORDS[at].0[0], WORDS[at].0[1]);
        at += 1;
    }
    pairs
};

/// The last two bytes of [`NAMES`].
pub(super) static LAST_TWO: Pairs = {
    let mut pairs = [0; 8];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].as_bytes();
        pairs = with(pairs, name[name.len() - 2], name[name.len() - 1]);
        at += 1;
    }
    pairs
};
