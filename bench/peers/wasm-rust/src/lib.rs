//! The filters of `envoy-wasm` and `eddy-wasm`: one module for both, in Rust with the kit of proxy-wasm. The configuration
//! names the filter. Nothing is kept from one request to the next.
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

/// What the configuration says.
#[derive(Deserialize)]
#[serde(tag = "filter", rename_all = "kebab-case")]
enum WasmFilterConfig {
    Passthrough,
    BasicAuth { username: String, password: String },
    HeaderGetSet,
    BodyRead,
}

/// Which filter it is, with what it needs.
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

/// Does nothing. A module of this kit has every function that a gateway may enter, and is entered in every phase.
struct Passthrough;

impl Context for Passthrough {}

impl HttpContext for Passthrough {}

/// Writes a line to the gateway's log.
fn complain(text: &str) {
    // A log that takes nothing is no reason to stop.
    let _ = hostcalls::log(LogLevel::Error, text);
}
