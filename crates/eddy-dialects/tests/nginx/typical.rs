//! Tests of constructs from real configuration files, as templates and guides have them: they load, and respond as in
//! NGINX.
//!
//! The texts are ours; they show what configuration generators and guides to WordPress, Nextcloud, Laravel, Django,
//! Grafana, Jenkins, GitLab, Home Assistant, Keycloak and Certbot recommend.

use std::collections::BTreeSet;

use eddy_dialects::check;
use eddy_spec::problem::SourceText;

use crate::{NginxCase, NginxTestRequest, documented};

/// Returns the cases: a name, a configuration, and requests with host, target and headers.
pub(crate) fn cases() -> Vec<NginxCase> {
    let cases = TYPICAL.iter().map(|(name, config, requests)| {
        let requests = requests.lines().map(str::trim).filter(|line| !line.is_empty());
        NginxCase {
            name: format!("typical/{name}"),
            config: whole(config),
            requests: requests.map(NginxTestRequest::asked).collect(),
        }
    });
    cases.collect()
}

/// Wraps a configuration fragment in a server, unless it contains one.
fn whole(config: &str) -> String {
    let body = config
        .replace("@sock", "listen unix:/eddy/site.sock")
        .replace("@echo", "http://unix:/eddy/echo.sock");
    if body.contains("server {") {
        return format!("events {{}}\nhttp {{ {body} }}");
    }
    format!("events {{}}\nhttp {{ server {{ listen unix:/eddy/site.sock; {body} }} }}")
}

/// Returns the error and warning messages about a configuration.
fn said(config: &str) -> Vec<String> {
    let sources = [SourceText::new("nginx.conf", config)];
    let problems = match check(&sources) {
        Ok(checked) => checked.warnings,
        Err(problems) => problems,
    };
    problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn directives_without_effect_are_accepted_silently() {
    for line in HARMLESS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let config =
            format!("events {{}} http {{ server {{ listen 80; location / {{ {line} return 200 ok; }} }} }}");
        assert_eq!(said(&config), Vec::<String>::new(), "{line}");
    }
    for line in HARMLESS_OUTSIDE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let config = format!("events {{}} http {{ {line} server {{ listen 80; return 200 ok; }} }}");
        assert_eq!(said(&config), Vec::<String>::new(), "{line}");
    }
    let config =
        "stream { log_format a b; } mail { } events {} http { server { listen 80; return 200 ok; } }";
    assert_eq!(said(config), Vec::<String>::new());
}

#[test]
fn unsupported_directives_with_an_effect_are_refused() {
    for line in REFUSED.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let config =
            format!("events {{}} http {{ server {{ listen 80; location / {{ {line} return 200 ok; }} }} }}");
        assert!(check(&[SourceText::new("nginx.conf", &config)]).is_err(), "{line}");
    }
    for outside in ["stream { server { listen 1; } }", "mail { server { listen 1; } }"] {
        let config = format!("{outside} events {{}} http {{ server {{ listen 80; return 200 ok; }} }}");
        assert!(check(&[SourceText::new("nginx.conf", &config)]).is_err(), "{outside}");
    }
}

#[test]
fn settings_of_protocols_that_a_file_does_not_use_are_accepted() {
    let Some(words) = documented::words() else { return };
    let protocols = ["fastcgi_", "uwsgi_", "scgi_", "grpc_", "memcached_"];
    // Words that look like directives but are none.
    let is_other = |word: &str| {
        word.ends_with("_pass")
            || word.ends_with("_hash")
            || word.ends_with("_key") && word.starts_with("memcached")
            || ["fastcgi_path_info", "fastcgi_script_name"].contains(&word)
    };
    let words = words.iter().map(String::as_str);
    let words: BTreeSet<&str> = words
        .filter(|word| protocols.iter().any(|start| word.starts_with(start)) && !is_other(word))
        .collect();
    assert!(words.len() > 150, "{} words", words.len());
    for word in words {
        let config = format!("events {{}} http {{ server {{ listen 80; {word} 1; return 200 ok; }} }}");
        assert_eq!(said(&config), Vec::<String>::new(), "{word}");
    }
}

#[test]
fn directives_of_all_usual_modules_are_recognised() {
    let Some(words) = documented::words() else { return };
    let starts = [
        "addition_",
        "ancient_",
        "auth_",
        "autoindex",
        "browser",
        "charset",
        "gunzip",
        "gzip",
        "http2_",
        "limit_",
        "mirror",
        "modern_",
        "mp4",
        "real_ip",
        "referer_hash_",
        "secure_link",
        "set_real",
        "source_charset",
        "ssi_",
        "sub_filter",
        "userid",
        "valid_ref",
    ];
    // Internal names of the program, variables, and parts of directives.
    let others = [
        "gzip_ratio",
        "limit_rate",
        "secure_link_expires",
        "ssi_command_hash",
        "ssi_ignore_recycled_buffers",
        "http2_streams_index_mask",
        "auth_http",
        "auth_http_header",
        "auth_http_timeout",
        "auth_http_pass_client_cert",
        "secure_link_expires",
        "http2_hash",
    ];
    let page = eddy_dialects::directives_page();
    let words =
        words.iter().map(String::as_str).filter(|word| starts.iter().any(|start| word.starts_with(start)));
    let unknown: Vec<&str> =
        words.filter(|word| !others.contains(word) && !page.contains(&format!("| `{word}` |"))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn invalid_names_and_expressions_are_explained() {
    for (line, word) in [
        ("location ~ /\\.(?!well-known) { return 403; }", "look-ahead"),
        ("location ~ ^/(a)\\1$ { return 200 ok; }", "references"),
        ("set $upstream_addr 1;", "built-in variable"),
        ("add_header X-A $ssl_client_cert;", "certificate"),
        ("add_header X-A $upstream_http_x;", "responded"),
        ("add_header X-A $realip_remote;", "is undefined"),
    ] {
        let config = format!("events {{}} http {{ server {{ listen 80; {line} return 200 ok; }} }}");
        let said = said(&config).join("\n");
        assert!(said.contains(word), "{line}: {said}");
        assert!(!said.contains("no TLS listeners"), "{line}: {said}");
    }
    for listen in ["8000-9000", "8002-8001", "70000-70001"] {
        let config = format!("events {{}} http {{ server {{ listen {listen}; return 200 ok; }} }}");
        assert!(said(&config).join("\n").contains("is not an address"), "{listen}");
    }
}

#[test]
fn a_time_of_more_than_a_day_is_a_day() {
    let config = "events {} http { server { listen 80; location / { proxy_read_timeout 7d; proxy_pass http://127.0.0.1:9; } } }";
    let checked =
        check(&[SourceText::new("nginx.conf", config)]).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let timeouts: Vec<u64> =
        checked.config.clusters.values().map(|cluster| cluster.read_idle_timeout.as_secs()).collect();
    assert_eq!(timeouts, [86_400]);
    assert_eq!(said(config), ["`7d` is longer than eddy's maximum of one day"]);
}

#[test]
fn a_port_range_makes_one_listener_per_port() {
    let config = "events {} http { server { listen 127.0.0.1:8000-8003; return 200 ok; } server { listen 127.0.0.1:8002; } }";
    let checked =
        check(&[SourceText::new("nginx.conf", config)]).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let names: Vec<String> =
        checked.config.listeners.iter().map(|listener| listener.name.to_string()).collect();
    assert_eq!(names, ["127.0.0.1:8000", "127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003"]);
}

/// Settings in a location that are switched off, or that are the default anyway.
const HARMLESS: &str = "
    allow all;
    auth_basic off;
    auth_basic OFF;
    auth_request off;
    satisfy all;
    expires off;
    charset utf-8;
    charset off;
    mirror off;
    ssi off;
    gzip off;
    brotli off;
    slice 0;
    limit_rate 0;
    proxy_bind off;
    proxy_cache off;
    proxy_store off;
    proxy_cookie_path off;
    proxy_cookie_domain off;
    proxy_cookie_flags off;
    proxy_ignore_client_abort off;
    proxy_set_header Proxy \"\";
    proxy_set_header Upgrade \"\";
    proxy_hide_header Upgrade;
    proxy_hide_header X-Powered-By;
    client_body_in_file_only off;
    fastcgi_read_timeout 300;
    fastcgi_buffers 16 16k;
    uwsgi_buffering off;
    grpc_read_timeout 1h;
    limit_req_status 429;
    sub_filter_once off;
    autoindex_exact_size off;
    real_ip_recursive on;
    set $upstream_endpoint 10.0.0.1:80;
    set $ssl_redirect yes;
    add_header X-Cache $upstream_cache_status;
    add_header Alt-Svc $http3;
    add_header Content-Length 0;
    proxy_set_header Early-Data $ssl_early_data;
    proxy_set_header X-SSL-Verify $ssl_client_verify;
    proxy_set_header X-SSL-Subject $ssl_client_s_dn;
    proxy_set_header X-TLS \"$ssl_protocol $ssl_cipher $ssl_server_name $ssl_session_reused $ssl_alpn_protocol\";
    proxy_set_header X-Peer $realip_remote_addr:$realip_remote_port;
";

/// Settings outside of servers.
const HARMLESS_OUTSIDE: &str = "
    underscores_in_headers off;
    underscores_in_headers on;
    ignore_invalid_headers off;
    ssl_stapling off;
    ssl_conf_command Options KTLS;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    brotli_types text/css application/json;
    http2_max_concurrent_streams 128;
    fastcgi_cache_path /var/cache/nginx levels=1:2 keys_zone=a:10m;
    real_ip_header X-Forwarded-For;
    map $status $loggable { ~^[23] 0; default 1; }
    map $time_iso8601 $day { default none; ~^(?<upstream_day>[^T]+) $upstream_day; }
    upstream a { server 10.0.0.1 fail_timeout=0; server 10.0.0.2 max_fails=3 fail_timeout=0s; }
";

/// Settings in a location that have an effect eddy does not support.
const REFUSED: &str = "
    auth_basic closed;
    auth_request /auth;
    satisfy any;
    expires 30d;
    mirror /copy;
    ssi on;
    deny 10.0.0.1;
    allow 10.0.0.0/8;
    limit_req zone=a;
    limit_except GET { deny 10.0.0.0/8; }
    proxy_cache zone;
    proxy_store on;
    proxy_cookie_path / /a;
    sub_filter a b;
    set_real_ip_from 10.0.0.0/8;
    fastcgi_pass 127.0.0.1:9000;
    uwsgi_pass 127.0.0.1:9000;
    grpc_pass 127.0.0.1:9000;
    fastcgi_pas 1;
    modsecurity on;
    more_set_headers a;
    secure_link $arg_a;
    override_charset on;
    charset \"a b\";
";

const TYPICAL: &[(&str, &str, &str)] = &[
    ("error_page_and_redirect",
     "error_page 404 /f; error_page 403 =200 /g; error_page 402 = @h; error_page 405 =301 /f;
      location = /f { return 302 /elsewhere; } location = /g { return 301 https://other.test/; } location @h { return 307 /there; }
      location /a { return 403; } location /b { return 402; } location /c { return 405; } location / { return 404; }",
     "x /z\n x /a\n x /b\n x /c\n x /f"),
    ("error_page_of_redirects",
     "error_page 302 /f; error_page 301 =200 /g; error_page 303 = @h; error_page 307 /i; error_page 308 http://far.test/;
      location = /f { return 200 page; } location = /g { return 200 page; } location @h { return 200 page; } location = /i { return 404; }
      location = /1 { return 302 /x; } location = /2 { return 301 /x; } location = /3 { return 303 /x; } location = /4 { return 307 /x; }
      location = /5 { rewrite ^ /x redirect; } location = /6 { return http://y.test/; } location = /7 { return 308 /x; } location /8/ { proxy_pass @echo; }",
     "x /1\n x /2\n x /3\n x /4\n x /5\n x /6\n x /7\n x /8"),
    ("error_page_of_redirects_within",
     "error_page 404 /f; error_page 302 /g; location = /f { return 302 /x; } location = /g { return 200 never; } location / { return 404; }",
     "x /a\n x /f"),
    ("error_page_recursive",
     "recursive_error_pages on; error_page 404 /f; error_page 302 /g; location = /f { return 302 /x; } location = /g { return 200 page; } location / { return 404; }",
     "x /a\n x /f"),
    ("error_page_in_server_and_if",
     "error_page 302 =200 /page; if ($arg_a) { return 302 /x; } location = /page { return 200 page; } location / { if ($arg_b) { return 302 /y; } return 204; }",
     "x /?a=1\n x /?b=1\n x /"),
    ("intercepted_redirects",
     "location / { proxy_intercept_errors on; error_page 302 = @follow; error_page 404 /moved; proxy_pass @echo; }
      location @follow { return 200 followed; } location = /moved { return 301 /new; }",
     "x /go X-Location=http://a.test/\n x /gone\n x /fine\n x /broken"),
    ("server_name",
     "server { @sock; server_name .Example.COM other.test; location / { return 200 $server_name; } location /r { server_name_in_redirect on; return 301 /x; } }
      server { @sock; server_name *.B.test; return 200 $server_name; } server { @sock; server_name WWW.c.*; return 200 $server_name; }
      server { @sock; server_name ~^(?<Sub>.+)[.]d[.]test$; return 200 \"$server_name $sub $Sub\"; } server { @sock; server_name \"\"; return 200 <$server_name>; }",
     "www.example.com /\n example.com /r\n other.test /\n a.b.test /\n www.c.test /\n x.d.test /"),
    ("pcre",
     "location ~ ^/\\Qa.b*\\E$ { return 200 quoted; } location ~ \"^/l/(\\p{L}+)$\" { return 200 $1; } location ~ \"^/n/(\\p{N}|\\pP)$\" { return 200 $1; }
      location ~* \"^/up/\\p{Lu}$\" { return 200 upper; } location ~ \"^/not/\\P{L}+$\" { return 200 no-letter; } location ~ \"^/class/[\\p{Lu}\\d_]+$\" { return 200 class; }
      location ~ ^/br/[[&~]+$ { return 200 brackets; } location ~ ^/q/[*+?]+$ { return 200 quantifiers; } location ~ \"^/h/[\\h\\x2d]$\" { return 200 blank; }
      location ~ \"^/x/\\x{e9}$\" { return 200 latin; } location ~ \"^/rep/{a}$\" { return 200 brace; } location ~ ^/e/[\\Q]^\\E]$ { return 200 quoted-class; }
      location ~ ^/z/a\\Z { return 200 end; } location ~ ^/g/(?'name'b+)$ { return 200 $name; } location ~ (?#comment)^/comment$ { return 200 comment; }
      location ~ ^/posix/[[:alpha:]_.-]+$ { return 200 posix; } location / { return 404; }",
     "x /a.b*\n x /axb*\n x /l/abc\n x /l/a1\n x /l/%C3%A9\n x /l/%E9\n x /n/7\n x /n/-\n x /n/a\n x /up/A\n x /up/a\n x /up/%E9\n x /up/%C9
      x /not/12\n x /not/1a\n x /class/A9_\n x /class/a\n x /br/[&~\n x /br/a\n x /q/*+?\n x /q/a\n x /h/-\n x /h/%20\n x /h/%A0\n x /h/a
      x /x/%E9\n x /x/%C3%A9\n x /rep/{a}\n x /e/]\n x /e/^\n x /e/Q\n x /z/a\n x /z/a%0A\n x /z/ab\n x /g/bb\n x /comment\n x /posix/a_.-\n x /posix/1"),
    ("variables_named_as_families",
     "map $http_x_a $upstream_kind { default none; ~^(?<sent_http_rest>.)b $sent_http_rest; }
      server { @sock; location / { return 200 \"$upstream_kind $http_own $cookie_own $arg_own\"; } set $http_own own; set $arg_own \"\"; }",
     "x / X-A=ab\n x /?own=given Own=given Cookie=own=given"),
    ("underscores_off",
     "return 200 \"<$http_x_user><$http_x_a>\";",
     "x / X_User=a\n x / X-User=a\n x / x-user=a X_User=b\n x / X.User=a\n x / X-A=a X!A=b"),
    ("underscores_on", "underscores_in_headers on; return 200 \"<$http_x_user>\";", "x / X_User=a\n x / X-User=b\n x / X.User=c"),
    ("invalid_allowed", "ignore_invalid_headers off; return 200 \"<$http_x_user><$http_x_a>\";", "x / X_User=a\n x / X!A=b"),
    ("of_the_default_server",
     "server { @sock default_server; server_name a.test; underscores_in_headers on; return 200 \"<$http_x_user>\"; }
      server { @sock; server_name b.test; return 200 \"<$http_x_user>\"; }",
     "a.test / X_User=a\n b.test / X_User=a"),
    ("generator",
     "map $http_upgrade $connection_upgrade { default upgrade; \"\" close; }
      map $remote_addr $proxy_forwarded_elem { ~^[0-9.]+$ \"for=$remote_addr\"; ~^[0-9A-Fa-f:.]+$ \"for=\\\"[$remote_addr]\\\"\"; default \"for=unknown\"; }
      map $http_forwarded $proxy_add_forwarded { \"~^(,[ \\\\t]*)*([!#$%&'*+.^_`|~0-9A-Za-z-]+=.*)?$\" \"$http_forwarded, $proxy_forwarded_elem\"; default $proxy_forwarded_elem; }
      charset utf-8; sendfile on; tcp_nopush on; server_tokens off; log_not_found off; types_hash_max_size 2048; client_max_body_size 16M;
      server { @sock; server_name .example.com; add_header X-Content-Type-Options nosniff always;
        location = /favicon.ico { log_not_found off; access_log off; return 204; } location = /robots.txt { allow all; log_not_found off; return 200 robots; }
        location ^~ /.well-known/acme-challenge/ { return 200 challenge; } location ~ /\\. { return 403; }
        location / { proxy_pass @echo; proxy_set_header Host $host; proxy_http_version 1.1; proxy_cache_bypass $http_upgrade; proxy_ssl_server_name on;
          proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; proxy_set_header Forwarded $proxy_add_forwarded;
          proxy_connect_timeout 60s; proxy_send_timeout 60s; proxy_read_timeout 60s; } }
      server { @sock; server_name *.example.org; return 301 https://example.com$request_uri; }",
     "www.example.com /\n www.example.com /robots.txt\n www.example.com /.git/config\n www.example.com /.well-known/acme-challenge/a\n www.example.org /a?b\n www.example.com /favicon.ico"),
    ("certbot",
     "server { @sock; server_name example.com www.example.com; location / { proxy_pass @echo; proxy_redirect off; proxy_buffering off; } }
      server { @sock; server_name plain.test; if ($host = plain.test) { return 301 https://$host$request_uri; } return 404; }",
     "example.com /a\n plain.test /x?y\n other.test /"),
    ("nextcloud",
     "map $arg_v $asset_immutable { \"\" \"\"; default \", immutable\"; }
      server { @sock; client_body_timeout 300s; fastcgi_buffers 64 4K; fastcgi_hide_header X-Powered-By; client_max_body_size 512M;
        add_header X-Asset \"public$asset_immutable\" always;
        location = / { if ( $http_user_agent ~ ^DavClnt ) { return 302 /remote.php/webdav/$is_args$args; } return 200 index; }
        location ^~ /.well-known { location = /.well-known/carddav { return 301 /remote.php/dav/; } location = /.well-known/caldav { return 301 /remote.php/dav/; }
          location /.well-known/acme-challenge { try_files $uri $uri/ =404; } return 301 /index.php$request_uri; }
        location ~ ^/(?:build|tests|config|lib|3rdparty|templates|data)(?:$|/) { return 404; } location ~ ^/(?:\\.|autotest|occ|issue|indie|db_|console) { return 404; }
        location /remote { return 301 /remote.php$request_uri; } location / { proxy_pass @echo; } }",
     "x /\n x /?a User-Agent=DavClnt\n x /.well-known/carddav\n x /.well-known/other\n x /config/a\n x /.htaccess\n x /remote/a\n x /apps/a"),
    ("jenkins",
     "ignore_invalid_headers off; location ~ \"^/static/[0-9a-fA-F]{8}\\/(.*)$\" { rewrite \"^/static/[0-9a-fA-F]{8}\\/(.*)\" /$1 last; }
      location / { sendfile off; proxy_pass @echo; proxy_redirect default; proxy_http_version 1.1; proxy_max_temp_file_size 0; client_body_buffer_size 128k;
        proxy_connect_timeout 90; proxy_send_timeout 90; proxy_read_timeout 90; proxy_request_buffering off; proxy_set_header Host $http_host; }",
     "x /static/0123abcd/css/a.css\n x:81 /job/a%2Fb"),
    ("grafana", "location /grafana/ { rewrite ^/grafana/(.*) /$1 break; proxy_set_header Host $host; proxy_pass @echo; } location /grafana/api/live/ { rewrite ^/grafana/(.*) /$1 break; proxy_pass @echo; }",
     "x /grafana/d/a?b\n x /grafana\n x /grafana/api/live/ws"),
    ("gitlab",
     "map $request_uri $temp_uri_1 { default $request_uri; ~(?i)^(?<start>.*)(?<temp>[\\?&]private[\\-_]token)=[^&]*(?<rest>.*)$ \"$start$temp=[FILTERED]$rest\"; }
      map $temp_uri_1 $filtered { default $temp_uri_1; ~(?i)^(?<start>.*)(?<temp>[\\?&]rss[\\-_]token)=[^&]*(?<rest>.*)$ \"$start$temp=[FILTERED]$rest\"; }
      map $http_referer $refer { default $http_referer; ~^(?<stem>.*)\\? \"$stem?\"; } log_format gitlab '$remote_addr $status $filtered $refer';
      server { @sock; return 200 \"$filtered\"; }",
     "x /a?private_token=b&c=d\n x /a?x=1&rss-token=b\n x /a"),
    ("maintenance", "error_page 503 @maintenance; set $closed 0; if ($arg_closed) { set $closed 1; } location / { if ($closed) { return 503; } proxy_pass @echo; } location @maintenance { return 503 soon; }",
     "x /?closed=1\n x /a"),
    ("home_assistant", "proxy_buffering off; location / { proxy_pass @echo; proxy_set_header Host $host; proxy_redirect http:// https://; proxy_set_header Proxy \"\"; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; }",
     "x /a\n x /go X-Location=http://x/b"),
    ("django", "location = /favicon.ico { access_log off; log_not_found off; return 204; } location / { try_files $uri @proxy_to_app; } location @proxy_to_app { proxy_set_header Host $http_host; proxy_redirect off; proxy_pass @echo; } error_page 500 502 503 504 /500.html;",
     "A.test /a%20b?c\n x /favicon.ico\n x /broken"),
    ("cors", "location /api/ { if ($request_method = OPTIONS) { add_header Access-Control-Max-Age 1728000; add_header Content-Length 0; return 204; } proxy_pass @echo; proxy_read_timeout 7d; }
      location / { if ($http_origin ~* ^https://([a-z]+[.])?a[.]test$) { add_header Access-Control-Allow-Origin $http_origin; return 200 allowed; } return 200 other; }",
     "x /api/a\n x / Origin=https://b.a.test\n x / Origin=https://evil.test"),
    ("switched_off", "auth_basic off; proxy_cache off; expires off; satisfy all; allow all; charset utf-8; gzip off; fastcgi_read_timeout 300; limit_rate 0; location / { proxy_pass @echo; }", "x /a"),
];
