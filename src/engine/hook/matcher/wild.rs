//! Words with `*` (any text), `?` (one character) and `[…]` (one of these characters).

/// Whether `text` has this form.
pub(super) fn is_match(form: &str, text: &str) -> bool {
    let (mut form, mut text) = (form, text);
    // What is left after the last `*`, and the text that it was tried on.
    let mut last: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = form.strip_prefix('*') {
            last = Some((rest, text));
            form = rest;
            continue;
        }
        let after = first(form).and_then(|(fits, rest)| {
            let c = text.chars().next()?;
            fits(c).then(|| (rest, &text[c.len_utf8()..]))
        });
        match after {
            Some((rest_of_form, rest)) => (form, text) = (rest_of_form, rest),
            None if form.is_empty() && text.is_empty() => return true,
            None => {
                let Some((rest, tried)) = last else {
                    return false;
                };
                let Some(c) = tried.chars().next() else {
                    return false;
                };
                let tried = &tried[c.len_utf8()..];
                last = Some((rest, tried));
                (form, text) = (rest, tried);
            }
        }
    }
}

/// Whether a text that begins like this may have the form.
pub(super) fn may_match(form: &str, start: &str) -> bool {
    let known = form.split(['*', '?', '[']).next().unwrap_or_default();
    let is_open = known.len() < form.len();
    known.starts_with(start) || is_open && start.starts_with(known)
}

/// The first character of a form that does not begin with `*`, as a test, and what is after it.
fn first(form: &str) -> Option<(impl Fn(char) -> bool, &str)> {
    let one = form.chars().next()?;
    let class = form.strip_prefix('[').and_then(|rest| {
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
        Some((&rest[..end], &rest[end + 1..]))
    });
    let rest = class.map_or(&form[one.len_utf8()..], |(_, rest)| rest);
    let fits = move |c: char| match class {
        Some((members, _)) => is_member(members, c),
        None => one == '?' || one == c,
    };
    Some((fits, rest))
}

fn is_member(members: &str, c: char) -> bool {
    let negated = members.strip_prefix(['!', '^']);
    let listed: Vec<char> = negated.unwrap_or(members).chars().collect();
    let mut at = 0;
    let mut is_listed = false;
    while at < listed.len() {
        let is_range = listed.get(at + 1) == Some(&'-') && at + 2 < listed.len();
        let last = if is_range { listed[at + 2] } else { listed[at] };
        is_listed |= (listed[at]..=last).contains(&c);
        at += if is_range { 3 } else { 1 };
    }
    is_listed != negated.is_some()
}
