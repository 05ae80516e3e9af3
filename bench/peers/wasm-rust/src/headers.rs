//! A filter that copies a header to another one, in each direction.

use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

/// Sets `host2` to the value of `Host` in requests, and `server2` to the value of `Server` in responses.
pub(crate) struct HeaderGetSet;

impl Context for HeaderGetSet {}

impl HttpContext for HeaderGetSet {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let host = self.get_http_request_header(":authority");
        self.set_http_request_header("host2", host.as_deref());
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        // The gateway's local replies have none.
        if let Some(server) = self.get_http_response_header("server") {
            self.set_http_response_header("server2", Some(&server));
        }
        Action::Continue
    }
}
