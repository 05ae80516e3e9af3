//! Tests of `proxy_pass` with variables: requests go to the addresses that the configuration assigns, as in the real
//! NGINX, and never to addresses that a client supplies.

use eddy_dialects::{check, check_with};
use eddy_model::{AddressFamilies, EndpointAddress};
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

use crate::{NginxCase, NginxTestRequest, Oracle, compare_with};

/// Contents of a server, and the requests; two upstreams lead to the same socket.
const COMPUTED: &[(&str, &str)] = &[
    (
        "set $app up; location / { proxy_pass http://$app; } location /uri/ { proxy_pass http://$app/fixed; } \
         location /sent/ { proxy_pass http://$app$request_uri; } location /path/ { proxy_pass http://$app$uri$is_args$args; } \
         location /query/ { proxy_pass http://$app?x=1; } location /braces { proxy_pass http://${app}; } \
         location /scheme { proxy_pass $scheme://$app; } location = /exact { proxy_pass http://$app/; }",
        "/a%2fb?c=d /uri/x?y /sent/%41?q=1 /path/a?b=c /path/a /query/a?b /braces /scheme /exact?a /uri",
    ),
    (
        "location / { set $full http://up/x; proxy_pass $full; } location /two { set $a u; set $b p; proxy_pass http://$a$b; } \
         location /again { set $a up; set $c $a; set $a gone; proxy_pass http://$c; } \
         location ~ ^/group(/.*)$ { proxy_pass http://up$1; } location ~ ^/named(?<rest>/.*)$ { proxy_pass http://up$rest$is_args$args; } \
         location /host { set $app up; proxy_set_header Host $proxy_host:$proxy_port; proxy_pass http://$app; }",
        "/ /two /again /group/a?b /named/a?b /named/a /host",
    ),
    // All values that a map or an `if` assigns.
    (
        "set $app up; if ($arg_o) { set $app other; } location / { proxy_pass http://$app; } \
         location /in/ { if ($arg_i) { set $app up; } proxy_pass http://$app; } \
         location /if/ { if ($arg_i) { proxy_pass http://$app; } return 200 none; } \
         location /break/ { set $b up; if ($arg_b) { break; } set $b other; proxy_pass http://$b; } \
         location /map/ { proxy_pass http://$mapped; } location /mapped/ { proxy_pass $whole; }",
        "/ /?o=1 /in/?o=1 /in/?o=1&i=1 /if/ /if/?i=1 /if/?i=1&o=1 /break/ /break/?b=1 /map/ /map/?k=o /map/?k=y /mapped/ /mapped/?k=o /mapped/?k=bad",
    ),
    // A variable that one location sets keeps its value in the next.
    (
        "location /first/ { set $app other; rewrite ^/first/(.*)$ /second/$1 last; } location /second/ { proxy_pass http://$app; } \
         location /third { error_page 404 = /second/page; return 404; }",
        "/first/a /second/a /third",
    ),
    ("server_name up; location / { proxy_pass http://$server_name; }", "/"),
];

fn cases() -> Vec<NginxCase> {
    let cases = COMPUTED.iter().enumerate().map(|(number, (server, targets))| NginxCase {
        name: format!("computed/{number}"),
        config: whole(server),
        requests: targets.split(' ').map(|target| NginxTestRequest::new("x", target)).collect(),
    });
    cases.collect()
}

fn whole(server: &str) -> String {
    let upstreams: String =
        ["up", "other"].map(|name| format!("upstream {name} {{ server unix:/eddy/echo.sock; }} ")).concat();
    let maps = "map $arg_k $mapped { default up; o other; ~^y $fallback; } map $arg_z $fallback { default other; } \
                map $arg_k $whole { default http://up/w; o http://other; bad nothing; }";
    format!(
        "events {{}}\nhttp {{ {upstreams} {maps} server {{ listen unix:/eddy/site.sock; absolute_redirect off; {server} }} }}"
    )
}

#[test]
fn upstreams_named_by_variables_are_those_of_nginx() {
    let targets: usize = COMPUTED.iter().map(|(_, targets)| targets.split(' ').count()).sum();
    assert_eq!(compare_with(Some("computed.txt"), &cases(), Oracle::best()), targets);
}

#[test]
fn upstreams_named_by_variables_match_recorded_nginx_runs() {
    assert!(compare_with(Some("computed.txt"), &cases(), Oracle::Recorded) > 30);
}

#[test]
fn addresses_that_depend_on_the_request_are_refused_with_the_variable_name() {
    for (server, said) in [
        ("location / { proxy_pass http://$host; }", "`$host` comes from the request"),
        ("location / { proxy_pass http://$http_x_to; }", "`$http_x_to` comes from the request"),
        ("location / { set $to $arg_to; proxy_pass http://$to; }", "`$arg_to` comes from the request"),
        ("location / { proxy_pass http://up:$arg_port; }", "`$arg_port` comes from the request"),
        ("location / { proxy_pass http://up$arg_path; }", "`$arg_path` comes from the request"),
        ("location ~ ^/(.*)$ { proxy_pass http://$1; }", "`$1` comes from the request"),
        ("location ~ ^/(.*)$ { proxy_pass http://app-$1.test; }", "`$1` comes from the request"),
        ("location ~ ^/(?<to>.*)$ { set $to up; proxy_pass http://$to; }", "`$to` comes from the request"),
        ("location / { proxy_pass $cookie_to; }", "`$cookie_to` comes from the request"),
        (
            "set $to up; location /a { set $to $arg_to; rewrite ^ /b last; } location /b { proxy_pass http://$to; }",
            "`$arg_to` comes from the request",
        ),
        (
            "location / { if ($arg_a) { set $to $host; } proxy_pass http://$to; }",
            "`$host` comes from the request",
        ),
        (
            "location /a { set $to $to-x; rewrite ^ /b last; } location /b { proxy_pass http://$to; }",
            "the values of `$to` cannot be determined",
        ),
        ("location / { set $to nothing; proxy_pass $to; }", "none of the values of these variables is a URL"),
        ("location / { set $to app; proxy_pass http://$to; }", "there is no `resolver` for the name `app`"),
        (
            "location / { set $to app; proxy_pass http://$to:81; }",
            "there is no `resolver` for the name `app`",
        ),
        ("location / { set $to unix:/a; proxy_pass http://$to; }", "variables cannot select a Unix socket"),
        (
            "resolver dns.test; location / { proxy_pass http://up; }",
            "the name server `dns.test` is not an IP address",
        ),
    ] {
        let problems = check(&[SourceText::new("nginx.conf", &whole(server))]).unwrap_err();
        assert!(problems.iter().any(|problem| problem.message.contains(said)), "{server}: {problems:#?}");
    }
}

#[test]
fn leniency_omits_addresses_that_depend_on_the_request() {
    let config = whole("location / { if ($arg_a) { set $to $host; } set $x up; proxy_pass http://$to; }");
    let checked = check_with(&[SourceText::new("nginx.conf", &config)], Leniency::Lenient).unwrap();
    assert!(checked.warnings.iter().any(|warning| warning.message.contains("`$host` comes from")));
}

#[test]
fn names_in_variables_are_resolved_by_the_resolver() {
    let server = "resolver 127.0.0.11 [::1]:5353 valid=30s ipv6=off; resolver_timeout 3s; set $app App; set $port 8080; \
                  location / { proxy_pass http://$app:$port; } location /written { proxy_pass http://app:8081; } \
                  location /address { set $at 10.0.0.5; proxy_pass http://$at:$port; } location /up { set $at up; proxy_pass http://$at; }";
    let checked = check(&[SourceText::new("nginx.conf", &whole(server))]).unwrap();
    let named = |servers: usize| {
        let clusters = checked.config.clusters.values();
        clusters.filter(|cluster| cluster.name_servers.len() == servers).collect::<Vec<_>>()
    };
    let [asked] = named(2)[..] else { panic!("one cluster asks the resolver") };
    let EndpointAddress::Name { host, port } = &asked.endpoints[0].address else { panic!("{asked:?}") };
    assert_eq!((&**host, *port), ("app", 8080));
    assert_eq!(asked.name_servers[..], ["127.0.0.11:53".parse().unwrap(), "[::1]:5353".parse().unwrap()]);
    assert_eq!(asked.dns.families, AddressFamilies::V4);
    let times = [asked.dns.refresh_min, asked.dns.refresh_max, asked.dns.timeout].map(|time| time.as_secs());
    assert_eq!(times, [30, 30, 3]);
    // NGINX resolves names in the configuration with the system's resolver, and resolves nothing for addresses and
    // upstreams.
    assert!(named(0).len() >= 3, "{:?}", named(0));
}

#[test]
fn a_name_of_a_defined_upstream_needs_no_resolver() {
    let server = "location / { set $to app.test; proxy_pass http://$to; } location /written { proxy_pass http://app.test/x; }";
    check(&[SourceText::new("nginx.conf", &whole(server))]).unwrap();
}

#[test]
fn upstream_servers_with_resolve_use_the_resolver() {
    let config = "events {} http { resolver 10.0.0.53; upstream a { server app.test resolve; } upstream b { server app.test; } \
                  upstream c { resolver 10.0.0.54; server app.test resolve; } server { listen unix:/eddy/site.sock; \
                  location /a { proxy_pass http://a; } location /b { proxy_pass http://b; } location /c { proxy_pass http://c; } } }";
    let checked = check(&[SourceText::new("nginx.conf", config)]).unwrap();
    let servers = |name: &str| {
        let cluster = checked.config.clusters.values().find(|cluster| &*cluster.name == name).unwrap();
        cluster.name_servers.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!((servers("a"), servers("b")), (vec!["10.0.0.53:53".to_owned()], vec![]));
    assert_eq!(servers("c"), ["10.0.0.54:53"]);
}

#[test]
fn max_conns_is_shared_by_workers_where_nginx_shares_it() {
    let shared = |frame: &str, zone: &str| {
        let config = format!(
            "{frame} events {{}} http {{ upstream a {{ {zone} server 10.0.0.1 max_conns=2; server 10.0.0.2; }} \
             server {{ listen unix:/eddy/site.sock; location / {{ proxy_pass http://a; }} }} }}"
        );
        let checked = check(&[SourceText::new("nginx.conf", &config)]).unwrap();
        let terms: Vec<_> = checked
            .config
            .clusters
            .first()
            .unwrap()
            .endpoints
            .iter()
            .map(|endpoint| endpoint.terms.clone())
            .collect();
        assert_eq!((terms[0].active_max, terms[1].active_max), (Some(2), None));
        assert!(!terms[1].is_active_max_shared);
        terms[0].is_active_max_shared
    };
    assert!(shared("worker_processes 4;", "zone a 64k;"), "the zone is one for all workers");
    assert!(shared("", ""), "there is one worker");
    assert!(!shared("worker_processes 4;", ""), "each worker counts for itself");
}
