//! A header from another, in each direction.

use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

/// Sets `host2` to what `Host` says, and `server2` to what `Server` says.
pub(crate) struct HeaderGetSet;

impl Context for HeaderGetSet {}

impl HttpContext for HeaderGetSet {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let host = self.get_http_request_header(":authority");
        self.set_http_request_header("host2", host.as_deref());
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        // The gateway's own answers have none.
        if let Some(server) = self.get_http_response_header("server") {
            self.set_http_response_header("server2", Some(&server));
        }
        Action::Continue
    }
}
