//! Limits that keep hostile texts cheap: the parser recurses, and some of its loops are quadratic.

use brush_parser::Token;

/// Longer texts are not read.
pub(super) const LONGEST_BYTES: usize = 1 << 20;
pub(super) const DEEPEST_SCRIPT: usize = 16;
const DEEPEST_COMMAND: usize = 40;
pub(super) const MOST_COMMANDS: usize = 10_000;
pub(super) const MOST_WORDS_OF_BRACES: usize = 1_000;
pub(super) const MOST_WRAPPERS: usize = 16;
/// Substitutions that hold more than a plain name or words: the tokenizer recurses for each.
pub(super) const MOST_SUBSTITUTIONS: usize = 100;
pub(super) const MOST_HERE_DOCUMENTS: usize = 200;
/// All texts in one text together.
pub(super) const MOST_BYTES_READ: usize = 4 << 20;

/// The parser takes `|&` after simple commands only, and no `!` after `|`; bash does.
pub(super) fn as_the_parser_takes_them(tokens: Vec<Token>) -> Vec<Token> {
    let mut taken = Vec::with_capacity(tokens.len());
    let mut is_after_pipe = false;
    for token in tokens {
        match token {
            Token::Operator(text, at) if text == "|&" => {
                taken.push(Token::Operator("|".to_string(), at));
                is_after_pipe = true;
            }
            Token::Word(text, _) if is_after_pipe && text == "!" => {}
            token => {
                is_after_pipe = token.to_str() == "|" || is_after_pipe && token.to_str() == "\n";
                taken.push(token);
            }
        }
    }
    taken
}

/// How many substitutions may have others in them: all but those that end before anything that
/// could begin one or hide their end.
pub(super) fn substitutions_that_may_nest(text: &str) -> usize {
    let opens = text.match_indices(['(', '{', '[']).filter(|(at, _)| {
        matches!(text[..*at].as_bytes().last(), Some(b'$' | b'<' | b'>' | b'@' | b'!' | b'?' | b'*' | b'+' | b'=' | b'(' | b'_' | b'[') | Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9'))
    });
    let may_nest = |(at, open): &(usize, &str)| {
        let close = match *open {
            "(" => ')',
            "{" => '}',
            _ => ']',
        };
        let rest = &text[at + 1..];
        let end = rest.find(|c| "$`'\"\\#\n({[<>".contains(c) || c == close);
        !end.is_some_and(|end| rest[end..].starts_with(close))
    };
    opens.filter(may_nest).count()
}

/// Whether commands nest deeper than the parser, which recurses, can take. Only an end that is
/// where a command begins counts as one, so that words cannot hide the depth.
pub(super) fn is_too_deep(tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut parentheses = 0_usize;
    let mut marks = 0_usize;
    let mut begins = true;
    for token in tokens {
        let text = token.to_str();
        let is_operator = matches!(token, Token::Operator(..));
        match text {
            // That of a pattern of `case` ends nothing.
            "(" => parentheses += 1,
            ")" if is_operator => parentheses = parentheses.saturating_sub(1),
            "{" | "if" | "while" | "until" | "for" | "case" | "select" | "[[" | "coproc"
            | "function" => depth += 1,
            "}" | "fi" | "done" | "esac" if begins => depth = depth.saturating_sub(1),
            _ => {}
        }
        marks = if text == "!" || text == "coproc" { marks + 1 } else { 0 };
        begins = is_operator
            || matches!(text, "then" | "do" | "else" | "{" | "}" | "fi" | "done" | "esac" | "!");
        if depth + parentheses > DEEPEST_COMMAND || marks > DEEPEST_COMMAND {
            return true;
        }
    }
    false
}
