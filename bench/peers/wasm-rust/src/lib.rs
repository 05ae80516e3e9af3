//! Filters of `envoy-wasm` and `eddy-wasm`: one module for both, in Rust with the proxy-wasm SDK. The configuration
//! names the filter. No state is kept between requests.
#![forbid(unsafe_code)]

mod auth;
mod body;
mod headers;

use std::rc::Rc;

use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{ContextType, LogLevel};
use serde::Deserialize;

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(WasmRootContext { filter: WasmFilterKind::Passthrough }));
}}

/// The filter configuration.
#[derive(Deserialize)]
#[serde(tag = "filter", rename_all = "kebab-case")]
enum WasmFilterConfig {
    Passthrough,
    BasicAuth { username: String, password: String },
    HeaderGetSet,
    BodyRead,
}

/// The configured filter with its data.
enum WasmFilterKind {
    Passthrough,
    BasicAuth(Rc<[u8]>),
    HeaderGetSet,
    BodyRead,
}

struct WasmRootContext {
    filter: WasmFilterKind,
}

impl Context for WasmRootContext {}

impl RootContext for WasmRootContext {
    fn on_configure(&mut self, _: usize) -> bool {
        let config = serde_json::from_slice(&self.get_plugin_configuration().unwrap_or_default());
        self.filter = match config {
            Ok(WasmFilterConfig::Passthrough) => WasmFilterKind::Passthrough,
            Ok(WasmFilterConfig::BasicAuth { username, password }) => {
                WasmFilterKind::BasicAuth(format!("{username}:{password}").into_bytes().into())
            }
            Ok(WasmFilterConfig::HeaderGetSet) => WasmFilterKind::HeaderGetSet,
            Ok(WasmFilterConfig::BodyRead) => WasmFilterKind::BodyRead,
            Err(error) => {
                complain(&format!("the configuration: {error}"));
                return false;
            }
        };
        true
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(match &self.filter {
            WasmFilterKind::Passthrough => Box::new(Passthrough),
            WasmFilterKind::BasicAuth(expected) => Box::new(auth::BasicAuth::new(Rc::clone(expected))),
            WasmFilterKind::HeaderGetSet => Box::new(headers::HeaderGetSet),
            WasmFilterKind::BodyRead => Box::new(body::BodyRead),
        })
    }
}

/// Does nothing. A module built with this SDK exports every callback, so the gateway calls it in every phase.
struct Passthrough;

impl Context for Passthrough {}

impl HttpContext for Passthrough {}

/// Writes a line to the gateway's log.
fn complain(text: &str) {
    // A log that cannot be written to is no reason to stop.
    let _ = hostcalls::log(LogLevel::Error, text);
}
