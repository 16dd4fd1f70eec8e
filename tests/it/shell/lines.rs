//! Command lines made at random, with all that bash has.

use std::fmt::Write as _;

use super::bash::PROGRAMS;

const WORDS: &[&str] = &[
    "a",
    "b.txt",
    "-f",
    "--force",
    "push",
    "x=y",
    "-rf",
    "--opt=v",
    "src/main.rs",
    "1",
    "é",
    "-",
    "--",
    "if",
    "done",
    "{}",
    "a,b",
    "!",
    "#no",
    "[",
    "]",
    "in",
    "case",
    "time",
    "coproc",
    "esac",
];

/// Words that are more than letters.
const ODD: &[&str] = &[
    "$v",
    "\"$v\"",
    "$1",
    "${#v}",
    "{1..3}",
    "*",
    "a?",
    "~",
    "\"\"",
    "''",
    "$'a\\nb'",
    "$\"x\"",
    "'a b'",
    "\"it's\"",
    "';'",
    "'$(rm)'",
    "a#b",
    "${v:=x}",
    "${v/a/b}",
    "\"${v}a\"",
    "\"$@\"",
    "$'\\'rm'",
    "\\;",
    "\"\\\"\"",
    "{a,{b,c}}",
    "x{,y}",
    "[a-z]",
    "@",
    "%",
    "'\n'",
    "\"a\\\nb\"",
    "a\\\nb",
    "$((1<<2))",
    "$[1+1]",
    "\"`:`\"",
    "${v:-'}'}",
    "{rm",
    "rm}",
    "=",
    "a=(",
    "\\$(rm)",
];

const WRAPPERS: &[&str] = &[
    "env ",
    "env -i PATH=\"$PATH\" LOG=\"$LOG\" ",
    "env X=1 Y=2 ",
    "env -u X - PATH=\"$PATH\" LOG=\"$LOG\" ",
    "env -S 'X=1 nice' ",
    "nice -n 5 ",
    "nice ",
    "nice -3 ",
    "nohup ",
    "timeout 9 ",
    "timeout -k 1 9s ",
    "timeout --signal=KILL 9 ",
    "timeout --foreground --kill-after 1 9 ",
    "setsid -w ",
    "stdbuf -oL ",
    "stdbuf -i0 --output=L ",
    "command ",
    "command -- ",
    "command -p -- ",
    "xargs -n1 ",
    "xargs -I% ",
    "xargs --max-args=2 ",
    "sudo ",
    "sudo -u root ",
    "sudo -n -E ",
    "sudo X=1 ",
    "exec ",
    "builtin command ",
    "flock l ",
    "flock -n l ",
    "env nice sudo ",
    "eval ",
    "exec -a x ",
];

const REDIRECTS: &[&str] = &[
    " > o",
    " >> o",
    " 2>&1",
    " 2>/dev/null",
    " &> o",
    " </dev/null",
    " >&2",
    " <<< hi",
    " >| o",
    " {fd}> o",
    " 3>&1",
    " &>> o",
    " <> o",
    " 2>&-",
];

/// A source of command lines; the same numbers give the same line.
pub(super) struct Lines(u64);

impl Lines {
    pub(super) fn new(seed: u64, number: u64) -> Lines {
        let mixed = (seed << 32 ^ number)
            .wrapping_add(1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut lines = Lines(mixed | 1);
        (0..10).for_each(|_| _ = lines.next());
        lines
    }

    pub(super) fn line(&mut self) -> String {
        let depth = self.below(4);
        self.list(depth)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A word in one of the ways to write it.
    fn quoted(&mut self, text: &str) -> String {
        let way = self.below(9);
        let (first, rest) = text.split_at_checked(1).unwrap_or((text, ""));
        match way {
            0 => format!("'{text}'"),
            1 => format!("\"{text}\""),
            2 => text.chars().map(|c| format!("\\{c}")).collect(),
            3 => {
                let bytes: String = text.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
                format!("$'{bytes}'")
            }
            4 if !rest.is_empty() => format!("{first}''{rest}"),
            5 if !rest.is_empty() => format!("{first}\"{rest}\""),
            6 if !rest.is_empty() => format!("{first}\\\n{rest}"),
            _ => text.to_string(),
        }
    }

    fn word(&mut self, depth: u64) -> String {
        match self.below(if depth == 0 { 9 } else { 21 }) {
            8 => self.one(ODD).to_string(),
            9 => format!("$({})", self.list(depth - 1)),
            10 => format!("\"$({})\"", self.list(depth - 1)),
            11 => format!(
                "`{}`",
                self.list(0).replace('\\', "\\\\").replace('`', "\\`")
            ),
            12 => format!("${{v:-{}}}", self.word(depth - 1).replace('}', "_")),
            13 => format!(
                "$(( 1 + $({} >/dev/null; echo 2) ))",
                self.simple(depth - 1)
            ),
            14 => format!("<({})", self.list(depth - 1)),
            15 => format!(
                "{{{},{}}}",
                self.one(&["a", "b"]),
                self.one(&["c", "d", "'e f'"])
            ),
            16 => format!("\"${{v:-$({})}}\"", self.list(depth - 1)),
            17 => format!("a\"b$({})c\"'d'", self.list(depth - 1)),
            18 => format!("$(\n# it's a ) comment\n{}\n)", self.list(depth - 1)),
            19 => format!("\"$(cat <<'E{depth}'\nDon't ) \" `\nE{depth}\n)\""),
            20 => format!("$({{ {}; }} 2>&1 | cat)", self.list(depth - 1)),
            _ => {
                let text = self.one(WORDS);
                let quoted = self.quoted(text);
                match quoted.chars().next() {
                    Some('#') => format!("'{text}'"),
                    _ => quoted,
                }
            }
        }
    }

    fn simple(&mut self, depth: u64) -> String {
        let mut text = String::new();
        if self.chance(5) {
            text.push_str(self.one(&["2>/dev/null ", "> o ", "< /dev/null "]));
        }
        if self.chance(10) {
            write!(
                text,
                "{}{} ",
                self.one(&["A=", "B+=", "arr[1]="]),
                self.word(0)
            )
            .unwrap();
        }
        // A mark or `time` begins a pipeline, and is a word after anything else.
        if text.is_empty() && self.chance(10) {
            text.push_str(self.one(&["! ", "time ", "time -p ", "! time "]));
        }
        if self.chance(30) {
            text.push_str(self.one(WRAPPERS));
        }
        let program = self.one(PROGRAMS);
        let is_quoted = self.chance(20);
        let written = if is_quoted {
            self.quoted(program)
        } else {
            program.to_string()
        };
        text.push_str(&written);
        for _ in 0..self.below(4) {
            write!(
                text,
                "{}{}",
                self.one(&[" ", " ", " ", "  ", "\t", " \\\n"]),
                self.word(depth)
            )
            .unwrap();
        }
        if self.chance(12) {
            text.push_str(self.one(REDIRECTS));
        }
        text
    }

    /// A command that every shell reads like bash.
    fn plain(&mut self) -> String {
        let mut text = format!(
            "{}{}",
            self.one(&["", "env ", "nice -n 5 ", "sudo "]),
            self.one(PROGRAMS)
        );
        for _ in 0..self.below(4) {
            let word = self.one(&[
                "a", "-f", "'b c'", "\"d\"", "\\e", "x=y", "$v", "$(ls a)", "`ls b`",
            ]);
            write!(text, " {word}").unwrap();
        }
        text
    }

    fn command(&mut self, depth: u64) -> String {
        let Some(d) = depth.checked_sub(1) else {
            return self.simple(0);
        };
        match self.below(42) {
            0 => format!("( {} )", self.list(d)),
            1 => format!(
                "{{ {}; }}{}",
                self.list(d),
                self.one(&["", " > o", " 2>&1"])
            ),
            2 => format!(
                "if {}; then {}; else {}; fi",
                self.list(d),
                self.list(d),
                self.list(d)
            ),
            3 => format!(
                "if ! {}\nthen {}; elif {}; then {}; fi",
                self.simple(d),
                self.list(d),
                self.list(d),
                self.list(d)
            ),
            4 => format!(
                "for i in {} {}; do {}; done",
                self.word(d),
                self.word(0),
                self.list(d)
            ),
            5 => format!("while {}; do {}; break; done", self.list(d), self.list(d)),
            6 => format!("until {}\ndo {}; break; done", self.list(d), self.list(d)),
            7 => format!(
                "case {} in x) {};; (*) {};; esac",
                self.word(0),
                self.list(d),
                self.list(d)
            ),
            8 => format!(
                "case a in a) {};& b | c) {};;& *) {}\nesac",
                self.list(d),
                self.list(d),
                self.list(d)
            ),
            9 => format!("f() {{ {}; }}; f", self.list(d)),
            10 => format!("function g {{ {}\n}}; g a", self.list(d)),
            11 => format!("h() ( {} ); h > o", self.list(d)),
            12 => format!("bash -c {}", quote(&self.list(d))),
            13 => format!("bash -euc {} x y", quote(&self.list(d))),
            14 => format!("sh -ec {}", quote(&self.plain())),
            15 => format!("eval {}", quote(&self.list(d))),
            16 => format!("trap {} EXIT", quote(&self.list(d))),
            17 => format!("{{ bash <<'E{depth}'\n{}\nE{depth}\n}}", self.list(d)),
            18 => format!("{{ cat <<E{depth}\nx $({}) y\nE{depth}\n}}", self.simple(0)),
            19 => format!(
                "cat <<-E{depth} | bash\n\t{}\n\tE{depth}\n:",
                self.simple(0)
            ),
            20 => format!(
                "cat <<'E{depth}' > o; {}\ntext of rm x; `\nE{depth}\n:",
                self.simple(0)
            ),
            21 => format!(
                "cat <<A{depth} <<'B{depth}'\na\nA{depth}\n$(rm b)\nB{depth}\n{}",
                self.simple(0)
            ),
            22 => format!("[[ -n {} && {} != a ]]", self.word(d), self.word(0)),
            23 => format!("[[ a =~ ^(a|b)$ || ( -z $({}) ) ]]", self.simple(0)),
            24 => format!("(( 1 + $({} >/dev/null; echo 1) ))", self.simple(0)),
            25 => format!("for ((i = 0; i < 2; i++)); do {}; done", self.list(d)),
            26 => format!("bash <<< {}", quote(&self.list(d))),
            27 => format!(
                "find . -maxdepth 0 -exec {} {} {{}} \\;",
                self.one(PROGRAMS),
                self.one(&["a", "-f", "'b c'", "+"])
            ),
            28 => format!("find . -maxdepth 0 -exec {} a {{}} +", self.one(PROGRAMS)),
            29 => format!("{{ coproc {{ {}; }}; wait; }} 2>/dev/null", self.list(d)),
            30 => format!("{{ coproc N {{\n{}\n}}; wait; }} 2>/dev/null", self.list(d)),
            31 => format!("B=$({})", self.list(d)),
            32 => format!("arr=({} $({}) [3]=x)", self.word(0), self.list(d)),
            33 => format!("local_() {{ local x=$({}) y; }}; local_", self.list(d)),
            34 => format!("echo {} | bash", quote(&self.plain())),
            35 => format!("printf '%s' {} | sh -s", quote(&self.plain())),
            36 => {
                format!(
                    "P={}; $P a; Q='-f'; {} $Q \"$Q\"",
                    self.one(PROGRAMS),
                    self.one(PROGRAMS)
                )
            }
            37 => format!("echo a b | while read -r x; do {}; done", self.list(d)),
            38 => format!(
                "echo {} | xargs -I@ sh -c {}",
                self.one(PROGRAMS),
                quote(&format!("{} @", self.one(PROGRAMS)))
            ),
            39 => format!("! {} # it's ) a \" comment\n:", self.simple(d)),
            _ => self.simple(depth),
        }
    }

    fn list(&mut self, depth: u64) -> String {
        const JOINTS: &[&str] = &[
            "; ", " && ", " || ", " | ", " & ", "\n", " |& ", " &&\n", ";\n\n", "|\n",
        ];
        let mut text = self.command(depth);
        for _ in 0..self.below(3) {
            text.push_str(self.one(JOINTS));
            text.push_str(&self.command(depth));
        }
        text
    }
}

/// A text between single quotes.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
