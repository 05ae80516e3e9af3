//! Tests of directives that protect: supported ones respond as in the real NGINX, unsupported ones are never ignored.

use eddy_dialects::{check, check_with};
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

use crate::eddy::NginxTestRouter;
use crate::{NginxCase, NginxTestRequest, Oracle, compare_with};

const ECHO: &str = "http://unix:/eddy/echo.sock";

/// Contents of a server, and the paths that are requested.
const GUARDED: &[(&str, &str)] = &[
    // Rewrite directives run before access control, and a block with an access rule of its own inherits none.
    (
        "deny all; location / { proxy_pass @echo; } location /said { return 200 said; } \
         location /own/ { allow all; proxy_pass @echo; location /own/in/ { proxy_pass @echo; } } \
         location /moved { rewrite ^ /own/to last; } location /set { set $x 1; proxy_pass @echo; }",
        "/ /said /own/a /own/in/a /moved /set /other",
    ),
    // The first matching rule decides.
    (
        "location /a { allow all; deny all; proxy_pass @echo; } location /b { deny all; allow all; proxy_pass @echo; } \
         location /c/ { deny all; location /c/d/ { proxy_pass @echo; } location ~ /c/e { return 200 said; } }",
        "/a /b /c/ /c/d/e /c/e",
    ),
    (
        "location /page { return 200 page; } location /a { deny all; error_page 403 /page; proxy_pass @echo; } \
         location /b { deny all; error_page 403 = @named; } location @named { return 200 named; } \
         location /c { deny all; error_page 403 /c; } location /d { deny all; try_files $uri /page; } \
         location /e { error_page 403 @shut; return 403; } location @shut { deny all; proxy_pass @echo; }",
        "/a /b /c /d /e",
    ),
    (
        "location / { deny all; if ($arg_a) { set $x 1; } if ($arg_b) { return 200 said; } proxy_pass @echo; }",
        "/ /?a=1 /?b=1",
    ),
    // Other methods are refused before the rewrite directives run.
    (
        "location / { limit_except POST { deny all; } proxy_pass @echo; } \
         location /get { limit_except GET { deny all; } proxy_pass @echo; } \
         location /head { limit_except HEAD { deny all; } proxy_pass @echo; } \
         location /said { limit_except POST { deny all; } return 200 said; } \
         location /around/ { limit_except POST { deny all; } proxy_pass @echo; location /around/in/ { proxy_pass @echo; } } \
         location /both { limit_except GET { deny all; } deny all; proxy_pass @echo; } \
         location /moved { rewrite ^ /said last; }",
        "/ /get /head /said /around/a /around/in/a /both /moved",
    ),
];

fn cases() -> Vec<NginxCase> {
    let cases = GUARDED.iter().enumerate().map(|(number, (server, paths))| NginxCase {
        name: format!("guarded/{number}"),
        config: whole(server),
        requests: paths.split(' ').map(|path| NginxTestRequest::new("x", path)).collect(),
    });
    cases.collect()
}

/// Wraps a configuration fragment in a server.
fn whole(server: &str) -> String {
    let server = server.replace("@echo", ECHO);
    format!("events {{}}\nhttp {{ server {{ listen unix:/eddy/site.sock; {server} }} }}")
}

#[test]
fn supported_access_controls_respond_as_in_nginx() {
    let paths: usize = GUARDED.iter().map(|(_, paths)| paths.split(' ').count()).sum();
    assert_eq!(compare_with(Some("guarded.txt"), &cases(), Oracle::best()), paths);
}

#[test]
fn access_controls_respond_as_in_recorded_nginx_responses() {
    assert!(compare_with(Some("guarded.txt"), &cases(), Oracle::Recorded) > 25);
}

/// Contents of a server, the expected message, and the results of requests with leniency.
const NOT_HAD: &[(&str, &str, &str)] = &[
    (
        "location / { auth_basic secret; auth_basic_user_file f; proxy_pass @echo; }",
        "`auth_basic`",
        "/ => 403",
    ),
    (
        "auth_basic secret; location / { proxy_pass @echo; } location /free { auth_basic off; proxy_pass @echo; } location /said { return 200 said; }",
        "`auth_basic`",
        "/ => 403; /free => 200 upstream /free localhost; /said => 200 said",
    ),
    (
        "location / { auth_request /ask; proxy_pass @echo; } location = /ask { internal; }",
        "`auth_request`",
        "/ => 403",
    ),
    ("location / { deny 10.0.0.1; proxy_pass @echo; }", "`deny`", "/ => 403"),
    ("location / { allow 10.0.0.0/8; deny all; proxy_pass @echo; }", "`allow`", "/ => 403"),
    (
        "deny 10.0.0.1; location / { proxy_pass @echo; } location /free { allow all; proxy_pass @echo; }",
        "`deny`",
        "/ => 403; /free => 200 upstream /free localhost",
    ),
    ("satisfy any; location / { allow 10.0.0.1; deny all; proxy_pass @echo; }", "`allow`", "/ => 403"),
    (
        "location / { limit_except POST { allow 10.0.0.1; deny all; } proxy_pass @echo; } location /get { limit_except GET { auth_basic a; } proxy_pass @echo; }",
        "`limit_except`",
        "/ => 403; /get => 200 upstream /get localhost",
    ),
    ("location / { auth_jwt realm; auth_jwt_key_file k; proxy_pass @echo; }", "`auth_jwt`", "/ => 403"),
    // For unknown directives and misspelt ones, the name decides.
    ("location / { auth_ldap \"Restricted\"; proxy_pass @echo; }", "`auth_ldap`", "/ => 403"),
    ("location / { access_by_lua_file a.lua; proxy_pass @echo; }", "`access_by_lua_file`", "/ => 403"),
    ("modsecurity on; location / { proxy_pass @echo; }", "`modsecurity`", "/ => 403"),
    ("location / { deni all; proxy_pass @echo; }", "`deni`", "/ => 403"),
    ("location / { echo_sleep 1; proxy_pass @echo; }", "`echo_sleep`", "/ => 200 upstream / localhost"),
    // Rewrite directives that cannot be interpreted.
    (
        "location / { secure_link $arg_a; if ($secure_link = \"\") { return 403; } proxy_pass @echo; } location /free { proxy_pass @echo; }",
        "`$secure_link`",
        "/ => 403; /free => 200 upstream /free localhost",
    ),
    (
        "location / { valid_referers none; if ($invalid_referer) { return 403; } proxy_pass @echo; }",
        "`$invalid_referer`",
        "/ => 403",
    ),
    (
        "location / { if ($arg_a) { return 403 \"$document_root\"; } proxy_pass @echo; }",
        "`$document_root`",
        "/?a=1 => 403",
    ),
    (
        "location / { rewrite ^ /shut?$document_root last; } location /shut { return 404; }",
        "`$document_root`",
        "/ => 403",
    ),
    (
        "location / { try_files $document_root /free; } location /free { return 200 free; }",
        "",
        "/ => 200 free",
    ),
    ("location / { try_files $uri $document_root; proxy_pass @echo; }", "`$document_root`", "/ => 403"),
    // There are no files.
    (
        "location / { if (-f /shut) { return 503; } if (!-e /there) { return 404; } proxy_pass @echo; }",
        "does not support file tests",
        "/ => 404",
    ),
];

#[test]
fn unsupported_access_controls_are_never_ignored() {
    for (server, said, requests) in NOT_HAD {
        let config = whole(server);
        let source = [SourceText::new("nginx.conf", &config)];
        if !said.is_empty() {
            let problems = check(&source).unwrap_err();
            assert!(problems.iter().any(|problem| problem.message.contains(said)), "{server}: {problems:#?}");
        }
        let (eddy, warnings) = NginxTestRouter::leniently(&config);
        if !said.is_empty() {
            let is_in_response = warnings.iter().any(|warning| warning.message.contains(said));
            assert!(is_in_response, "{server}: {warnings:#?}");
        }
        for line in requests.split("; ") {
            let (path, answer) = line.split_once(" => ").unwrap();
            assert_eq!(
                eddy.ask(&NginxTestRequest::new("x", path).text()).as_deref(),
                Some(answer),
                "{path}: {server}"
            );
        }
    }
}

#[test]
fn unsupported_access_controls_are_reported_to_respond_403() {
    let config = whole("location / { auth_basic secret; proxy_pass @echo; }");
    let (_, warnings) = NginxTestRouter::leniently(&config);
    assert!(warnings.iter().any(|warning| warning.message.contains("rejected with 403")), "{warnings:#?}");
}

#[test]
fn leniency_still_refuses_unsupported_security_directives() {
    for (server, said) in [
        ("ssl on; location / { proxy_pass @echo; }", "does not support `ssl`"),
        (
            "set_real_ip_from 10.0.0.1; location / { proxy_pass @echo; }",
            "does not support `set_real_ip_from`",
        ),
        ("location / { proxy_ssl_crl a.pem; proxy_pass @echo; }", "does not support `proxy_ssl_crl`"),
        (
            "location / { proxy_pass_request_headers off; proxy_pass @echo; }",
            "`proxy_pass_request_headers off`",
        ),
        // The previous value of the variable would decide.
        (
            "set $ok 1; set $ok $secure_link; location / { if ($ok) { proxy_pass @echo; } return 403; }",
            "`$ok` is used here, but eddy cannot read the directive",
        ),
    ] {
        let config = whole(server);
        let problems = check_with(&[SourceText::new("nginx.conf", &config)], Leniency::Lenient).unwrap_err();
        assert!(problems.iter().any(|problem| problem.message.contains(said)), "{server}: {problems:#?}");
    }
    let map = "events {} http { map $jwt_claim_sub $shut { default 0; bad 1; } server { listen unix:/eddy/site.sock; \
               location / { if ($shut) { return 403; } proxy_pass http://unix:/eddy/echo.sock; } } }";
    let problems = check_with(&[SourceText::new("nginx.conf", map)], Leniency::Lenient).unwrap_err();
    let said = "`$shut` is used here, but eddy cannot read the directive";
    assert!(problems.iter().any(|problem| problem.message.contains(said)), "{problems:#?}");
}

/// A client must not be able to supply a header that the upstream trusts the gateway to set.
#[test]
fn a_header_whose_value_is_unavailable_is_removed() {
    let config = whole("location / { proxy_set_header X-User $remote_user; proxy_pass @echo; }");
    let (eddy, _) = NginxTestRouter::leniently(&config);
    let fields = eddy.fields(&NginxTestRequest::new("x", "/").text());
    assert_eq!(fields, [("X-User".to_owned(), String::new())]);
}
