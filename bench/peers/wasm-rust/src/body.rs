//! A filter that reads bodies.

use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::complain;

/// Searches each response body while it passes for a byte that no body of the benchmark contains, and so reads it to
/// its end.
pub(crate) struct BodyRead;

impl Context for BodyRead {}

impl HttpContext for BodyRead {
    fn on_http_response_body(&mut self, size: usize, _: bool) -> Action {
        if size > 0 && self.get_http_response_body(0, size).is_some_and(|piece| piece.contains(&b'<')) {
            complain("the body has a mark");
        }
        Action::Continue
    }
}
