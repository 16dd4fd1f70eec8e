//! W3C Trace Context of an event.

use std::hash::{BuildHasher, RandomState};

/// A trace id and the span of the decision, in lower-case hex as in `TRACEPARENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// 32 digits; the same for all events of a session.
    pub id: String,
    /// 16 digits; unique to the event.
    pub span: String,
    /// Inherited `TRACEPARENT`, which hooks get unchanged.
    pub incoming: Option<String>,
}

impl TraceContext {
    /// Creates the context of the event `unique` in the trace of `incoming`, else of the session,
    /// else in a new one. Ignores an invalid `incoming`.
    pub fn of(incoming: Option<&str>, session: Option<&str>, unique: &str) -> TraceContext {
        let incoming = incoming.filter(|text| is_traceparent(text));
        let id = match (incoming, session) {
            (Some(incoming), _) => incoming[3..35].to_string(),
            (None, Some(session)) => format!("{:032x}", hash(session)),
            (None, None) => format!("{:032x}", hash(unique)),
        };
        // 64 random bits, since a fleet's log has millions of spans.
        let span = RandomState::new().hash_one(unique).max(1);
        TraceContext {
            id,
            span: format!("{span:016x}"),
            incoming: incoming.map(str::to_string),
        }
    }

    pub fn traceparent(&self) -> String {
        self.incoming
            .clone()
            .unwrap_or_else(|| format!("00-{}-{}-01", self.id, self.span))
    }

    /// Returns the parent span; `None` at the root of the trace.
    pub fn parent(&self) -> Option<&str> {
        self.incoming.as_deref().map(|text| &text[36..52])
    }
}

/// Accepts version 00 and later versions with the same prefix. Ids of zeros are invalid.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, id, span, flags, rest @ ..] = parts.as_slice() else {
        return false;
    };
    is_hex(version, 2)
        && *version != "ff"
        && is_id(id, 32)
        && is_id(span, 16)
        && is_hex(flags, 2)
        && (*version != "00" || rest.is_empty())
}

fn is_hex(part: &str, length: usize) -> bool {
    part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_id(part: &str, length: usize) -> bool {
    is_hex(part, length) && part.bytes().any(|byte| byte != b'0')
}

/// 128-bit FNV-1a.
fn hash(text: &str) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        hash ^= u128::from(byte);
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn only_a_valid_traceparent_is_kept() {
        let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let kept = TraceContext::of(Some(given), Some("s-1"), "1");
        assert_eq!(
            (kept.traceparent().as_str(), kept.parent()),
            (given, Some("b7ad6b7169203331"))
        );
        let zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let longer = format!("{given}-x");
        for other in [
            "",
            "00",
            zeros,
            &given.to_uppercase(),
            &given[..54],
            &longer,
            "é-é-é-é",
        ] {
            let made = TraceContext::of(Some(other), Some("s-1"), "1");
            assert_eq!(
                (made.parent(), made.incoming.as_ref()),
                (None, None),
                "{other}"
            );
            assert!(is_traceparent(&made.traceparent()), "{made:?}");
        }
        assert!(is_traceparent(&format!("01{}-more", &given[2..])));
    }

    #[test]
    fn a_session_is_one_trace_and_an_event_one_span() {
        let [one, two] = ["1", "2"].map(|unique| TraceContext::of(None, Some("s-1"), unique));
        assert_eq!(one.id, two.id);
        assert_ne!(one.span, two.span);
        assert_ne!(one.id, TraceContext::of(None, Some("s-2"), "1").id);
        let spans = (0..50_000).map(|_| TraceContext::of(None, Some("s-1"), "1").span);
        assert_eq!(spans.collect::<HashSet<_>>().len(), 50_000);
        assert_ne!(
            TraceContext::of(None, None, "1").id,
            TraceContext::of(None, None, "2").id
        );
    }
}
