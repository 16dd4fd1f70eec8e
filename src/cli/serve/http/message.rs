//! A request that was read, and what it is answered.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

/// A request, whole.
#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) method: Method,
    pub(super) path: String,
    /// What follows the path of the route.
    pub(super) tail: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    /// The text of a header, in UTF-8 or else in Latin-1, which clients in JavaScript send.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let bytes = self.headers.get(name)?.as_bytes();
        let text = String::from_utf8(bytes.to_vec());
        Some(text.unwrap_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect()))
    }

    /// The value of a parameter of the query, decoded.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self
            .query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.into_iter().find(|(key, _)| *key == name)?;
        Some(decoded(&value.replace('+', " ")))
    }
}

/// A text without its `%41`.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut made = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes
            .get(at + 1..at + 3)
            .filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|two| std::str::from_utf8(two).ok());
        let code = digits
            .filter(|_| byte == b'%')
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        made.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&made).into_owned()
}

/// Why a request is not decided.
#[derive(Debug, Clone)]
pub(super) struct HttpFault {
    pub(super) status: StatusCode,
    pub(super) reason: String,
}

impl HttpFault {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> HttpFault {
        HttpFault {
            status,
            reason: reason.into(),
        }
    }

    /// The request is not what its route takes.
    pub(super) fn malformed(reason: impl Into<String>) -> HttpFault {
        HttpFault::new(StatusCode::BAD_REQUEST, reason)
    }

    /// The answer where a client heeds the status.
    pub(super) fn answer(&self) -> HttpAnswer {
        HttpAnswer::json(self.status, &json!({ "error": self.reason }))
    }
}

/// An answer, whole.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    status: StatusCode,
    body: String,
    headers: HeaderMap,
}

impl HttpAnswer {
    pub(super) fn new(status: StatusCode, kind: &'static str, body: String) -> HttpAnswer {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        HttpAnswer {
            status,
            body,
            headers,
        }
    }

    pub(super) fn json(status: StatusCode, body: &Value) -> HttpAnswer {
        HttpAnswer::new(status, "application/json", format!("{body}\n"))
    }

    /// With this header too, if its value can be one.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: &str) -> HttpAnswer {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_what_is_no_code_stays() {
        let request = HttpRequest {
            method: Method::POST,
            path: "/".into(),
            tail: String::new(),
            query: "a=1&event=tool%2Epre+x%zz&event=2".into(),
            headers: HeaderMap::new(),
            body: Vec::new(),
        };
        assert_eq!(request.parameter("event").as_deref(), Some("tool.pre x%zz"));
        assert_eq!(request.parameter("none"), None);
        assert_eq!(
            (decoded("%"), decoded("%+1%1")),
            ("%".into(), "%+1%1".into())
        );
    }
}
