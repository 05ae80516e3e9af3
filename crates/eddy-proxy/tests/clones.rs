//! No request touches a reference count that workers share.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::assertions_on_constants, reason = "without debug assertions this test would count nothing")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use eddy_config::{GatewayConfig, Mirror, MirrorHost};
use eddy_dialects::check;
use eddy_filter::{
    Filter, FilterEvent, FilterInfo, FilterLibrary, FilterLogLevel, FilterPolicy, Interest, LibraryCall,
    LibraryKeepAlive,
};
use eddy_ids::{Shared, shared_clones};
use eddy_proxy::FilterHost;
use eddy_spec::problem::SourceText;
use place::http2::{Http2Client, start_http2_origin};
use place::{ask, connect, listen, start_filtered, start_origin, use_filters};

/// Requests of a case that are not counted: pools fill, and names are noted for the first time.
const WARM_UP: usize = 200;
/// Requests over which clones are counted.
const REQUESTS: usize = 1_000;

/// A configuration, and a request that its parts take.
struct ClonesCase {
    name: &'static str,
    /// Keys of the listener besides its address.
    listener: &'static str,
    /// Rest of the configuration; `ORIGIN` stands for an origin, `HTTP2` for one of HTTP/2, `SOCKET` for one at a Unix
    /// socket.
    rest: &'static str,
    request: &'static str,
    /// End of the response.
    end: &'static str,
}

const MIRROR: &str = "a mirror";
const GET: &str = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
const CLUSTER: &str = "clusters: {origin: {endpoints: ['ORIGIN']}, other: {endpoints: ['ORIGIN']}, dead: {endpoints: ['127.0.0.1:1']}, socket: {endpoints: ['unix:SOCKET']}, http2: {protocol: http2, endpoints: ['HTTP2']}}\n";

const CASES: &[ClonesCase] = &[
    ClonesCase {
        name: "a GET",
        listener: "routes: site",
        rest: "routes: {site: [{cluster: origin}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "a POST",
        listener: "routes: site",
        rest: "routes: {site: [{cluster: origin}]}",
        request: "POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nabcd",
        end: "hello",
    },
    ClonesCase {
        name: "via and a request ID",
        listener: "routes: site, via: eddy, request_id: x-request-id",
        rest: "routes: {site: [{cluster: origin}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "a fixed response",
        listener: "routes: site",
        rest: "routes: {site: [{respond: {status: 200, body: fixed}}]}",
        request: GET,
        end: "fixed",
    },
    ClonesCase {
        name: "a redirect",
        listener: "routes: site",
        rest: "routes: {site: [{redirect: {status: 302, host: b.test}}]}",
        request: GET,
        end: "Found",
    },
    ClonesCase {
        name: "an endpoint at a Unix socket",
        listener: "routes: site",
        rest: "routes: {site: [{cluster: socket}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "a GET to an HTTP/2 endpoint",
        listener: "routes: site",
        rest: "routes: {site: [{cluster: http2}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "a POST to an HTTP/2 endpoint",
        listener: "routes: site, via: eddy, request_id: x-request-id",
        rest: "routes: {site: [{cluster: http2}]}",
        request: "POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nabcd",
        end: "hello",
    },
    ClonesCase {
        name: "weighted clusters",
        listener: "routes: site",
        rest: "routes: {site: [{clusters: [{cluster: origin, weight: 1}, {cluster: other, weight: 2}]}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "failover",
        listener: "routes: site",
        rest: "routes: {site: [{cluster: dead, failover: [{cluster: origin, when: [unreachable]}]}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: MIRROR,
        listener: "routes: site",
        rest: "routes: {site: [{cluster: origin}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "an access log with the step",
        listener: "routes: site",
        rest: "access_log: {file: /dev/null, format: json, step: true}\nroutes: {site: [{cluster: origin}]}",
        request: GET,
        end: "hello",
    },
    ClonesCase {
        name: "a proxied NGINX location",
        listener: "routes: nginx",
        rest: "routes: {nginx: {dialect: nginx, file: site.conf}}",
        request: "GET /proxied HTTP/1.1\r\nHost: a.test\r\n\r\n",
        end: "hello",
    },
    ClonesCase {
        name: "the text of an NGINX location",
        listener: "routes: nginx",
        rest: "routes: {nginx: {dialect: nginx, file: site.conf}}",
        request: "GET /text HTTP/1.1\r\nHost: a.test\r\n\r\n",
        end: "a text",
    },
    ClonesCase {
        name: "an NGINX error page",
        listener: "routes: nginx",
        rest: "routes: {nginx: {dialect: nginx, file: site.conf}}",
        request: "GET /broken HTTP/1.1\r\nHost: a.test\r\n\r\n",
        end: "a page",
    },
];

const NGINX: &str = "events {} http { server { listen 80;
    location /proxied { proxy_pass http://ORIGIN; add_header X-Added $uri; }
    location /text { default_type text/css; return 200 'a text'; }
    location /broken { error_page 503 = /page; return 503; }
    location /page { return 200 'a page'; }
} }";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ANSWER_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";

/// Protocol of the client of a case.
#[derive(Clone, Copy, Debug)]
enum ClientProtocol {
    Http1,
    Http2,
}

/// Addresses of the origins of a case.
struct Origins {
    http1: SocketAddr,
    http2: SocketAddr,
    unix: String,
}

#[test]
fn no_request_clones_a_plan_reference() {
    let (http2, unix) = (start_http2_origin(ANSWER_HEAD, b"hello"), start_unix_origin());
    let mut origins = Origins { http1: start_origin(b"\r\n\r\n", ANSWER), http2, unix };
    let get = origins.http1;
    let post = start_origin(b"abcd", ANSWER);
    for protocol in [ClientProtocol::Http1, ClientProtocol::Http2] {
        for case in CASES {
            origins.http1 = if case.request.starts_with("POST") { post } else { get };
            let count = count_clones(case, protocol, &origins, None);
            assert_eq!(count, 0, "{} over {protocol:?}: {REQUESTS} requests", case.name);
        }
        origins.http1 = get;
        let count = count_clones(&CASES[0], protocol, &origins, Some(Arc::new(Silent)));
        assert_eq!(count, 0, "three filters over {protocol:?}: {REQUESTS} requests");
        // The counter is the one that a clone moves.
        let cloning = Arc::new(Cloning("a".into()));
        assert_eq!(count_clones(&CASES[0], protocol, &origins, Some(cloning)), 3 * REQUESTS as u64);
    }
}

/// Returns the number of clones of plan-owned references in [`REQUESTS`] requests of one connection.
fn count_clones(
    case: &ClonesCase,
    protocol: ClientProtocol,
    origins: &Origins,
    library: Option<Arc<dyn FilterLibrary>>,
) -> u64 {
    assert!(cfg!(debug_assertions), "clones are counted in debug builds only");
    let listener = listen();
    let address = listener.address;
    let mut config = configuration(case, address, origins);
    if case.name == MIRROR {
        // Only dialects configure mirrors.
        let (cluster, _) = config.clusters.nth(1).unwrap();
        let (numerator, denominator, host) = (1, 1, MirrorHost::Same);
        let copy = Mirror { cluster, numerator, denominator, host };
        place::change_action(&mut config, |action| action.mirrors.push(copy));
    }
    let host = FilterHost::new(1, 16, FilterLogLevel::Info);
    let filters = library.iter().flat_map(|library| {
        ["f0", "f1", "f2"].map(|name| Filter {
            id: host.number(name),
            name: name.into(),
            library: Arc::clone(library),
            number: 1,
            info: FilterInfo { interest: Interest::from_bits(1), keeps_length: true, expects_tunnels: false },
            policy: FilterPolicy::default(),
            owner: LibraryKeepAlive::default(),
        })
    });
    let set = use_filters(&mut config, filters.collect());
    let _gateway = start_filtered(listener, config, &set, host);
    let (request, end) = (case.request.as_bytes(), case.end.as_bytes());
    match protocol {
        ClientProtocol::Http1 => {
            let mut client = connect(address);
            count_clones_of(|| ask(&mut client, request, end))
        }
        ClientProtocol::Http2 => {
            let mut client = Http2Client::connect(address);
            count_clones_of(|| client.ask(request, end))
        }
    }
}

fn count_clones_of(mut ask: impl FnMut()) -> u64 {
    (0..WARM_UP).for_each(|_| ask());
    let before = shared_clones();
    (0..REQUESTS).for_each(|_| ask());
    shared_clones() - before
}

fn configuration(case: &ClonesCase, address: SocketAddr, origins: &Origins) -> GatewayConfig {
    let (http1, http2) = (origins.http1.to_string(), origins.http2.to_string());
    let filled =
        |text: &str| text.replace("ORIGIN", &http1).replace("HTTP2", &http2).replace("SOCKET", &origins.unix);
    let text = format!(
        "workers: 1\nlisteners: [{{address: '{address}', {}}}]\n{CLUSTER}{}\n",
        case.listener, case.rest
    );
    let (text, nginx) = (filled(&text), filled(NGINX));
    let sources = [
        SourceText::new("test.yaml", text.as_str()),
        SourceText { is_included: true, ..SourceText::new("site.conf", nginx.as_str()) },
    ];
    let used = if case.rest.contains("site.conf") { 2 } else { 1 };
    check(&sources[..used]).unwrap_or_else(|problems| panic!("{}: {problems:#?}", case.name)).config
}

/// Starts an origin at a Unix socket; returns its path.
fn start_unix_origin() -> String {
    let path = std::env::temp_dir().join(format!("eddy-clones-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(1..) = stream.read(&mut bytes) {
                    stream.write_all(ANSWER).unwrap();
                }
            });
        }
    });
    path.display().to_string()
}

/// A library whose filters do nothing.
#[derive(Debug)]
struct Silent;

/// A library whose filters clone a reference whenever they are entered.
#[derive(Debug)]
struct Cloning(Shared<str>);

impl FilterLibrary for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        call.stopped = call.steps.len();
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}

impl FilterLibrary for Cloning {
    fn name(&self) -> &str {
        "cloning"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        call.stopped = call.steps.len();
        call.steps.iter().for_each(|_| drop(self.0.clone()));
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}
