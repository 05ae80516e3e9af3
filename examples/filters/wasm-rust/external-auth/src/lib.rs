//! Filter that asks an authorization service whether a request is allowed.
#![forbid(unsafe_code)]

use std::rc::Rc;
use std::time::Duration;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, LogLevel};
use serde::Deserialize;

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|_| Box::new(ExternalAuthRoot::default()));
}}

/// Configuration of the filter: the authorization service and the headers exchanged with it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExternalAuthConfig {
    /// Cluster of the authorization service.
    cluster: String,
    /// Prefix of the request target that is sent to the service.
    #[serde(default)]
    path: String,
    #[serde(default = "default_timeout")]
    timeout_ms: u64,
    /// Request headers that are sent to the service.
    #[serde(default = "default_ask")]
    ask: Vec<String>,
    /// Headers of the service's response that are added to the request.
    #[serde(default = "default_keep")]
    keep: Vec<String>,
}

fn default_timeout() -> u64 {
    1000
}

fn default_ask() -> Vec<String> {
    vec!["authorization".to_owned(), "cookie".to_owned()]
}

fn default_keep() -> Vec<String> {
    vec!["x-user".to_owned()]
}

#[derive(Default)]
struct ExternalAuthRoot {
    config: Rc<ExternalAuthConfig>,
}

impl Context for ExternalAuthRoot {}

impl RootContext for ExternalAuthRoot {
    fn on_configure(&mut self, _: usize) -> bool {
        match serde_json::from_slice(&self.get_plugin_configuration().unwrap_or_default()) {
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
        Some(Box::new(ExternalAuthContext { config: Rc::clone(&self.config) }))
    }
}

struct ExternalAuthContext {
    config: Rc<ExternalAuthConfig>,
}

impl HttpContext for ExternalAuthContext {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let target = self.get_http_request_header(":path").unwrap_or_default();
        let target = format!("{}{target}", self.config.path);
        let method = self.get_http_request_header(":method").unwrap_or_default();
        let shown: Vec<(String, String)> = self
            .config
            .ask
            .iter()
            .filter_map(|name| Some((name.clone(), self.get_http_request_header(name)?)))
            .collect();
        // Values that a client sends under these names are never trusted.
        for name in &self.config.keep {
            self.set_http_request_header(name, None);
        }
        let mut question = vec![
            (":method", "GET"),
            (":path", target.as_str()),
            (":authority", self.config.cluster.as_str()),
            ("x-original-method", method.as_str()),
        ];
        question.extend(shown.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let timeout = Duration::from_millis(self.config.timeout_ms);
        if let Err(status) = self.dispatch_http_call(&self.config.cluster, question, None, vec![], timeout) {
            log::warn!("the service cannot be asked: {status:?}");
            self.unavailable();
        }
        Action::Pause
    }
}

impl Context for ExternalAuthContext {
    fn on_http_call_response(&mut self, _: u32, fields: usize, size: usize, _: usize) {
        if fields == 0 {
            log::warn!("the service did not answer");
            return self.unavailable();
        }
        let status = self.get_http_call_response_header(":status").and_then(|status| status.parse().ok());
        let status: u32 = status.unwrap_or(500);
        if !(200..300).contains(&status) {
            let body = self.get_http_call_response_body(0, size);
            let challenge = self.get_http_call_response_header("www-authenticate");
            let fields = challenge.iter().map(|value| ("www-authenticate", value.as_str())).collect();
            return self.send_http_response(status, fields, body.as_deref());
        }
        for name in &self.config.keep {
            if let Some(value) = self.get_http_call_response_header(name) {
                self.set_http_request_header(name, Some(&value));
            }
        }
        self.resume_http_request();
    }
}

impl ExternalAuthContext {
    fn unavailable(&self) {
        self.send_http_response(503, vec![], Some(b"authorization is not available\n"));
    }
}
