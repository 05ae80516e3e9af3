//! Every directive that eddy knows of: where it stands, and whether eddy has it.

use super::block::{EVENTS, HTTP, IF, LOCATION, MAIN, SERVER, SERVER_IF, UPSTREAM};
use super::guard;

/// A directive of NGINX.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The blocks that it may stand in, bit by bit.
    pub(super) blocks: u16,
    /// How many arguments it takes, from and to.
    pub(super) arguments: (usize, usize),
    pub(super) use_: Use,
}

/// Whether eddy has a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Use {
    /// It does; perhaps with a remark.
    Read(&'static str),
    /// It is passed over, as nothing hangs on it in eddy.
    Idle(&'static str),
    /// It is passed over with a warning.
    Warned(&'static str),
    /// It is refused.
    Refused(&'static str),
}

/// A module and its directives.
pub(super) struct Module {
    pub(super) title: &'static str,
    pub(super) directives: &'static [Known],
}

/// The directive of this name; where several have it, the one for this block.
pub(super) fn find(name: &str, block: u16) -> Option<&'static Known> {
    let mut all = MODULES.iter().flat_map(|module| module.directives).filter(|known| known.name == name);
    let first = all.clone().next();
    all.find(|known| known.blocks & block != 0).or(first)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().flat_map(|module| module.directives).map(|known| known.name)
}

const fn known(name: &'static str, blocks: u16, arguments: (usize, usize), use_: Use) -> Known {
    Known { name, blocks, arguments, use_ }
}

/// The modules, in the order of the reference.
pub(super) static MODULES: &[Module] = &[
    Module { title: "Core", directives: CORE },
    Module { title: "Rewrite", directives: REWRITE },
    Module { title: "Proxy", directives: PROXY },
    Module { title: "Upstream", directives: UPSTREAMS },
    Module { title: "Map", directives: MAP },
    Module { title: "The frame", directives: FRAME },
    Module { title: "Other modules", directives: OTHER },
    Module { title: "Access", directives: guard::ACCESS },
];

#[rustfmt::skip]
static CORE: &[Known] = &[
    known("absolute_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("aio", HTTP | SERVER | LOCATION, (1, 9), Use::Idle(FILES)),
    known("aio_write", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("alias", LOCATION, (1, 1), Use::Refused(FILES)),
    known("auth_delay", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it delays answers of authentication, which is a filter's in eddy")),
    known("chunked_transfer_encoding", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("clients of HTTP/1.1 are sent chunks where the length is not known")),
    known("client_body_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("client_body_in_file_only", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("bodies are streamed and never put into files")),
    known("client_body_in_single_buffer", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("client_body_temp_path", HTTP | SERVER | LOCATION, (1, 4), Use::Idle("bodies are streamed and never put into files")),
    known("client_body_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("a body must come at 1 KiB a second on average, after 10 s of grace")),
    known("client_header_buffer_size", HTTP | SERVER, (1, 1), Use::Idle(BUFFERS)),
    known("client_header_timeout", HTTP | SERVER, (1, 1), Use::Read("that of the default server of an address holds")),
    known("client_max_body_size", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a body in chunks of unknown length is not limited before its location is known")),
    known("connection_pool_size", HTTP | SERVER, (1, 1), Use::Idle(MEMORY)),
    known("default_type", HTTP | SERVER | LOCATION, (1, 1), Use::Read("the type of texts that `return` sends")),
    known("directio", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("directio_alignment", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("disable_symlinks", HTTP | SERVER | LOCATION, (1, 2), Use::Idle(FILES)),
    known("early_hints", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("interim answers of upstreams are always passed on")),
    known("error_page", HTTP | SERVER | LOCATION | IF, (2, usize::MAX), Use::Read("it holds for statuses of eddy itself, of upstreams that fail to answer, and with `proxy_intercept_errors` of those that answer")),
    known("etag", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("http", MAIN, (0, 0), Use::Read("")),
    known("if_modified_since", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("ignore_invalid_headers", HTTP | SERVER, (1, 1), Use::Idle("a request with a malformed field is always refused")),
    known("internal", LOCATION, (0, 0), Use::Read("")),
    known("keepalive_disable", HTTP | SERVER | LOCATION, (1, 9), Use::Idle("it is for browsers that are gone")),
    known("keepalive_min_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("idle connections are closed when their time is over")),
    known("keepalive_requests", HTTP | SERVER | LOCATION, (1, 1), Use::Read("that of the default server of an address holds")),
    known("keepalive_time", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("a connection may be used as long as it is not idle")),
    known("keepalive_timeout", HTTP | SERVER | LOCATION, (1, 2), Use::Read("that of the default server of an address holds")),
    known("large_client_header_buffers", HTTP | SERVER, (2, 2), Use::Read("number times size is the largest head; that of the default server of an address holds")),
    known("limit_except", LOCATION, (1, usize::MAX), Use::Refused("it is read with `deny all` alone in its block")),
    known("limit_rate", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned(LIMITS)),
    known("limit_rate_after", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Idle(LIMITS)),
    known("lingering_close", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers where a client may still be sending")),
    known("lingering_time", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers where a client may still be sending")),
    known("lingering_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy lingers where a client may still be sending")),
    known("listen", SERVER, (1, usize::MAX), Use::Read("addresses with and without `default_server` and `ssl`; `quic` and `proxy_protocol` are refused")),
    known("location", SERVER | LOCATION, (1, 2), Use::Read("")),
    known("log_not_found", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("log_subrequest", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has no subrequests")),
    known("max_headers", HTTP | SERVER, (1, 1), Use::Idle("a head has at most 128 fields")),
    known("max_ranges", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("merge_slashes", HTTP | SERVER, (1, 1), Use::Read("that of the default server of an address holds, as in NGINX")),
    known("msie_padding", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it is for browsers that are gone")),
    known("msie_refresh", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it is for browsers that are gone")),
    known("open_file_cache", HTTP | SERVER | LOCATION, (1, 2), Use::Idle(FILES)),
    known("open_file_cache_events", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_errors", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_min_uses", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("open_file_cache_valid", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("output_buffers", HTTP | SERVER | LOCATION, (2, 2), Use::Idle(BUFFERS)),
    known("port_in_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("postpone_gzipping", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy compresses nothing")),
    known("postpone_output", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("read_ahead", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("recursive_error_pages", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("request_pool_size", HTTP | SERVER, (1, 1), Use::Idle(MEMORY)),
    known("reset_timedout_connection", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("resolver", HTTP | SERVER | LOCATION | UPSTREAM, (1, usize::MAX), Use::Read("for names in a `proxy_pass` with variables and those of an upstream's `server ... resolve`; the system's name servers resolve all others")),
    known("resolver_timeout", HTTP | SERVER | LOCATION | UPSTREAM, (1, 1), Use::Read("")),
    known("root", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned(FILES)),
    known("satisfy", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("access is decided by filters, all of which must agree")),
    known("send_lowat", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("send_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("a client must take 1 KiB a second on average, after 10 s of grace")),
    known("sendfile", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Idle(KERNEL)),
    known("sendfile_max_chunk", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("server", HTTP, (0, 0), Use::Read("")),
    known("server_name", SERVER, (1, usize::MAX), Use::Read("")),
    known("server_name_in_redirect", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("server_names_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("server_names_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("server_tokens", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy names itself nowhere")),
    known("subrequest_output_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("eddy has no subrequests")),
    known("tcp_nodelay", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("tcp_nopush", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("try_files", SERVER | LOCATION, (2, usize::MAX), Use::Read("eddy has no files, so that it finds none: the last argument always holds")),
    known("types", HTTP | SERVER | LOCATION, (0, 0), Use::Idle(FILES)),
    known("types_hash_bucket_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("types_hash_max_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("underscores_in_headers", HTTP | SERVER, (1, 1), Use::Warned("fields with an underscore in their name are passed on, but for those that could pass for one that eddy knows")),
    known("variables_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("variables_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
];

#[rustfmt::skip]
static REWRITE: &[Known] = &[
    known("break", SERVER | LOCATION | SERVER_IF | IF, (0, 0), Use::Read("")),
    known("if", SERVER | LOCATION, (1, usize::MAX), Use::Read("tests of files (`-f`, `-d`, `-e`, `-x`) are refused: eddy has no files")),
    known("return", SERVER | LOCATION | SERVER_IF | IF, (1, 2), Use::Read("")),
    known("rewrite", SERVER | LOCATION | SERVER_IF | IF, (2, 3), Use::Read("")),
    known("rewrite_log", HTTP | SERVER | LOCATION | SERVER_IF | IF, (1, 1), Use::Idle("`eddy explain` shows each rewrite")),
    known("set", SERVER | LOCATION | SERVER_IF | IF, (2, 2), Use::Read("")),
    known("uninitialized_variable_warn", HTTP | SERVER | LOCATION | SERVER_IF | IF, (1, 1), Use::Idle("a variable that nothing fills is an error when the configuration is read")),
];

#[rustfmt::skip]
static PROXY: &[Known] = &[
    known("proxy_bind", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("the kernel chooses the address that eddy connects from")),
    known("proxy_buffer_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("proxy_buffering", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("answers are streamed")),
    known("proxy_buffers", HTTP | SERVER | LOCATION, (2, 2), Use::Idle(BUFFERS)),
    known("proxy_busy_buffers_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(BUFFERS)),
    known("proxy_cache", HTTP | SERVER | LOCATION, (1, 1), Use::Refused(CACHE)),
    known("proxy_cache_background_update", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_bypass", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_convert_head", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_key", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock_age", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_lock_timeout", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_max_range_offset", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_methods", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_min_uses", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_path", HTTP, (2, usize::MAX), Use::Warned(CACHE)),
    known("proxy_cache_purge", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_revalidate", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_use_stale", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_cache_valid", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_connect_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_cookie_domain", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("cookies of upstreams are passed on as they are")),
    known("proxy_cookie_flags", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("cookies of upstreams are passed on as they are")),
    known("proxy_cookie_path", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("cookies of upstreams are passed on as they are")),
    known("proxy_force_ranges", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("ranges are the upstream's")),
    known("proxy_headers_hash_bucket_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("proxy_headers_hash_max_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(TABLES)),
    known("proxy_hide_header", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_http_version", HTTP | SERVER | LOCATION, (1, 1), Use::Read("`1.1` is what eddy speaks; another is refused")),
    known("proxy_ignore_client_abort", HTTP | SERVER | LOCATION, (1, 1), Use::Warned("an exchange ends when its client leaves")),
    known("proxy_ignore_headers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy does nothing on `X-Accel` fields")),
    known("proxy_intercept_errors", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a request with a body cannot be sent to another upstream then and gets the status alone")),
    known("proxy_limit_rate", HTTP | SERVER | LOCATION, (1, 1), Use::Warned(LIMITS)),
    known("proxy_max_temp_file_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("bodies are streamed and never put into files")),
    known("proxy_method", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the client's method is sent")),
    known("proxy_next_upstream", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Read("`error`, `timeout` of connecting, `http_NNN` and `off`; only requests that may be repeated are; statuses that are named, but 403 and 404, count for `max_fails`")),
    known("proxy_next_upstream_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Warned("retries are bounded by a budget of the cluster")),
    known("proxy_next_upstream_tries", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_no_cache", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(CACHE)),
    known("proxy_pass", LOCATION | IF, (1, 1), Use::Read("`http` and `https`; a value with variables leads to what `set` and `map` of the configuration name: upstreams, addresses, and names where there is a `resolver`; one that comes from the request is refused")),
    known("proxy_pass_header", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("fields of upstreams are passed on, `Server` and `Date` too")),
    known("proxy_pass_request_body", HTTP | SERVER | LOCATION, (1, 1), Use::Read("`on`; `off` is refused")),
    known("proxy_pass_request_headers", HTTP | SERVER | LOCATION, (1, 1), Use::Read("`on`; `off` is refused")),
    known("proxy_pass_trailers", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("trailers are passed on")),
    known("proxy_read_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_redirect", HTTP | SERVER | LOCATION, (1, 2), Use::Read("")),
    known("proxy_request_buffering", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("requests are streamed")),
    known("proxy_request_dynamic", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("the configuration is read anew when it changes")),
    known("proxy_allow_upstream", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("upstreams are those of the configuration")),
    known("proxy_bind_dynamic", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("the kernel chooses the address that eddy connects from")),
    known("proxy_send_lowat", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("proxy_send_timeout", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("`proxy_read_timeout` bounds the silence of an upstream")),
    known("proxy_set_body", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the client's body is sent; a filter can change it")),
    known("proxy_set_header", HTTP | SERVER | LOCATION, (2, 2), Use::Read("eddy writes `Connection`, `Content-Length`, `Transfer-Encoding`, `TE`, `Upgrade` and `Expect` itself; `Upgrade $http_upgrade` with `Connection upgrade`, or a variable in its place, lets clients switch protocols")),
    known("proxy_socket_keepalive", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(KERNEL)),
    known("proxy_ssl_certificate", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a file without variables")),
    known("proxy_ssl_certificate_cache", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("certificates are read once, and again when they change")),
    known("proxy_ssl_certificate_key", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a file without variables, not encrypted")),
    known("proxy_ssl_ciphers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(SUITES)),
    known("proxy_ssl_conf_command", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("eddy does not have OpenSSL")),
    known("proxy_ssl_crl", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy reads no lists of revoked certificates of endpoints: they would be taken")),
    known("proxy_ssl_key_log", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the keys of connections are written nowhere")),
    known("proxy_ssl_name", HTTP | SERVER | LOCATION, (1, 1), Use::Read("a name without variables, or `$proxy_host`")),
    known("proxy_ssl_password_file", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("keys must not be encrypted")),
    known("proxy_ssl_protocols", HTTP | SERVER | LOCATION, (1, 9), Use::Read("`TLSv1.2` and `TLSv1.3`; those before are never spoken")),
    known("proxy_ssl_server_name", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_ssl_session_reuse", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("sessions are taken up again where upstreams let them")),
    known("proxy_ssl_trusted_certificate", HTTP | SERVER | LOCATION, (1, 1), Use::Read("")),
    known("proxy_ssl_verify", HTTP | SERVER | LOCATION, (1, 1), Use::Read("with a warning while it is off")),
    known("proxy_ssl_verify_depth", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("a chain may be of any length, up to six between the upstream and its authority")),
    known("proxy_store", HTTP | SERVER | LOCATION, (1, 1), Use::Refused(FILES)),
    known("proxy_store_access", HTTP | SERVER | LOCATION, (1, 9), Use::Idle(FILES)),
    known("proxy_temp_file_write_size", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("bodies are streamed and never put into files")),
    known("proxy_temp_path", HTTP | SERVER | LOCATION, (1, 4), Use::Idle("bodies are streamed and never put into files")),
];

#[rustfmt::skip]
static UPSTREAMS: &[Known] = &[
    known("upstream", HTTP, (1, 1), Use::Read("")),
    known("server", UPSTREAM, (1, usize::MAX), Use::Read("`weight`, `max_fails`, `fail_timeout`, `max_conns`, `down` and `backup`; `slow_start`, `route`, `service` and `drain` are refused")),
    known("zone", UPSTREAM, (1, 2), Use::Read("`max_conns` is for all workers together then; what fails is known to each worker alone")),
    known("state", UPSTREAM, (1, 1), Use::Refused("endpoints are those of the configuration")),
    known("hash", UPSTREAM, (1, 2), Use::Read("the same key to the same endpoint as in NGINX, `consistent` or not")),
    known("ip_hash", UPSTREAM, (0, 0), Use::Read("the same address to the same endpoint as in NGINX")),
    known("keepalive", UPSTREAM, (1, 2), Use::Read("idle links are kept without it, too")),
    known("keepalive_requests", UPSTREAM, (1, 1), Use::Read("")),
    known("keepalive_time", UPSTREAM, (1, 1), Use::Idle("a link may be used as long as it is not idle")),
    known("keepalive_timeout", UPSTREAM, (1, 1), Use::Read("")),
    known("ntlm", UPSTREAM, (0, 0), Use::Refused("links are shared by clients")),
    known("least_conn", UPSTREAM, (0, 0), Use::Read("the less loaded of two that are drawn")),
    known("least_time", UPSTREAM, (1, 2), Use::Refused("use `least_conn`")),
    known("queue", UPSTREAM, (1, 2), Use::Refused("requests without an endpoint are answered 503 at once")),
    known("random", UPSTREAM, (0, 3), Use::Read("`two least_conn` is the less loaded of two that are drawn")),
    known("sticky", UPSTREAM, (1, usize::MAX), Use::Refused("eddy has no sessions")),
    known("sticky_cookie_insert", UPSTREAM, (1, usize::MAX), Use::Refused("eddy has no sessions")),
];

#[rustfmt::skip]
static MAP: &[Known] = &[
    known("map", HTTP, (2, 2), Use::Read("")),
    known("map_hash_bucket_size", HTTP, (1, 1), Use::Idle(TABLES)),
    known("map_hash_max_size", HTTP, (1, 1), Use::Idle(TABLES)),
];

#[rustfmt::skip]
static FRAME: &[Known] = &[
    known("events", MAIN, (0, 0), Use::Read("")),
    known("include", u16::MAX, (1, 1), Use::Read("")),
    known("worker_processes", MAIN, (1, 1), Use::Read("`auto`, or the number of workers")),
    known("worker_connections", EVENTS, (1, 1), Use::Read("times the workers, the most connections of all listeners")),
    known("error_log", MAIN | HTTP | SERVER | LOCATION, (1, 2), Use::Idle("eddy's own messages go to standard error; `--log-level` chooses among them")),
    known("pid", MAIN, (1, 1), Use::Idle("a service manager knows the process")),
    known("user", MAIN, (1, 2), Use::Idle("start eddy as the user it is to run as")),
    known("daemon", MAIN, (1, 1), Use::Idle("eddy stays in the foreground")),
    known("master_process", MAIN, (1, 1), Use::Idle("there is always a parent")),
    known("load_module", MAIN, (1, 1), Use::Refused("modules of NGINX do not run in eddy; write a filter")),
    known("env", MAIN, (1, 1), Use::Idle("eddy reads no environment")),
    known("worker_rlimit_nofile", MAIN, (1, 1), Use::Idle("eddy raises the limit of open files itself")),
    known("worker_shutdown_timeout", MAIN, (1, 1), Use::Read("the longest time that a drain waits")),
    known("worker_cpu_affinity", MAIN, (1, usize::MAX), Use::Idle(KERNEL)),
    known("worker_priority", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("worker_rlimit_core", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("working_directory", MAIN, (1, 1), Use::Idle("paths are taken from the folder of the first file")),
    known("thread_pool", MAIN, (1, 3), Use::Idle(FILES)),
    known("timer_resolution", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("lock_file", MAIN, (1, 1), Use::Idle(KERNEL)),
    known("pcre_jit", MAIN, (1, 1), Use::Idle("expressions are compiled to automata")),
    known("ssl_engine", MAIN, (1, 1), Use::Idle("eddy does not have OpenSSL")),
    known("debug_points", MAIN, (1, 1), Use::Idle("it is for developers of NGINX")),
    known("accept_mutex", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("accept_mutex_delay", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("multi_accept", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("use", EVENTS, (1, 1), Use::Idle(KERNEL)),
    known("debug_connection", EVENTS, (1, 1), Use::Idle("it is for developers of NGINX")),
    known("worker_aio_requests", EVENTS, (1, 1), Use::Idle(FILES)),
    known("stream", MAIN, (0, 0), Use::Refused("it is written as listeners with `forward` in an eddy.yaml")),
    known("mail", MAIN, (0, 0), Use::Refused("eddy is no mail proxy")),
];

#[rustfmt::skip]
static OTHER: &[Known] = &[
    known("add_header", HTTP | SERVER | LOCATION | IF, (2, 3), Use::Read("")),
    known("add_trailer", HTTP | SERVER | LOCATION | IF, (2, 3), Use::Refused("trailers are the upstream's")),
    known("expires", HTTP | SERVER | LOCATION | IF, (1, 2), Use::Refused("use `add_header Cache-Control`")),
    known("access_log", HTTP | SERVER | LOCATION | IF, (1, 9), Use::Read("`off`; a file gets eddy's own records, whatever the format")),
    known("log_format", HTTP, (2, usize::MAX), Use::Idle("eddy's access log has a format of its own, as text or JSON")),
    known("open_log_file_cache", HTTP | SERVER | LOCATION, (1, 5), Use::Idle("the file stays open")),
    known("index", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle(FILES)),
    known("autoindex", HTTP | SERVER | LOCATION, (1, 1), Use::Idle(FILES)),
    known("gzip", HTTP | SERVER | LOCATION | IF, (1, 1), Use::Warned("eddy compresses nothing")),
    known("gzip_buffers", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_comp_level", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_disable", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_http_version", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_min_length", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_proxied", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_types", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_vary", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gzip_static", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("gunzip", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Idle("eddy compresses nothing")),
    known("allow", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("`all` is read; for addresses use the filter `ip_access` in eddy.yaml")),
    known("deny", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("`all` is read; for addresses use the filter `ip_access` in eddy.yaml")),
    known("auth_basic", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("use the filter `basic_auth` in eddy.yaml")),
    known("auth_basic_user_file", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("use the filter `basic_auth` in eddy.yaml")),
    known("auth_request", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("write a filter that asks")),
    known("limit_req", HTTP | SERVER | LOCATION, (1, 4), Use::Refused("use the filter `rate_limit` in eddy.yaml")),
    known("limit_req_zone", HTTP, (3, 4), Use::Idle("use the filter `rate_limit` in eddy.yaml")),
    known("limit_conn", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("the listener limits connections in eddy.yaml")),
    known("limit_conn_zone", HTTP, (2, 2), Use::Idle("the listener limits connections in eddy.yaml")),
    known("geo", HTTP, (1, 2), Use::Refused("use `map`")),
    known("split_clients", HTTP, (2, 2), Use::Refused("use weighted clusters in eddy.yaml")),
    known("real_ip_header", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the client's address is that of the connection")),
    known("set_real_ip_from", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("the client's address is that of the connection")),
    known("fastcgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy speaks HTTP to upstreams")),
    known("uwsgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy speaks HTTP to upstreams")),
    known("scgi_pass", LOCATION | IF, (1, 1), Use::Refused("eddy speaks HTTP to upstreams")),
    known("grpc_pass", LOCATION | IF, (1, 1), Use::Refused("upstreams of an nginx.conf are spoken to over HTTP/1.1; `protocol: http2` of a cluster in eddy.yaml does it")),
    known("memcached_pass", LOCATION | IF, (1, 1), Use::Refused("eddy speaks HTTP to upstreams")),
    known("mirror", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy mirrors no requests")),
    known("sub_filter", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("write a filter")),
    known("stub_status", SERVER | LOCATION, (0, 1), Use::Refused("eddy's admin listener has metrics")),
    known("ssl", HTTP | SERVER, (1, 1), Use::Refused("write `listen 443 ssl`")),
    known("ssl_buffer_size", HTTP | SERVER, (1, 1), Use::Idle(BUFFERS)),
    known("ssl_certificate", HTTP | SERVER, (1, 1), Use::Read("a file without variables; clients get the one of the server that has the name they ask for")),
    known("ssl_certificate_cache", HTTP | SERVER, (1, usize::MAX), Use::Idle("certificates are read once, and again when they change")),
    known("ssl_certificate_key", HTTP | SERVER, (1, 1), Use::Read("a file without variables, not encrypted")),
    known("ssl_ciphers", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_client_certificate", HTTP | SERVER, (1, 1), Use::Read("the same for all servers of an address")),
    known("ssl_conf_command", HTTP | SERVER, (2, 2), Use::Refused("eddy does not have OpenSSL")),
    known("ssl_crl", HTTP | SERVER, (1, 1), Use::Read("the same for all servers of an address; a list that is out of date is gone by all the same, and warned of")),
    known("ssl_dhparam", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_early_data", HTTP | SERVER, (1, 1), Use::Idle("requests are taken after the handshake alone")),
    known("ssl_ecdh_curve", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_ocsp", HTTP | SERVER, (1, 1), Use::Refused("eddy asks nobody whether a certificate is revoked: it would be taken")),
    known("ssl_ocsp_cache", HTTP | SERVER, (1, 1), Use::Idle("eddy asks nobody whether a certificate is revoked")),
    known("ssl_ocsp_responder", HTTP | SERVER, (1, 1), Use::Idle("eddy asks nobody whether a certificate is revoked")),
    known("ssl_password_file", HTTP | SERVER, (1, 1), Use::Refused("keys must not be encrypted")),
    known("ssl_prefer_server_ciphers", HTTP | SERVER, (1, 1), Use::Idle(SUITES)),
    known("ssl_protocols", HTTP | SERVER, (1, 9), Use::Read("`TLSv1.2` and `TLSv1.3` of the default server of an address; those before are never spoken")),
    known("ssl_reject_handshake", HTTP | SERVER, (1, 1), Use::Read("in the default server")),
    known("ssl_session_cache", HTTP | SERVER, (1, 2), Use::Idle(SESSIONS)),
    known("ssl_session_ticket_key", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_session_tickets", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_session_timeout", HTTP | SERVER, (1, 1), Use::Idle(SESSIONS)),
    known("ssl_stapling", HTTP | SERVER, (1, 1), Use::Warned("eddy asks no authority: name what it said with `ssl_stapling_file`")),
    known("ssl_stapling_file", HTTP | SERVER, (1, 1), Use::Read("")),
    known("ssl_stapling_responder", HTTP | SERVER, (1, 1), Use::Idle("eddy asks no authority")),
    known("ssl_stapling_verify", HTTP | SERVER, (1, 1), Use::Idle("eddy asks no authority")),
    known("ssl_trusted_certificate", HTTP | SERVER, (1, 1), Use::Idle("authorities are those of `ssl_client_certificate`")),
    known("ssl_verify_client", HTTP | SERVER, (1, 1), Use::Read("`on`, `off` and `optional`, the same for all servers of an address; who shows no certificate that does is turned away in the handshake")),
    known("ssl_verify_depth", HTTP | SERVER, (1, 1), Use::Idle("a chain may be of any length, up to six between the client and its authority")),
    known("http2", HTTP | SERVER, (1, 1), Use::Read("that of the default server of an address, and over TLS of any server there; as `http2` behind `listen`")),
];

const FILES: &str = "eddy serves no files; put a server for files behind `proxy_pass`";
const SESSIONS: &str = "clients carry their sessions in tickets, whose keys change by themselves";
const SUITES: &str = "suites without known weaknesses only";
const CACHE: &str = "eddy has no cache";
const BUFFERS: &str = "bodies are streamed through buffers of fixed size";
const TABLES: &str = "tables size themselves";
const KERNEL: &str = "eddy decides how bytes are moved";
const LIMITS: &str = "the rate of a client is not limited in eddy; the filter `rate_limit` limits requests";
const MEMORY: &str = "memory is managed otherwise";
