//! Requests of the scenarios and their expected responses.

use std::net::SocketAddr;

use crate::{book, pattern};

/// A request of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioRequest {
    /// `GET path`, answered with as many bytes as the last path segment says.
    Get {
        /// Path before the last segment, without a slash at its end; may be empty.
        prefix: String,
        /// Bytes of the response's body.
        bytes: usize,
    },
    /// `GET` as above on a new connection, with `Connection: close`.
    GetOnce {
        /// Bytes of the response's body.
        bytes: usize,
    },
    /// `POST`, answered with the number of bytes sent.
    Post {
        /// Bytes of the request's body.
        bytes: usize,
    },
    /// `GET` of a path that no route of the target matches.
    Miss,
    /// `POST` of a book as JSON, answered with a book.
    Book,
    /// `GET` as above with further header lines for filters.
    Varied {
        /// Bytes of the response's body.
        bytes: usize,
        /// Further header lines, each with its line end; requests use them in turn.
        fields: &'static [&'static str],
        /// The side that responds.
        answer: ResponseOrigin,
    },
}

/// The side that responds to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseOrigin {
    /// The origin.
    Origin,
    /// The target itself, with this status and any body.
    Target(u16),
}

/// A request prepared for one target, and the response expected.
#[derive(Clone, Debug)]
pub struct LoadExchange {
    /// Complete requests, at least one; a connection sends them in turn.
    pub requests: Vec<Vec<u8>>,
    /// The expected response.
    pub expected: ExpectedResponse,
    /// Whether each exchange opens and closes a connection of its own.
    pub is_once: bool,
}

/// Expected response.
#[derive(Clone, Debug)]
pub struct ExpectedResponse {
    /// Status code.
    pub status: u16,
    /// Whole body; `None` for any body of the length that the response declares.
    pub body: Option<Vec<u8>>,
}

impl ExpectedResponse {
    /// Returns an expected 200 response with this body.
    pub fn success(body: Vec<u8>) -> Self {
        Self { status: 200, body: Some(body) }
    }
}

impl LoadExchange {
    /// Returns the request to send as number `turn`.
    pub fn request(&self, turn: usize) -> &[u8] {
        let index = turn.checked_rem(self.requests.len()).unwrap_or_default();
        self.requests.get(index).map(Vec::as_slice).unwrap_or_default()
    }
}

impl ScenarioRequest {
    /// Returns the request path.
    pub fn path(&self) -> String {
        match self {
            Self::Get { prefix, bytes } => format!("{prefix}/{bytes}"),
            Self::GetOnce { bytes } | Self::Varied { bytes, .. } => format!("/{bytes}"),
            Self::Post { .. } => "/count".to_owned(),
            Self::Miss => "/routeless/128".to_owned(),
            Self::Book => book::PATH.to_owned(),
        }
    }

    /// Whether targets forward the request, so that the origin can be measured alone as well.
    pub fn reaches_origin(&self) -> bool {
        !matches!(self, Self::Miss | Self::Varied { answer: ResponseOrigin::Target(_), .. })
    }

    /// Builds the requests and the expected response for `target`.
    pub fn exchange(&self, target: SocketAddr) -> LoadExchange {
        let path = self.path();
        let common = format!("Host: {target}\r\nUser-Agent: eddy-bench\r\nAccept: */*\r\n");
        match self {
            Self::Get { bytes, .. } => LoadExchange {
                requests: vec![format!("GET {path} HTTP/1.1\r\n{common}\r\n").into_bytes()],
                expected: ExpectedResponse::success(pattern::body(*bytes)),
                is_once: false,
            },
            Self::Miss => LoadExchange {
                requests: vec![format!("GET {path} HTTP/1.1\r\n{common}\r\n").into_bytes()],
                expected: ExpectedResponse { status: 404, body: None },
                is_once: false,
            },
            Self::GetOnce { bytes } => LoadExchange {
                requests: vec![
                    format!("GET {path} HTTP/1.1\r\n{common}Connection: close\r\n\r\n").into_bytes(),
                ],
                expected: ExpectedResponse::success(pattern::body(*bytes)),
                is_once: true,
            },
            Self::Post { bytes } => {
                let head = format!("POST {path} HTTP/1.1\r\n{common}Content-Length: {bytes}\r\n\r\n");
                let mut request = head.into_bytes();
                request.extend_from_slice(&pattern::body(*bytes));
                let expected = ExpectedResponse::success(bytes.to_string().into_bytes());
                LoadExchange { requests: vec![request], expected, is_once: false }
            }
            Self::Book => {
                let body = book::request_json();
                let request = format!(
                    "POST {path} HTTP/1.1\r\n{common}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let expected = ExpectedResponse::success(book::response_json().into_bytes());
                LoadExchange { requests: vec![request.into_bytes()], expected, is_once: false }
            }
            Self::Varied { bytes, fields, answer } => {
                let request =
                    |fields: &&str| format!("GET {path} HTTP/1.1\r\n{common}{fields}\r\n").into_bytes();
                let expected = match answer {
                    ResponseOrigin::Origin => ExpectedResponse::success(pattern::body(*bytes)),
                    ResponseOrigin::Target(status) => ExpectedResponse { status: *status, body: None },
                };
                LoadExchange { requests: fields.iter().map(request).collect(), expected, is_once: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_carries_its_body_and_expects_its_length() {
        let exchange = ScenarioRequest::Post { bytes: 40 }.exchange(([127, 0, 0, 1], 80).into());
        let request = exchange.request(0);
        assert!(request.starts_with(b"POST /count HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"));
        assert!(request.ends_with(&pattern::body(40)));
        assert_eq!(exchange.expected.body.unwrap(), b"40");
    }

    #[test]
    fn a_single_get_closes_the_connection() {
        let exchange = ScenarioRequest::GetOnce { bytes: 8 }.exchange(([127, 0, 0, 1], 80).into());
        assert!(exchange.request(7).ends_with(b"Connection: close\r\n\r\n"));
        assert!(exchange.is_once);
    }

    #[test]
    fn an_unrouted_request_gets_a_local_reply() {
        let exchange = ScenarioRequest::Miss.exchange(([127, 0, 0, 1], 80).into());
        assert!(exchange.request(0).starts_with(b"GET /routeless/128 HTTP/1.1\r\n"));
        assert_eq!((exchange.expected.status, exchange.expected.body), (404, None));
    }

    #[test]
    fn varied_requests_rotate() {
        let fields: &[&str] = &["A: b\r\n", ""];
        let request = ScenarioRequest::Varied { bytes: 8, fields, answer: ResponseOrigin::Target(401) };
        let exchange = request.exchange(([127, 0, 0, 1], 80).into());
        assert!(exchange.request(0).ends_with(b"A: b\r\n\r\n"));
        assert!(exchange.request(3).ends_with(b"Accept: */*\r\n\r\n"));
        assert_eq!(exchange.request(2), exchange.request(0));
        assert_eq!((exchange.expected.status, exchange.expected.body), (401, None));
    }
}
