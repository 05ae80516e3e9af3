//! Directives without effect as they are written: they turn off what eddy does not have, state what applies anyway, or
//! configure protocols that no `..._pass` uses.
//!
//! An access control directive is listed only with the argument that restricts nothing.

use super::block::{HTTP, IF, LOCATION, SERVER, SERVER_IF};
use super::tree::{Directive, NginxWord};

/// Whether a directive that eddy does not support has no effect with these arguments.
pub(super) fn changes_nothing(directive: &Directive) -> bool {
    let Directive { name, arguments, block } = directive;
    if let Some(block) = block {
        // Without servers, nothing is to be served.
        let has_server = block.iter().any(|directive| directive.name.text == "server");
        return matches!(name.text.as_str(), "stream" | "mail") && !has_server;
    }
    let is_as = |form: &&str| {
        let words = form.split(' ');
        words.clone().count() == arguments.len() && words.zip(arguments).all(|(word, own)| is_word(own, word))
    };
    match arguments.first() {
        Some(kind) if name.text.ends_with("ssl_conf_command") && is_word(kind, "Ciphersuites") => true,
        _ => forms(&name.text).iter().any(is_as),
    }
}

fn is_word(word: &NginxWord, text: &str) -> bool {
    word.text.eq_ignore_ascii_case(text)
}

/// Returns the arguments with which an unsupported directive is accepted.
pub(super) fn forms(name: &str) -> &'static [&'static str] {
    FORMS.iter().find(|(own, _)| *own == name).map_or(&[], |(_, forms)| *forms)
}

/// Whether a directive configures an upstream protocol that eddy does not support; directives that use the protocol are
/// rejected themselves.
pub(super) fn is_unused(name: &str, here: u16) -> bool {
    let Some((protocol, setting)) = name.split_once('_') else { return false };
    let is_block = here & (HTTP | SERVER | LOCATION | SERVER_IF | IF) != 0;
    is_block && PROTOCOLS.contains(&protocol) && SETTINGS.contains(&setting)
}

/// Upstream protocols that eddy does not support in an nginx.conf.
pub(super) const PROTOCOLS: [&str; 5] = ["fastcgi", "uwsgi", "scgi", "grpc", "memcached"];

const FORMS: &[(&str, &[&str])] = &[
    ("allow", &["all"]),
    ("auth_basic", &["off"]),
    ("auth_request", &["off"]),
    ("brotli", &["off"]),
    ("client_body_in_file_only", &["off"]),
    ("dav_methods", &["off"]),
    ("expires", &["off"]),
    ("gzip", &["off"]),
    ("http3", &["off"]),
    ("limit_rate", &["0"]),
    ("mirror", &["off"]),
    ("modsecurity", &["off"]),
    ("override_charset", &["off"]),
    ("proxy_bind", &["off"]),
    ("proxy_cache", &["off"]),
    ("proxy_cookie_domain", &["off"]),
    ("proxy_cookie_flags", &["off"]),
    ("proxy_cookie_path", &["off"]),
    ("proxy_ignore_client_abort", &["off"]),
    ("proxy_limit_rate", &["0"]),
    ("proxy_next_upstream_timeout", &["0"]),
    ("proxy_ssl_conf_command", &["Options KTLS", "Options PrioritizeChaCha"]),
    ("proxy_ssl_verify_depth", &["1"]),
    ("proxy_store", &["off"]),
    ("satisfy", &["all"]),
    ("slice", &["0"]),
    ("source_charset", &["off"]),
    ("ssi", &["off"]),
    ("ssl", &["off"]),
    ("ssl_conf_command", &["Options KTLS", "Options PrioritizeChaCha"]),
    ("ssl_ocsp", &["off"]),
    ("ssl_stapling", &["off"]),
    ("userid", &["off"]),
    ("zstd", &["off"]),
];

/// Settings of such a protocol, without the prefix of its name.
const SETTINGS: &[&str] = &[
    "bind",
    "buffer_size",
    "buffering",
    "buffers",
    "busy_buffers_size",
    "cache",
    "cache_background_update",
    "cache_bypass",
    "cache_key",
    "cache_lock",
    "cache_lock_age",
    "cache_lock_timeout",
    "cache_max_range_offset",
    "cache_methods",
    "cache_min_uses",
    "cache_path",
    "cache_revalidate",
    "cache_use_stale",
    "cache_valid",
    "catch_stderr",
    "connect_timeout",
    "force_ranges",
    "gzip_flag",
    "hide_header",
    "ignore_client_abort",
    "ignore_headers",
    "index",
    "intercept_errors",
    "keep_conn",
    "limit_rate",
    "max_temp_file_size",
    "modifier1",
    "modifier2",
    "next_upstream",
    "next_upstream_timeout",
    "next_upstream_tries",
    "no_cache",
    "param",
    "pass_header",
    "pass_request_body",
    "pass_request_headers",
    "read_timeout",
    "request_buffering",
    "send_lowat",
    "send_timeout",
    "set_header",
    "socket_keepalive",
    "split_path_info",
    "ssl_certificate",
    "ssl_certificate_key",
    "ssl_ciphers",
    "ssl_conf_command",
    "ssl_crl",
    "ssl_name",
    "ssl_password_file",
    "ssl_protocols",
    "ssl_server_name",
    "ssl_session_reuse",
    "ssl_trusted_certificate",
    "ssl_verify",
    "ssl_verify_depth",
    "store",
    "store_access",
    "string",
    "temp_file_write_size",
    "temp_path",
];
