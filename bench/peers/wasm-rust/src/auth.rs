//! Basic authentication.

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

/// Lets only requests with the right credentials pass.
pub(crate) struct BasicAuth {
    expected: Rc<[u8]>,
}

impl BasicAuth {
    /// Creates a filter that expects `name:password`.
    pub(crate) fn new(expected: Rc<[u8]>) -> Self {
        Self { expected }
    }

    fn allows(&self, value: &str) -> bool {
        let Some((scheme, encoded)) = value.split_at_checked(SCHEME.len()) else { return false };
        let mut room = [0; CREDENTIALS_BYTES_MAX];
        scheme.eq_ignore_ascii_case(SCHEME)
            && STANDARD
                .decode_slice(encoded, &mut room)
                .is_ok_and(|count| is_equal(&room[..count], &self.expected))
    }
}

impl Context for BasicAuth {}

impl HttpContext for BasicAuth {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        if self.get_http_request_header("authorization").is_some_and(|value| self.allows(&value)) {
            return Action::Continue;
        }
        let fields = vec![("www-authenticate", "Basic realm=\"bench\"")];
        self.send_http_response(401, fields, Some(b"unauthorized\n"));
        Action::Pause
    }
}

/// Compares in a time that depends on the lengths only.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differ = |sum, (a, b): (&u8, &u8)| std::hint::black_box(sum | (a ^ b));
    one.len() == other.len() && one.iter().zip(other).fold(0, differ) == 0
}

const SCHEME: &str = "basic ";
const CREDENTIALS_BYTES_MAX: usize = 128;
