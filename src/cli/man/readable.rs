//! A manual page as plain text, for readers without a pager: a pipe, an agent, a system without
//! `man`. It knows the requests that our own pages use; a test compares it with groff.

use unicode_width::UnicodeWidthStr;

/// How far text is indented below its heading, and below a term.
const INDENT: usize = 4;

/// The text of `page` in lines of at most `width` columns, where words allow it.
pub(super) fn readable(page: &str, width: usize) -> String {
    let mut text = PageText {
        width,
        ..PageText::default()
    };
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            // Definitions of clap_mangen's.
            ".ie" | ".el" => {}
            ".TH" => text.title(&arguments(rest)),
            ".SH" => text.heading(rest, 0),
            ".SS" => text.heading(rest, INDENT / 2),
            ".PP" => text.paragraph(),
            ".TP" => {
                let term = lines.next().map(words).unwrap_or_default();
                text.term(&term);
            }
            ".IP" => text.term(arguments(rest).first().map_or("", String::as_str)),
            ".RS" => text.go_in(),
            ".RE" => text.go_out(),
            ".br" => text.end_line(),
            ".EX" | ".nf" => {
                text.end_line();
                text.is_literal = true;
            }
            ".EE" | ".fi" => text.is_literal = false,
            "" if line.is_empty() => text.skip_line(),
            _ if text.is_literal => text.literal(&words(line)),
            _ => text.fill(&words(line)),
        }
    }
    text.end_line();
    text.made
}

#[derive(Default)]
struct PageText {
    width: usize,
    made: String,
    /// The line that is being filled.
    line: String,
    /// Where text begins outside of terms; one for each nested part.
    margins: Vec<usize>,
    indent: usize,
    is_literal: bool,
    is_below_heading: bool,
}

impl PageText {
    fn title(&mut self, arguments: &[String]) {
        if let [name, section, ..] = arguments {
            self.made.push_str(&format!("{name}({section})\n"));
        }
    }

    fn heading(&mut self, heading: &str, indent: usize) {
        self.skip_line();
        self.made
            .push_str(&format!("{:indent$}{}\n", "", arguments(heading).join(" ")));
        self.is_below_heading = true;
        self.margins = vec![INDENT];
        self.indent = INDENT;
    }

    fn margin(&self) -> usize {
        self.margins.last().copied().unwrap_or(INDENT)
    }

    fn paragraph(&mut self) {
        self.skip_line();
        self.indent = self.margin();
    }

    /// A term, and its text below it; text beside it if it is a bullet.
    fn term(&mut self, term: &str) {
        if term == "•" {
            self.end_line();
            self.indent = self.margin();
            self.fill(term);
            self.indent += INDENT / 2;
            return;
        }
        self.paragraph();
        self.fill(term);
        self.end_line();
        self.indent += INDENT;
    }

    fn go_in(&mut self) {
        self.end_line();
        self.margins.push(self.indent.max(self.margin() + INDENT));
        self.indent = self.margin();
    }

    fn go_out(&mut self) {
        self.end_line();
        self.margins.pop();
        self.indent = self.margin();
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.made.push_str(&self.line);
            self.made.push('\n');
            self.line.clear();
            self.is_below_heading = false;
        }
    }

    /// One empty line, never two, and none below a heading.
    fn skip_line(&mut self) {
        self.end_line();
        if !self.is_below_heading && !self.made.ends_with("\n\n") {
            self.made.push('\n');
        }
    }

    fn literal(&mut self, line: &str) {
        let indent = self.indent;
        self.made.push_str(&format!("{:indent$}{line}\n", ""));
        self.is_below_heading = false;
    }

    fn fill(&mut self, text: &str) {
        for word in text.split_whitespace() {
            let needed = self.line.width() + 1 + word.width();
            if needed > self.width && self.line.width() > self.indent {
                self.end_line();
            }
            if self.line.is_empty() {
                self.line = " ".repeat(self.indent);
            } else {
                self.line.push(' ');
            }
            self.line.push_str(word);
        }
    }
}

/// A line of text, or of a request that sets its words in another font.
fn words(line: &str) -> String {
    let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
    match request {
        ".B" | ".I" => arguments(rest).join(" "),
        ".BR" | ".RB" | ".IR" | ".RI" | ".BI" => arguments(rest).concat(),
        _ => unescaped(line),
    }
}

/// The arguments of a request, of which some are in quotes.
fn arguments(text: &str) -> Vec<String> {
    // A blank that divides nothing.
    let text = text.replace("\\ ", "\u{a0}");
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (one, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        found.push(unescaped(one));
        rest = after.trim_start();
    }
    found
}

fn unescaped(text: &str) -> String {
    const ESCAPES: &[(&str, &str)] = &[
        ("fB", ""),
        ("fI", ""),
        ("fR", ""),
        ("fP", ""),
        ("&", ""),
        (" ", " "),
        ("-", "-"),
        ("e", "\\"),
        ("\\", "\\"),
        ("(bu", "•"),
        ("(dq", "\""),
        ("(aq", "'"),
        ("(ga", "`"),
        ("(lq", "\""),
        ("(rq", "\""),
        ("*(Aq", "'"),
    ];
    let mut parts = text.split('\\');
    let mut made = parts.next().unwrap_or_default().to_string();
    let mut rest = &text[made.len()..];
    while let Some(escaped) = rest.strip_prefix('\\') {
        let known = ESCAPES.iter().find(|(name, _)| escaped.starts_with(name));
        let (name, shown) = known.copied().unwrap_or(("", "\\"));
        let after = &escaped[name.len()..];
        let end = after.find('\\').unwrap_or(after.len());
        made.push_str(shown);
        made.push_str(&after[..end]);
        rest = &after[end..];
    }
    made
}
