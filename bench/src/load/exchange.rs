//! What is sent and what has to come back.

use std::net::SocketAddr;

use crate::pattern;

/// A request of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `GET path`, answered with the bytes that the path's last segment counts.
    Get {
        /// Path before the last segment, without a slash at its end; empty for none.
        prefix: String,
        /// Bytes of the response's body.
        bytes: usize,
    },
    /// `GET` as above on a connection of its own, with `Connection: close`.
    GetOnce {
        /// Bytes of the response's body.
        bytes: usize,
    },
    /// `POST`, answered with the number of bytes sent.
    Post {
        /// Bytes of the request's body.
        bytes: usize,
    },
}

/// A request made ready for one target, and the response it must get.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The whole request.
    pub request: Vec<u8>,
    /// The whole body of the response.
    pub body: Vec<u8>,
    /// Each exchange opens and closes its own connection.
    pub is_once: bool,
}

impl Request {
    /// The path sent.
    pub fn path(&self) -> String {
        match self {
            Self::Get { prefix, bytes } => format!("{prefix}/{bytes}"),
            Self::GetOnce { bytes } => format!("/{bytes}"),
            Self::Post { .. } => "/count".to_owned(),
        }
    }

    /// Makes the request ready for `target`.
    pub fn exchange(&self, target: SocketAddr) -> Exchange {
        let path = self.path();
        let common = format!("Host: {target}\r\nUser-Agent: eddy-bench\r\nAccept: */*\r\n");
        match self {
            Self::Get { bytes, .. } => Exchange {
                request: format!("GET {path} HTTP/1.1\r\n{common}\r\n").into_bytes(),
                body: pattern::body(*bytes),
                is_once: false,
            },
            Self::GetOnce { bytes } => Exchange {
                request: format!("GET {path} HTTP/1.1\r\n{common}Connection: close\r\n\r\n").into_bytes(),
                body: pattern::body(*bytes),
                is_once: true,
            },
            Self::Post { bytes } => {
                let head = format!("POST {path} HTTP/1.1\r\n{common}Content-Length: {bytes}\r\n\r\n");
                let mut request = head.into_bytes();
                request.extend_from_slice(&pattern::body(*bytes));
                Exchange { request, body: bytes.to_string().into_bytes(), is_once: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_carries_its_body_and_expects_its_length() {
        let exchange = Request::Post { bytes: 40 }.exchange(([127, 0, 0, 1], 80).into());
        assert!(exchange.request.starts_with(b"POST /count HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"));
        assert!(exchange.request.ends_with(&pattern::body(40)));
        assert_eq!(exchange.body, b"40");
    }

    #[test]
    fn a_single_get_asks_for_the_end() {
        let exchange = Request::GetOnce { bytes: 8 }.exchange(([127, 0, 0, 1], 80).into());
        assert!(exchange.request.ends_with(b"Connection: close\r\n\r\n"));
        assert!(exchange.is_once);
    }
}
