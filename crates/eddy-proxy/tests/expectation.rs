//! Requests that expect `100 Continue`: who asks their client for the body, and when.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use eddy_proxy::Gateway;
use place::{config, connect, free_address, start_with};

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
/// How long the endpoint has to answer before the client is asked for its body here, and how much later that may be noticed.
const CONSENT: Duration = Duration::from_secs(1);

/// An endpoint that has one connection for each of `scripts`, and a gateway before it.
fn start(scripts: Vec<fn(TcpStream)>) -> (Gateway, SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        for script in scripts {
            let (link, _) = listener.accept().unwrap();
            link.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            script(link);
        }
    });
    let address = free_address();
    let rest =
        "limits: {queue_delay: 0s}\nroutes: {site: [{cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}";
    (start_with(address, config(address, origin, "", rest)), address, serving)
}

/// Reads until what has come ends with `end`.
#[track_caller]
fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut held = Vec::new();
    while !held.ends_with(end.as_bytes()) {
        let mut byte = [0];
        let count = stream.read(&mut byte).unwrap();
        assert!(count > 0, "the end came before {end:?}: {}", String::from_utf8_lossy(&held));
        held.push(byte[0]);
    }
    String::from_utf8(held).unwrap()
}

/// Reads a head that passes the expectation on.
#[track_caller]
fn take_head(link: &mut TcpStream) {
    let head = until(link, "\r\n\r\n");
    assert!(head.contains("\r\nExpect: 100-continue\r\n"), "{head}");
}

fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

#[test]
fn the_endpoint_asks_for_the_body_and_the_client_hears_it_once() {
    let (_gateway, address, serving) = start(vec![|mut link| {
        take_head(&mut link);
        send(&mut link, CONTINUE);
        until(&mut link, "hello");
        send(&mut link, OK);
    }]);
    let mut client = connect(address);
    let begun = Instant::now();
    send(&mut client, HEAD);
    assert_eq!(until(&mut client, "\r\n\r\n"), CONTINUE);
    send(&mut client, "hello");
    assert!(until(&mut client, "\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(begun.elapsed() < CONSENT, "nobody had to wait");
    serving.join().unwrap();
}

#[test]
fn a_refusal_saves_the_body() {
    for status in ["401 Unauthorized", "417 Expectation Failed"] {
        let script: fn(TcpStream) = match status {
            "401 Unauthorized" => |mut link| {
                take_head(&mut link);
                send(&mut link, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
                assert_eq!(link.read(&mut [0]).unwrap(), 0, "no body follows, and no other request");
            },
            _ => |mut link| {
                take_head(&mut link);
                send(&mut link, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno");
                assert_eq!(link.read(&mut [0]).unwrap(), 0, "no body follows, and no other request");
            },
        };
        let (_gateway, address, serving) = start(vec![script]);
        let mut client = connect(address);
        send(&mut client, HEAD);
        let mut heard = String::new();
        client.read_to_string(&mut heard).unwrap();
        assert!(heard.starts_with(&format!("HTTP/1.1 {status}\r\n")) && heard.ends_with("no"), "{heard}");
        assert!(heard.contains("\r\nConnection: close\r\n"), "what follows may be the body: {heard}");
        serving.join().unwrap();
    }
}

#[test]
fn a_silent_endpoint_keeps_the_client_waiting_for_a_second_and_is_too_late_then() {
    let (_gateway, address, serving) = start(vec![|mut link| {
        take_head(&mut link);
        until(&mut link, "hello");
        send(&mut link, CONTINUE);
        send(&mut link, OK);
    }]);
    let mut client = connect(address);
    let begun = Instant::now();
    send(&mut client, HEAD);
    assert_eq!(until(&mut client, "\r\n\r\n"), CONTINUE);
    assert!(begun.elapsed() >= CONSENT, "{:?}", begun.elapsed());
    send(&mut client, "hello");
    assert!(until(&mut client, "\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
    serving.join().unwrap();
}

#[test]
fn who_sends_the_body_unasked_is_not_asked() {
    let script: fn(TcpStream) = |mut link| {
        until(&mut link, "hello");
        send(&mut link, OK);
    };
    for pieces in [vec!["", "hello"], vec!["h", "ello"], vec!["hello"]] {
        let (_gateway, address, serving) = start(vec![script]);
        let mut client = connect(address);
        for (index, piece) in pieces.iter().enumerate() {
            send(&mut client, &[if index == 0 { HEAD } else { "" }, piece].concat());
        }
        let heard = until(&mut client, "\r\n\r\nok");
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{pieces:?}: {heard}");
        serving.join().unwrap();
    }
}

#[test]
fn the_client_of_a_large_body_is_asked_for_it() {
    const BYTES: usize = 300_000;
    let (_gateway, address, serving) = start(vec![|mut link| {
        take_head(&mut link);
        link.read_exact(&mut vec![0; BYTES]).unwrap();
        send(&mut link, OK);
    }]);
    let mut client = connect(address);
    let head =
        format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {BYTES}\r\n\r\n");
    send(&mut client, &head);
    assert_eq!(until(&mut client, "\r\n\r\n"), CONTINUE);
    client.write_all(&vec![b'x'; BYTES]).unwrap();
    until(&mut client, "\r\n\r\nok");
    serving.join().unwrap();
}
