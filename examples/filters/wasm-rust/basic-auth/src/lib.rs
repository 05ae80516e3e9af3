//! Filter that requires a user name and a password (RFC 7617).
#![forbid(unsafe_code)]

use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, LogLevel};
use serde::Deserialize;

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|_| Box::new(BasicAuthRoot::default()));
}}

/// Configuration of the filter: user name, password and realm.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WasmBasicAuthConfig {
    username: String,
    password: String,
    #[serde(default = "default_realm")]
    realm: String,
}

fn default_realm() -> String {
    "restricted".to_owned()
}

/// Expected credentials.
#[derive(Default)]
struct Login {
    user: String,
    credentials: String,
    challenge: String,
}

#[derive(Default)]
struct BasicAuthRoot {
    login: Rc<Login>,
}

impl Context for BasicAuthRoot {}

impl RootContext for BasicAuthRoot {
    fn on_configure(&mut self, _: usize) -> bool {
        let bytes = self.get_plugin_configuration().unwrap_or_default();
        let config: WasmBasicAuthConfig = match serde_json::from_slice(&bytes) {
            Ok(config) => config,
            Err(error) => {
                log::error!("config: {error}");
                return false;
            }
        };
        if config.username.contains(':') {
            log::error!("config: a user name has no colon");
            return false;
        }
        let text = format!("{}:{}", config.username, config.password);
        self.login = Rc::new(Login {
            credentials: format!("Basic {}", base64(text.as_bytes())),
            challenge: format!("Basic realm=\"{}\", charset=\"UTF-8\"", config.realm),
            user: config.username,
        });
        true
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(BasicAuthContext { login: Rc::clone(&self.login) }))
    }
}

struct BasicAuthContext {
    login: Rc<Login>,
}

impl Context for BasicAuthContext {}

impl HttpContext for BasicAuthContext {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let sent = self.get_http_request_header("authorization").unwrap_or_default();
        if is_same(sent.as_bytes(), self.login.credentials.as_bytes()) {
            self.set_http_request_header("x-user", Some(&self.login.user));
            return Action::Continue;
        }
        let fields = vec![("www-authenticate", self.login.challenge.as_str())];
        self.send_http_response(401, fields, Some(b"a user name and a password, please\n"));
        Action::Pause
    }
}

/// Compares two byte strings in constant time for equal lengths.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    left.len() == right.len() && difference == 0
}

/// Encodes Base64 with the standard alphabet and padding (RFC 4648 §4).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let value = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= group.len() { char::from(ALPHABET[value as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{base64, is_same};

    #[test]
    fn base64_is_that_of_the_rfc() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, expected) in cases {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn only_equal_strings_compare_equal() {
        assert!(is_same(b"ab", b"ab"));
        assert!(!is_same(b"ab", b"ac") && !is_same(b"ab", b"abc") && !is_same(b"", b"a"));
    }
}
