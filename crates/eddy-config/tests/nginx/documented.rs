//! Which examples of NGINX's documentation are tested here, and why the others are not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use eddy_config::directives_page;

use crate::{examples, peer};

/// Sections whose examples are left out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("beginners_guide#static", FILES),
    ("converting_rewrite_rules (examples with `-f`)", FILES),
    ("ngx_http_core_module#aio", FILES),
    ("ngx_http_core_module#alias", FILES),
    ("ngx_http_core_module#directio", FILES),
    ("ngx_http_core_module#disable_symlinks", FILES),
    ("ngx_http_core_module#early_hints", "interim answers are always passed on"),
    ("ngx_http_core_module#error_page (to `fastcgi_pass`)", "eddy speaks HTTP to upstreams"),
    ("ngx_http_core_module#keepalive_disable", "it changes nothing that an answer shows"),
    (
        "ngx_http_core_module#large_client_header_buffers",
        "how large a head may be is tried with the limits of eddy",
    ),
    ("ngx_http_core_module#limit_except", "tried with `deny all` in `guarded.rs`; other rules are refused"),
    ("ngx_http_core_module#limit_rate", "the rate of a client is not limited in eddy"),
    ("ngx_http_core_module#listen (`quic`, `proxy_protocol`)", "refused, each with its reason"),
    ("ngx_http_ssl_module", "tried beside the real NGINX in the end-to-end tests"),
    ("ngx_http_core_module#open_file_cache", FILES),
    ("ngx_http_core_module#resolver", "tried with a name server of a test's own, in the end-to-end tests"),
    ("ngx_http_core_module#root", FILES),
    ("ngx_http_core_module#satisfy", "refused: access is decided by filters"),
    ("ngx_http_core_module#sendfile", FILES),
    (
        "ngx_http_core_module#server_name (`$hostname`)",
        "refused: eddy does not ask for the name of the machine",
    ),
    ("ngx_http_core_module#try_files (with files that are there)", FILES),
    ("ngx_http_core_module#types", FILES),
    ("ngx_http_map_module#map (with `include`)", "it is one file, as `include` anywhere is"),
    ("ngx_http_proxy_module#proxy_bind", "refused: the kernel chooses the address"),
    ("ngx_http_proxy_module#proxy_cache and all about it", "eddy has no cache"),
    (
        "ngx_http_proxy_module#proxy_cookie_domain, _flags, _path",
        "refused: cookies are passed on as they are",
    ),
    ("ngx_http_proxy_module#proxy_pass (`https`)", SECURE),
    ("ngx_http_proxy_module#proxy_ssl and all about it", SECURE),
    ("ngx_http_proxy_module#proxy_store", FILES),
    ("ngx_http_rewrite_module#if (`limit_rate`, `$invalid_referer`)", "neither is there in eddy"),
    ("ngx_http_upstream_module#hash, ip_hash, server", "tried endpoint by endpoint in `upstreams.rs`"),
    ("ngx_http_upstream_module#health_check, match", "not in the free NGINX; eddy learns from requests"),
    ("ngx_http_upstream_module#keepalive (FastCGI, memcached)", "eddy speaks HTTP to upstreams"),
    ("ngx_http_upstream_module#queue, state, sticky, ntlm, least_time", "refused, each with its reason"),
    ("ngx_http_upstream_module#zone (dynamic groups)", "endpoints are those of the configuration"),
];

const FILES: &str = "eddy serves no files";
const SECURE: &str = "tried with endpoints that speak TLS, in the end-to-end tests";

#[test]
fn the_page_of_examples_is_as_it_should_be() {
    let sections = examples::documented();
    let count: usize = sections.values().sum();
    assert!(count >= 40, "{count} examples");
    let mut page = format!(
        "# Examples of NGINX's documentation\n\n\
         This page is made by a test. {count} configurations after examples of the documentation are put to eddy and to the\n\
         real NGINX (`crates/eddy-config/tests/nginx`), request by request; beside them stand others, and tables at random.\n\
         The sections are those of <https://nginx.org/en/docs/>.\n\n\
         | section | examples tried |\n|---|---|\n"
    );
    for (section, count) in &sections {
        let _ = writeln!(page, "| {section} | {count} |");
    }
    page.push_str("\n## Left out\n\n| section | why |\n|---|---|\n");
    for (section, why) in LEFT_OUT {
        let _ = writeln!(page, "| {section} | {why} |");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/nginx-examples.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(page, expected, "docs/reference/nginx-examples.md is not as it was; UPDATE=1 accepts it");
}

/// Words in the NGINX binary that look like directives of these modules but are none.
const NO_DIRECTIVES: [&str; 12] = [
    "map_hash",
    "proxy_add_x_forwarded_for",
    "proxy_headers_hash",
    "proxy_port",
    "proxy_recursive",
    "proxy_host",
    "random_index",
    "server_names",
    "server_names_hash",
    "server_protocol",
    "server_addr",
    "server_port",
];

#[test]
fn every_directive_of_the_real_program_is_known() {
    let Some(words) = words() else { return };
    let begins = [
        "absolute_",
        "client_",
        "default_type",
        "directio",
        "error_page",
        "keepalive",
        "large_client",
        "limit_rate",
        "lingering_",
        "map_",
        "merge_",
        "open_file",
        "port_in",
        "postpone",
        "proxy_",
        "read_ahead",
        "recursive_",
        "request_pool",
        "reset_timed",
        "resolver",
        "rewrite",
        "satisfy",
        "send_",
        "sendfile_",
        "server_",
        "tcp_",
        "try_",
        "types_",
        "underscores",
        "uninitialized",
        "variables_hash_",
        "ip_hash",
        "least_conn",
    ];
    let page = directives_page();
    let is_meant = |word: &&str| {
        begins.iter().any(|begin| word.starts_with(begin))
            && !word.starts_with("proxy_protocol")
            && !NO_DIRECTIVES.contains(word)
    };
    let meant: BTreeSet<&str> = words.iter().map(String::as_str).filter(is_meant).collect();
    let unknown: Vec<&&str> = meant.iter().filter(|word| !page.contains(&format!("| `{word}` |"))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(meant.len() > 120, "{} words", meant.len());
}

/// Returns the words in the NGINX binary, among them the names of its directives; `None` if NGINX is not installed.
pub(crate) fn words() -> Option<Vec<String>> {
    // Other versions, as installed by other distributions, have other directives.
    if !test_peers::all_present(&[test_peers::NGINX]).unwrap()
        || !test_peers::present_or_optional(&test_peers::NGINX_1_22)
    {
        return None;
    }
    let bytes = std::fs::read(peer::program()).unwrap();
    let is_part = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let words = bytes.split(|byte| *byte == 0).filter(|word| word.len() > 3 && word.iter().all(is_part));
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}
