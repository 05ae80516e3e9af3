//! Examples from the pages of NGINX's documentation on servers, locations, rewrites, proxying and maps, in
//! configurations of our own. Settings that eddy refuses according to `docs/reference/nginx-directives.md` are left
//! out: files (`root`, `alias`, `index`, `-f`), TLS, caches, `limit_except`, and everything that depends on time or on
//! several processes.

use std::collections::BTreeMap;

use crate::{NginxCase, NginxTestRequest};

/// Returns all examples: a configuration, a request and the expected response.
pub(crate) fn all() -> Vec<(String, NginxTestRequest, String)> {
    let mut all = Vec::new();
    for (_, config, requests) in EXAMPLES {
        for line in requests.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (asked, expected) = line.split_once(" => ").unwrap();
            let request = NginxTestRequest::asked(&asked.replace("@echo", ECHO));
            all.push((whole(config), request, expected.trim_end().replace("@echo", ECHO)));
        }
    }
    all
}

/// Returns all examples, grouped by configuration.
pub(crate) fn cases() -> Vec<NginxCase> {
    let all = all();
    let groups = all.chunk_by(|a, b| a.0 == b.0).enumerate();
    let cases = groups.map(|(number, group)| NginxCase {
        name: format!("example/{number}"),
        config: group[0].0.clone(),
        requests: group.iter().map(|(_, request, _)| request.clone()).collect(),
    });
    cases.collect()
}

/// Returns the pages and sections of the documentation, each with the number of its examples here.
pub(crate) fn documented() -> BTreeMap<&'static str, usize> {
    let mut sections = BTreeMap::new();
    for (section, _, _) in EXAMPLES.iter().filter(|(section, _, _)| !section.is_empty()) {
        *sections.entry(*section).or_default() += 1;
    }
    sections
}

/// Wraps a configuration fragment in a server, unless it contains one.
fn whole(config: &str) -> String {
    let body = config.replace("@sock", "listen unix:/eddy/site.sock").replace("@echo", ECHO);
    if body.contains("server {") {
        return format!("events {{}}\nhttp {{ {body} }}");
    }
    format!("events {{}}\nhttp {{ server {{ listen unix:/eddy/site.sock; {body} }} }}")
}

/// Address of the upstream: it responds with the request that it got, redirects clients at `/go`, and fails at `/gone`
/// and `/broken`.
const ECHO: &str = "http://unix:/eddy/echo.sock";

/// The examples: page and section of NGINX's documentation that shows such a configuration, if any; the configuration;
/// and lines with host, target, headers and the expected response.
const EXAMPLES: &[(&str, &str, &str)] = &[
    // Selection of a server.
    ("request_processing#name_based", "server { @sock; server_name one.test; return 200 one; } server { @sock; server_name two.test; return 200 two; }",
        "one.test / => 200 one
         two.test / => 200 two
         TWO.test:8080 / => 200 two
         two.test. / => 200 two
         other.test / => 200 one",
    ),
    ("request_processing#default", "server { @sock; server_name a.test; return 200 a; } server { @sock default_server; server_name b.test; return 200 b; }",
        "a.test / => 200 a
         c.test / => 200 b",
    ),
    ("server_names#precedence", "server { @sock; server_name ~^www[.]d[.]test$; return 200 expression; }
         server { @sock; server_name www.*; return 200 trailing; }
         server { @sock; server_name *.d.test; return 200 leading; }
         server { @sock; server_name www.d.test; return 200 exact; }",
        "www.d.test / => 200 exact
         x.d.test / => 200 leading
         x.y.d.test / => 200 leading
         www.e.test / => 200 trailing
         www.e.co.test / => 200 trailing
         d.test / => 200 expression",
    ),
    ("server_names#wildcard", "server { @sock; server_name *.test; return 200 short; } server { @sock; server_name *.f.test; return 200 long; }",
        "a.f.test / => 200 long
         a.g.test / => 200 short",
    ),
    ("server_names#wildcard", "server { @sock; server_name g.*; return 200 short; } server { @sock; server_name g.h.*; return 200 long; }",
        "g.h.test / => 200 long
         g.i.test / => 200 short",
    ),
    ("server_names#wildcard", "server { @sock; server_name other.test; return 200 other; } server { @sock; server_name .h.test; return 200 domain; }",
        "h.test / => 200 domain
         a.h.test / => 200 domain
         ah.test / => 200 other",
    ),
    ("server_names#regex", "server { @sock; server_name ~^(www[.])?(?<name>.+)[.]test$; return 200 $name; }",
        "www.i.test / => 200 i
         j.k.test / => 200 j.k",
    ),
    ("server_names#regex", "server { @sock; server_name ~^(.)(.)[.]test$; return 200 $2$1; } server { @sock; server_name ~^a; return 200 second; }",
        "ab.test / => 200 ba
         abc.test / => 200 second",
    ),
    ("server_names#regex", "server { @sock; server_name \"~^(?<letters>[a-z]{2})[.]test$\"; return 200 $letters; }",
        "xy.test / => 200 xy",
    ),
    ("", "server { @sock; server_name ~^L[.]test$; return 200 any-case; } server { @sock; server_name ~^m; return 200 m; }",
        "l.test / => 200 any-case\n m.test / => 200 m",
    ),
    ("", "server { @sock; server_name a.test; return 200 first; } server { @sock; server_name a.test b.test; return 200 second; }",
        "a.test / => 200 first\n b.test / => 200 second",
    ),
    // Selection of a location.
    ("ngx_http_core_module#location", "location = / { return 200 A; } location / { return 200 B; } location /docs/ { return 200 C; }
         location ^~ /pics/ { return 200 D; } location ~* [.](gif|jpe?g)$ { return 200 E; }",
        "x / => 200 A
         x /a.html => 200 B
         x /docs/d.html => 200 C
         x /pics/1.gif => 200 D
         x /docs/1.JPG => 200 E
         x /docs/1.jpeg => 200 E",
    ),
    ("", "location ^~ /a/ { return 200 spares; } location /a/b/ { return 200 longer; } location ~ x$ { return 200 expression; }",
        "x /a/x => 200 spares
         x /a/b/x => 200 expression
         x /a/b/y => 200 longer",
    ),
    ("", "location ~ ^/a { return 200 first; } location ~ ^/ab { return 200 second; }", "x /ab => 200 first"),
    ("ngx_http_core_module#location", "location /ab { return 200 ab; }", "x /abc => 200 ab\n x /a => 404"),
    ("ngx_http_core_module#location", "location = /a { return 200 a; } location /a/ { proxy_pass @echo; }",
        "x /a => 200 a\n x /a/ => 200 upstream /a/ localhost",
    ),
    ("ngx_http_core_module#location", "location /a/ { proxy_pass @echo; } location ~ ^/a$ { return 200 never; }",
        "x /a => 301 -> http://x/a/\n x /a?b => 301 -> http://x/a/?b",
    ),
    ("", "location /a { location /a/b { return 200 inner; } location ~ c$ { return 200 inner-expression; } return 200 outer; } location ~ [bc]$ { return 200 outer-expression; }",
        "x /a/b/x => 200 inner
      x /a/bc => 200 inner-expression
      x /ax => 200 outer
      x /a/bb => 200 outer-expression",
    ),
    ("", "location ~ /p { location /p/q { return 200 never; } location ~ q { return 200 nested; } return 200 outer; }",
        "x /p/q => 200 nested\n x /p/x => 200 outer",
    ),
    ("", "location /a/ { location ^~ /a/b/ { return 200 spares; } } location ~ x$ { return 200 expression; }",
        "x /a/b/y => 200 spares\n x /a/b/x => 200 expression",
    ),
    ("", "location \"/a b\" { return 200 decoded; } location /a%20b { return 200 never; }",
        "x /a%20b => 200 decoded",
    ),
    ("", "location ~ [.]php$ { return 200 php; } location / { return 200 other; }",
        "x /x.php => 200 php\n x /x.php%0A => 200 php\n x /x.phps => 200 other",
    ),
    ("ngx_http_core_module#location", "location / { return 200 $uri; }",
        "x //a//b => 200 /a/b
      x /a/./b/../c => 200 /a/c
      x /a%2Fb => 200 /a/b
      x /%61%3Fb => 200 /a?b
      x /../a => 400
      x /%zz => 400
      x /a+b => 200 /a+b",
    ),
    ("ngx_http_core_module#merge_slashes", "merge_slashes off; location / { return 200 $uri; }", "x //a//b => 200 //a//b\n x /a//../b => 200 /a/b"),
    ("ngx_http_core_module#internal", "location /in { internal; return 200 in; } location / { rewrite ^/go$ /in last; return 200 out; }",
        "x /in => 404\n x /go => 200 in\n x /x => 200 out",
    ),
    // Rewrites.
    ("ngx_http_rewrite_module#rewrite", "rewrite ^/users/(.*)$ /show?user=$1 last; location /show { return 200 \"$uri $args\"; }",
        "x /users/7?a=b => 200 /show user=7&a=b",
    ),
    ("ngx_http_rewrite_module#rewrite", "rewrite ^/users/(.*)$ /show?user=$1? last; location /show { return 200 \"$uri $args\"; }",
        "x /users/7?a=b => 200 /show user=7",
    ),
    ("ngx_http_rewrite_module#rewrite", "location /download/ { rewrite ^(/download/.*)/media/(.*)[.].*$ $1/mp3/$2.mp3 break; proxy_pass @echo; }",
        "x /download/a/media/b.avi => 200 upstream /download/a/mp3/b.mp3 localhost\n x /download/x => 200 upstream /download/x localhost",
    ),
    ("ngx_http_rewrite_module#rewrite", "location /a { rewrite ^/a(.*) /a$1 last; return 200 never; }", "x /ab => 500"),
    ("ngx_http_rewrite_module#rewrite", "rewrite ^/old/(.*)$ http://new.test/$1 permanent; rewrite ^/tmp/(.*)$ /now/$1 redirect; return 200 none;",
        "x /old/a?b=c => 301 -> http://new.test/a?b=c\n x /tmp/a => 302 -> http://x/now/a\n x /z => 200 none",
    ),
    ("", "rewrite ^/e/(.*)$ /f?q=$1 last; location / { return 200 $args; }",
        "x /e/a%26b => 200 q=a%26b\n x /e/a&b => 200 q=a&b\n x /e/a+b => 200 q=a%2Bb",
    ),
    ("ngx_http_rewrite_module#set", "location / { set $a $uri; set $b \"${a}x\"; return 200 $b; }", "x /q => 200 /qx"),
    ("ngx_http_rewrite_module#if", "if ($http_user_agent ~ MSIE) { rewrite ^(.*)$ /msie$1 break; } location /msie { return 200 $uri; } location / { return 200 other; }",
        "x /a User-Agent=MSIE => 200 /msie/a\n x /a User-Agent=Other => 200 other",
    ),
    ("ngx_http_rewrite_module#if", "if ($http_cookie ~* \"id=([^;]+)(?:;|$)\") { set $id $1; } location / { return 200 \"id $id\"; }",
        "x / Cookie=a=b;ID=77;c=d => 200 id 77",
    ),
    ("ngx_http_rewrite_module#if", "if ($request_method = POST) { return 405; } location / { if ($arg_slow) { return 202 slow; } return 200 fast; }",
        "x / => 200 fast\n x /?slow=1 => 202 slow\n x /?slow=0 => 200 fast\n x /?SLOW=yes => 202 slow",
    ),
    ("ngx_http_rewrite_module#if", "location / { if ($arg_a != b) { return 201 differs; } return 200 same; }",
        "x /?a=b => 200 same\n x / => 201 differs",
    ),
    ("", "location / { if ($arg_a !~* ^B) { return 201 no; } return 200 yes; }",
        "x /?a=bc => 200 yes\n x /?a=c => 201 no",
    ),
    ("converting_rewrite_rules", "location / { return 301 https://$host$request_uri; }",
        "www.q.test:81 /a%20b?c => 301 -> https://www.q.test/a%20b?c",
    ),
    ("ngx_http_rewrite_module#return", "location /a { return 302 /b; } location /c { return http://d.test/; } location /e { return 204; } location /f { return 418; }",
        "x /a => 302 -> http://x/b\n x /c => 302 -> http://d.test/\n x /e => 204\n x /f => 418",
    ),
    ("ngx_http_core_module#absolute_redirect", "absolute_redirect off; location /a { return 302 /b; } location /c { return 444; }",
        "x /a => 302 -> /b\n x /c => closed",
    ),
    ("ngx_http_core_module#server_name_in_redirect", "server_name n.test; server_name_in_redirect on; location /a { return 302 /b; }",
        "x /a => 302 -> http://n.test/b",
    ),
    ("ngx_http_rewrite_module#break", "location / { break; return 200 never; } location /a { return 200 a; break; }",
        "x /a => 200 a\n x /b => 404",
    ),
    ("", "rewrite ^/1(.*) /2$1; rewrite ^/2(.*) /3$1; location /3 { return 200 $uri; } location / { return 200 other; }",
        "x /1/x => 200 /3/x",
    ),
    ("", "set $args $args&x=1; location / { return 200 $args; }", "x /?a=b => 200 a=b&x=1"),
    // Proxying.
    ("ngx_http_proxy_module#proxy_pass", "location /name/ { proxy_pass @echo:/remote/; }",
        "x /name/a%20b?c => 200 upstream /remote/a%20b?c localhost\n x /name/../name/a => 200 upstream /remote/a localhost\n x /name => 301 -> http://x/name/",
    ),
    ("ngx_http_proxy_module#proxy_pass", "location /some { proxy_pass @echo; }",
        "x /some/%2e%2E/some/a%2fb => 200 upstream /some/%2e%2E/some/a%2fb localhost",
    ),
    ("", "location /name { proxy_pass @echo:/remote; }",
        "x /namex => 200 upstream /remotex localhost\n x /name/a => 200 upstream /remote/a localhost\n x /name/%3f => 200 upstream /remote/%3F localhost",
    ),
    ("ngx_http_proxy_module#proxy_set_header", "location /h/ { proxy_set_header Host $host:8443; proxy_pass @echo; } location /i/ { proxy_set_header Host $http_host; proxy_pass @echo; }",
        "A.test:81 /h/ => 200 upstream /h/ a.test:8443\n A.test:81 /i/ => 200 upstream /i/ A.test:81",
    ),
    ("ngx_http_proxy_module#proxy_pass", "location ~ ^/r/(.*)$ { rewrite ^/r/(.*)$ /s/$1 break; proxy_pass @echo; }",
        "x /r/a?b => 200 upstream /s/a?b localhost",
    ),
    ("ngx_http_proxy_module#proxy_redirect", "location /one/ { proxy_pass @echo:/two/; } location /three/ { proxy_pass @echo; }",
        "x /one/go X-Location=@echo:/two/a?b => 302 -> http://x/one/a?b
         x /one/go X-Location=http://other.test/two/a => 302 -> http://other.test/two/a
         x /one/go X-Location=/two/a => 302 -> /two/a
         x /three/go X-Location=@echo/z => 302 -> http://x/z",
    ),
    ("ngx_http_proxy_module#proxy_redirect", "proxy_redirect off; location /one/ { proxy_pass @echo:/two/; }
         location /four/ { proxy_pass @echo:/two/; proxy_redirect default; }",
        "x /one/go X-Location=@echo:/two/a => 302 -> @echo:/two/a
         x /four/go X-Location=@echo:/two/a => 302 -> http://x/four/a",
    ),
    ("ngx_http_proxy_module#proxy_redirect", "location / { proxy_pass @echo; proxy_redirect http://a.test:8000/two/ http://front.test/one/;
         proxy_redirect http://b.test/ /; proxy_redirect http://c.test:$server_port/ /c/; proxy_redirect ~^http://(d)[.]test/(.+)$ /$1/$2;
         proxy_redirect ~*^http://E[.]test/ /e; }",
        "x /go X-Location=http://a.test:8000/two/p => 302 -> http://front.test/one/p
         x /go X-Location=http://b.test/p => 302 -> http://x/p
         x /go X-Location=http://c.test/p => 302 -> http://c.test/p
         x /go X-Location=http://d.test/p/q => 302 -> http://x/d/p/q
         x /go X-Location=http://e.test/p/q => 302 -> http://x/e",
    ),
    ("", "absolute_redirect off; proxy_redirect http://b.test/ /b/; location / { proxy_pass @echo; }
         location /x/ { proxy_redirect http://b.test/ /c/; proxy_pass @echo; }",
        "x /go X-Location=http://b.test/p => 302 -> /b/p\n x /x/go X-Location=http://b.test/p => 302 -> /c/p",
    ),
    // Fallbacks and error pages.
    ("ngx_http_proxy_module#proxy_intercept_errors", "location / { proxy_intercept_errors on; error_page 404 = @gone; error_page 503 /sorry; proxy_pass @echo; }
         location @gone { return 200 fallback; } location /sorry { return 200 sorry; }",
        "x /gone => 200 fallback\n x /broken => 503 sorry\n x /fine => 200 upstream /fine localhost",
    ),
    ("", "error_page 404 = @gone; location / { proxy_pass @echo; } location @gone { return 200 fallback; }",
        "x /gone => 404 own",
    ),
    ("", "location / { proxy_intercept_errors on; error_page 404 =200 /again$uri; proxy_pass @echo; } location /again/ { proxy_pass @echo:/second/; }",
        "x /gone => 200 own",
    ),
    ("", "proxy_intercept_errors on; error_page 404 /again$uri; location / { proxy_pass @echo; }",
        "x /gone => 404",
    ),
    ("", "proxy_intercept_errors on; error_page 404 http://other.test$uri; location / { proxy_pass @echo; }",
        "x /gone => 302 -> http://other.test/gone\n x /broken => 503 own",
    ),
    ("ngx_http_core_module#try_files", "location / { try_files $uri @app; } location @app { return 200 \"app $uri\"; }", "x /a => 200 app /a"),
    ("ngx_http_core_module#try_files", "location / { try_files $uri /index?q=$uri; } location /index { return 200 \"$uri $args\"; }",
        "x /a => 200 /index q=/a",
    ),
    ("ngx_http_core_module#try_files", "location / { try_files $uri =404; } error_page 404 = @gone; location @gone { return 200 gone; }",
        "x /a => 200 gone",
    ),
    ("ngx_http_core_module#error_page", "error_page 404 /gone; location /gone { return 200 page; } location /a { return 404; }",
        "x /a => 404 page\n x /gone => 200 page",
    ),
    ("ngx_http_core_module#error_page", "error_page 404 =200 /gone; location /gone { return 200 page; } location /a { return 404; }",
        "x /a => 200 page",
    ),
    ("ngx_http_core_module#error_page", "error_page 403 http://e.test/; location /a { return 403; } error_page 404 =301 http://f.test/;",
        "x /a => 302 -> http://e.test/\n x /b => 301 -> http://f.test/",
    ),
    ("", "error_page 404 /a; location /a { return 404; }", "x /b => 404"),
    ("ngx_http_core_module#recursive_error_pages", "recursive_error_pages on; error_page 404 /a; error_page 403 /b; location /a { return 403; } location /b { return 200 end; } location / { return 404; }",
        "x /x => 403 end",
    ),
    // Maps.
    ("ngx_http_map_module#map", "map $http_host $name { hostnames; default 0; m.test 1; *.m.test 1; n.* 2; .wap.test 3; } server { @sock; return 200 $name; }",
        "m.test / => 200 1\n a.m.test / => 200 1\n n.x / => 200 2\n wap.test / => 200 3\n b.wap.test / => 200 3\n z / => 200 0",
    ),
    ("ngx_http_map_module#map", "map $http_user_agent $mobile { default 0; \"~Opera Mini\" 1; ~*^lynx(.) $1; } server { @sock; return 200 $mobile; }",
        "x / User-Agent=LYNX9 => 200 9\n x / User-Agent=a => 200 0",
    ),
    ("", "map $arg_a $b { ABC yes; } map $b $c { yes twice-$b; } server { @sock; return 200 \"$b $c\"; }",
        "x /?a=abc => 200 yes twice-yes\n x / => 200",
    ),
    ("ngx_http_map_module#map", "map $uri $to { /old /new; ~^/o/(?<rest>.*)$ /n/$rest; } server { @sock; if ($to) { return 301 $to; } return 200 none; }",
        "x /old => 301 -> http://x/new\n x /o/a/b => 301 -> http://x/n/a/b\n x /z => 200 none",
    ),
    ("", "map $http_x_a $kept { default $uri; } server { @sock; set $first $kept; rewrite ^ /b; location / { return 200 \"$first $kept $uri\"; } }",
        "x /a => 200 /a /a /b",
    ),
];
