//! Safety properties of an exchange, tested with a gateway in this process: limits, deadlines, egress checks.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use eddy_config::{ActionKind, GatewayConfig, ListenAddress};
use eddy_filter::FilterLogLevel;
use eddy_proxy::{FilterHost, FilterSet, Gateway, Ready, Sockets};
use place::{NO_ORIGIN, ask, connect, listen, start_origin, start_with};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const LOCAL: &str = "routes: {site: [{respond: {status: 200, body: one}}]}";
/// A request after which the connection stays open.
const GET_ONE: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/// Timeout of a response in these tests; the tested deadlines are a hundredth of it.
const PATIENCE: Duration = Duration::from_secs(6);
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
// A busy machine must not make the gateway refuse a test's requests.
const NEVER_BUSY: &str = "limits: {queue_delay: 0s}\n";

/// Starts a gateway in front of an origin that answers every request with [`OK`].
fn start(keys: &str, rest: &str, change: impl FnOnce(&mut GatewayConfig)) -> (Gateway, SocketAddr) {
    start_before(start_origin(b"\r\n\r\n", OK), keys, rest, change)
}

fn start_before(
    origin: SocketAddr,
    keys: &str,
    rest: &str,
    change: impl FnOnce(&mut GatewayConfig),
) -> (Gateway, SocketAddr) {
    let listener = listen();
    let address = listener.address;
    let mut config = place::config(address, origin, keys, &format!("{NEVER_BUSY}{rest}"));
    change(&mut config);
    (start_with(listener, config), address)
}

/// Starts an origin that answers every request with `answer`, or closes the connection if that is empty, and counts its
/// connections.
fn start_counting(answer: &'static [u8]) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, links) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&links);
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let mut link = link.unwrap();
            count.fetch_add(1, Relaxed);
            // A request of these tests arrives in one piece.
            std::thread::spawn(move || {
                while let Ok(1..) = link.read(&mut [0; 8192])
                    && !answer.is_empty()
                {
                    link.write_all(answer).unwrap();
                }
            });
        }
    });
    (address, links)
}

/// Returns a site that forwards every request to the origin, with `keys` of its cluster.
fn forwarding(keys: &str) -> String {
    format!("routes: {{site: [{{cluster: c}}]}}\nclusters: {{c: {{endpoints: ['ORIGIN'], {keys}}}}}")
}

/// Returns all bytes that a new connection delivers in response to `request`, up to its end.
fn answer(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    stream.write_all(request).unwrap();
    rest_of(&mut stream)
}

fn rest_of(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut bytes = Vec::new();
    // A gateway that responds endlessly must not fill the memory.
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[track_caller]
fn check_status(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
}

#[test]
fn a_request_that_fails_the_egress_check_is_not_sent() {
    let (_gateway, address) = start("", &forwarding(""), |_| ());
    check_status(&answer(address, GET), 200);
    // No checked configuration allows this: a second `Host` represents any fault of eddy's own.
    let (_gateway, address) =
        start("", &forwarding(""), |config| config.listeners[0].request_id = Some("host".into()));
    let answer = answer(address, GET);
    assert!(answer.starts_with("HTTP/1.1 5"), "{answer}");
}

#[test]
fn a_response_that_fails_the_egress_check_is_not_forwarded() {
    let origin = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = origin.local_addr().unwrap();
    std::thread::spawn(move || {
        let filler = "a".repeat(8 * 1024);
        let answer =
            format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: {filler}\r\nX-B: {filler}\r\n\r\n");
        for link in origin.incoming() {
            let mut link = link.unwrap();
            let mut bytes = vec![0; 64 * 1024];
            let mut tail = Vec::new();
            while !tail.ends_with(b"\r\n\r\n") {
                let count = link.read(&mut bytes).unwrap();
                tail.extend_from_slice(&bytes[..count]);
                tail.drain(..tail.len().saturating_sub(4));
            }
            link.write_all(answer.as_bytes()).unwrap();
        }
    });
    let start = |config: &mut GatewayConfig| config.listeners[0].via = Some("eddy".into());
    let (_gateway, address) = start_before(endpoint, "", &forwarding(""), start);
    check_status(&answer(address, GET), 200);
    // No checked configuration allows this: a head that is too large with the headers of a response, but not with those
    // of a request, represents any fault of eddy's own.
    let via = "a".repeat(2 * 1024 * 1024 - 8 * 1024);
    let start = |config: &mut GatewayConfig| config.listeners[0].via = Some(via.into());
    let (_gateway, address) = start_before(endpoint, "", &forwarding(""), start);
    check_status(&answer(address, GET), 500);
}

#[test]
fn a_local_reply_that_fails_the_egress_check_is_not_sent() {
    // No checked configuration allows this: a bare CR represents any fault of eddy's own.
    let (_gateway, address) = start("", LOCAL, |config| {
        place::change_action(config, |action| {
            let ActionKind::Respond(respond) = &mut action.kind else { unreachable!() };
            respond.content_type = "text/plain\rx".into();
        });
    });
    assert_eq!(answer(address, GET), "");
}

#[test]
fn a_reload_reaches_connections_that_are_open() {
    let (gateway, address) = start_before(NO_ORIGIN, "", LOCAL, |_| ());
    let mut client = connect(address);
    ask(&mut client, GET_ONE, b"one");
    let config = place::config(address, NO_ORIGIN, "", &LOCAL.replace("one", "two"));
    gateway.reload(Arc::new(config), &Ready::default(), Sockets::default()).unwrap();
    ask(&mut client, GET_ONE, b"two");
}

#[test]
fn an_unread_body_closes_the_connection_after_the_response() {
    let (_gateway, address) = start("", LOCAL, |_| ());
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n";
    let answer = answer(address, &[head, &b"GET /smuggled HTTP/1.1\r\n"[..]].concat());
    check_status(&answer, 200);
    assert!(answer.to_ascii_lowercase().contains("connection: close"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1);
}

#[test]
fn nothing_is_read_after_a_body_with_an_unknown_end() {
    let (_gateway, address) = start("", &forwarding(""), |_| ());
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    // If it were read again after the fault, the line end behind the data would look like that of the trailers.
    let answer = answer(address, format!("{head}3\r\nabc\r\n0\r\n\nGET / HTTP/1.1\r\n\r\n").as_bytes());
    check_status(&answer, 400);
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
}

#[test]
fn a_link_is_reused_only_after_a_complete_response() {
    let links_of_two_requests = |answer: &'static [u8]| {
        let (origin, links) = start_counting(answer);
        let (_gateway, address) = start_before(origin, "", &forwarding(""), |_| ());
        (0..2).for_each(|_| check_status(&self::answer(address, GET), 200));
        links.load(Relaxed)
    };
    assert_eq!(links_of_two_requests(OK), 1);
    assert_eq!(links_of_two_requests(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloX"), 2);
    let closing = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    assert_eq!(links_of_two_requests(closing), 2);
}

#[test]
fn requests_that_are_not_idempotent_are_sent_once() {
    let times_sent = |request: &'static [u8]| {
        let (origin, links) = start_counting(b"");
        let rest = "routes: {site: [{cluster: c, retry: {attempts: 2, on_reset: true}}]}\n\
                    clusters: {c: {endpoints: ['ORIGIN']}}";
        let (_gateway, address) = start_before(origin, "", rest, |_| ());
        check_status(&answer(address, request), 502);
        links.load(Relaxed)
    };
    assert_eq!(times_sent(GET), 3);
    // Without a body, only the method shows that the request must not be repeated.
    assert_eq!(times_sent(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 1);
}

#[test]
fn a_truncated_response_does_not_look_complete() {
    let origin = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = origin.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut link, _) = origin.accept().unwrap();
        let count = link.read(&mut [0; 8192]).unwrap();
        assert!(count > 0);
        link.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").unwrap();
    });
    let (_gateway, address) = start_before(endpoint, "", &forwarding(""), |_| ());
    let mut client = connect(address);
    client.write_all(GET).unwrap();
    let mut bytes = Vec::new();
    // It may well end with an error.
    let _ = client.read_to_end(&mut bytes);
    assert!(!bytes.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn nothing_is_read_after_a_refused_head() {
    let (_gateway, address) = start("", LOCAL, |_| ());
    let request = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let answer = answer(address, request);
    check_status(&answer, 400);
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
}

#[test]
fn a_head_timeout_is_enforced() {
    let (_gateway, address) = start("timeouts: {head: 50ms}", LOCAL, |_| ());
    check_status(&answer(address, b"GET / HTTP/1.1\r\nHost:"), 408);
}

#[test]
fn an_idle_connection_is_closed_after_its_timeout() {
    let (_gateway, address) = start("timeouts: {idle: 50ms}", LOCAL, |_| ());
    let mut client = connect(address);
    ask(&mut client, GET_ONE, b"one");
    assert_eq!(rest_of(&mut client), "");
}

#[test]
fn a_response_timeout_is_enforced() {
    // Such an end never comes, so this origin only listens.
    let silent = start_origin(b"never", OK);
    let rest = forwarding("first_byte_timeout: 50ms");
    let (_gateway, address) = start_before(silent, "", &rest, |_| ());
    check_status(&answer(address, GET), 504);
}

#[test]
fn a_connect_timeout_is_enforced() {
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let endpoint = full.local_addr().unwrap();
    // A full accept queue refuses nothing and accepts nothing.
    let queued: Vec<_> =
        (0..3).map(|_| TcpStream::connect_timeout(&endpoint, Duration::from_millis(50))).collect();
    let rest = forwarding("connect_timeout: 50ms");
    let (_gateway, address) = start_before(endpoint, "", &rest, |_| ());
    check_status(&answer(address, GET), 504);
    drop(queued);
}

#[test]
fn a_body_is_limited_by_its_length_and_by_its_bytes() {
    let (_gateway, address) = start("limits: {body_bytes: 10}", &forwarding(""), |_| ());
    let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    let by_length = format!("{head}Content-Length: 11\r\n\r\n");
    check_status(&answer(address, by_length.as_bytes()), 413);
    let by_bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n");
    check_status(&answer(address, by_bytes.as_bytes()), 413);
}

#[test]
fn a_burst_of_connections_stays_within_the_limit() {
    let (origin, links) = start_counting(OK);
    let listener = listen();
    let address = listener.address;
    let limits = "limits: {queue_delay: 0s, connections: 8}\n";
    let config = place::config(address, origin, "", &format!("{limits}{}", forwarding("")));
    // All of them wait when the gateway begins to accept, and each has sent bytes, so that none counts as idle.
    let waiting: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut client = connect(address);
            client.write_all(b"GET /slow HTTP/1.1\r\n").unwrap();
            client
        })
        .collect();
    let host = FilterHost::new(1, 1, FilterLogLevel::Info);
    let gateway = place::start_filtered(listener, config, &FilterSet::default(), host);
    let mut first = &waiting[0];
    first.write_all(b"Host: a\r\n\r\n").unwrap();
    assert!(matches!(first.read(&mut [0; 1024]), Ok(1..)), "the first of them is served");
    assert_eq!(links.load(Relaxed), 1);
    let mut text = String::new();
    gateway.stats().render(&mut text);
    let accepted = text.lines().find_map(|line| line.strip_prefix("eddy_connections_accepted_total"));
    assert!(accepted.is_some_and(|rest| rest.ends_with(" 8")), "{text}");
}

#[test]
fn only_a_waiting_connection_displaces_an_idle_one() {
    let (_gateway, address) = start("limits: {connections: 1}", LOCAL, |_| ());
    let mut first = connect(address);
    ask(&mut first, GET_ONE, b"one");
    first.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let error = first.read(&mut [0]).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "a full house at rest: {error}"
    );
    let mut second = connect(address);
    ask(&mut second, GET_ONE, b"one");
    assert_eq!(rest_of(&mut first), "");
    ask(&mut second, GET_ONE, b"one");
}

#[test]
fn a_draining_gateway_accepts_no_connections() {
    let (gateway, address) = start("", LOCAL, |_| ());
    check_status(&answer(address, GET), 200);
    let copies = gateway.sockets(&ListenAddress::Tcp(address)).unwrap();
    gateway.drain(Duration::from_secs(10));
    // The socket still listens for the successor process, which has duplicates; the connection waits for it.
    let mut stream = connect(address);
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    stream.write_all(GET).unwrap();
    let error = stream.read(&mut [0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    // Without such a process no client waits in vain.
    drop((copies, stream));
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn sampled_requests_are_routed_twice_with_the_same_result() {
    for (every, counted) in [("1", "3"), ("0", "0")] {
        let rest = format!("route_check: {every}\n{LOCAL}");
        let (gateway, address) = start("", &rest, |_| {});
        for _ in 0..3 {
            assert!(answer(address, GET).ends_with("one"));
        }
        let mut text = String::new();
        gateway.stats().render(&mut text);
        let value = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name) && !line.starts_with('#')).unwrap();
            line.rsplit(' ').next().unwrap().to_owned()
        };
        assert_eq!(value("eddy_route_checks_total"), counted);
        assert_eq!(value("eddy_route_check_mismatches_total"), "0");
    }
}
