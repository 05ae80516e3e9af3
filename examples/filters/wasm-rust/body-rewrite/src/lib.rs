//! Filter that replaces a text in response bodies.
#![forbid(unsafe_code)]

use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, LogLevel};
use serde::Deserialize;

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|_| Box::new(BodyRewriteRoot::default()));
}}

/// Configuration of the filter: the text to find and its replacement.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WasmBodyRewriteConfig {
    from: String,
    to: String,
}

#[derive(Default)]
struct BodyRewriteRoot {
    config: Rc<WasmBodyRewriteConfig>,
}

impl Context for BodyRewriteRoot {}

impl RootContext for BodyRewriteRoot {
    fn on_configure(&mut self, _: usize) -> bool {
        match serde_json::from_slice::<WasmBodyRewriteConfig>(
            &self.get_plugin_configuration().unwrap_or_default(),
        ) {
            Ok(config) if config.from.is_empty() => {
                log::error!("config: `from` must not be empty");
                false
            }
            Ok(config) => {
                self.config = Rc::new(config);
                true
            }
            Err(error) => {
                log::error!("config: {error}");
                false
            }
        }
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(BodyRewriteContext { config: Rc::clone(&self.config), is_text: false }))
    }
}

struct BodyRewriteContext {
    config: Rc<WasmBodyRewriteConfig>,
    is_text: bool,
}

impl Context for BodyRewriteContext {}

impl HttpContext for BodyRewriteContext {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        // The text cannot be found in a compressed body.
        self.set_http_request_header("accept-encoding", None);
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        let kind = self.get_http_response_header("content-type").unwrap_or_default();
        self.is_text = kind.starts_with("text/");
        if self.is_text {
            // Needed in other proxies; eddy recomputes the message framing itself.
            self.set_http_response_header("content-length", None);
        }
        Action::Continue
    }

    fn on_http_response_body(&mut self, size: usize, is_end: bool) -> Action {
        if !self.is_text {
            return Action::Continue;
        }
        if !is_end {
            // The text may span two chunks: wait for the whole body.
            return Action::Pause;
        }
        if let Some(body) = self.get_http_response_body(0, size) {
            let body = String::from_utf8_lossy(&body);
            if body.contains(&self.config.from) {
                let body = body.replace(&self.config.from, &self.config.to);
                self.set_http_response_body(0, size, body.as_bytes());
            }
        }
        Action::Continue
    }
}
