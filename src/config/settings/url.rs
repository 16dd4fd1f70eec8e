//! Where a webhook may go: anywhere by https, and to this machine by http.

use crate::engine::complaint::Complaint;

/// Hosts that are this machine.
const OWN: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Why nothing can be sent to `url`, if so.
pub(super) fn problem(url: &str) -> Option<Complaint> {
    let cure = "write `https://HOST/…`, or `http://localhost:PORT/…` for this machine";
    let fault = |cause: String| Some(Complaint::with_cure(cause, cure));
    // A backslash is a slash for some readers of URLs and not for others.
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    let parts = url.split_once("://").filter(|_| !url.contains(is_odd));
    let Some((scheme, host)) = parts.and_then(|(scheme, rest)| Some((scheme, host_of(rest)?)))
    else {
        return fault(format!("`{url}` is no URL"));
    };
    let is_own = OWN.iter().any(|own| host.eq_ignore_ascii_case(own));
    match scheme.to_ascii_lowercase().as_str() {
        "https" => None,
        "http" if is_own => None,
        "http" => fault(format!("`{url}` would be sent in the clear")),
        _ => fault(format!("`{scheme}` is no way to send an event")),
    }
}

/// The host of what follows `://`, without user and port.
fn host_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { "" } else { after.strip_prefix(':')? })
        }
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_host = !host.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    is_host.then_some(host)
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn https_goes_anywhere_and_http_stays_here() {
        for good in [
            "https://ops.example.com/audit?x=1#y",
            "HTTPS://u:p@ops.example.com:8443",
            "http://localhost:8080/hook",
            "http://127.0.0.1",
            "http://[::1]:9/x",
        ] {
            assert_eq!(problem(good), None, "{good}");
        }
        for wrong in [
            "",
            "not a url",
            "ops.example.com/audit",
            "https://",
            "https:///path",
            "https://host:port/",
            "https://a b/",
            "https://evil\\@localhost/",
            "http://example.com/x",
            "http://localhost@example.com/x",
            "http://localhost.example.com/",
            "http://[::1]x/",
            "http://[::1/",
            "ftp://localhost/x",
            "file:///etc/passwd",
        ] {
            assert!(problem(wrong).is_some(), "{wrong}");
        }
    }
}
