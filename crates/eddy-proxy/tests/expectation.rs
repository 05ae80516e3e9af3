//! Requests with `Expect: 100-continue`: which side asks the client for the body, and when.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use place::{connect, send, start_scripted as start, until};

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
/// Time that the endpoint has to respond before eddy asks the client for its body, and the tolerance for noticing that.
const CONSENT: Duration = Duration::from_secs(1);

/// Reads a head that contains the forwarded expectation.
#[track_caller]
fn take_head(link: &mut TcpStream) {
    let head = until(link, "\r\n\r\n");
    assert!(head.contains("\r\nExpect: 100-continue\r\n"), "{head}");
}

#[test]
fn the_100_continue_of_the_endpoint_is_forwarded_once() {
    let (_gateway, address, serving) = start(vec![Box::new(|mut link| {
        take_head(&mut link);
        send(&mut link, CONTINUE);
        until(&mut link, "hello");
        send(&mut link, OK);
    })]);
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
fn a_refused_expectation_avoids_sending_the_body() {
    for status in ["401 Unauthorized", "417 Expectation Failed"] {
        let (_gateway, address, serving) = start(vec![Box::new(move |mut link| {
            take_head(&mut link);
            send(&mut link, &format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno"));
            assert_eq!(link.read(&mut [0]).unwrap(), 0, "no body follows, and no other request");
        })]);
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
fn without_a_100_from_the_endpoint_the_gateway_sends_it_after_a_second() {
    let (_gateway, address, serving) = start(vec![Box::new(|mut link| {
        take_head(&mut link);
        until(&mut link, "hello");
        send(&mut link, CONTINUE);
        send(&mut link, OK);
    })]);
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
fn a_client_that_sends_the_body_early_gets_no_100() {
    for pieces in [vec!["", "hello"], vec!["h", "ello"], vec!["hello"]] {
        let (_gateway, address, serving) = start(vec![Box::new(|mut link| {
            until(&mut link, "hello");
            send(&mut link, OK);
        })]);
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
fn a_client_with_a_large_body_gets_100_continue() {
    const BYTES: usize = 300_000;
    let (_gateway, address, serving) = start(vec![Box::new(|mut link| {
        take_head(&mut link);
        link.read_exact(&mut vec![0; BYTES]).unwrap();
        send(&mut link, OK);
    })]);
    let mut client = connect(address);
    let head =
        format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {BYTES}\r\n\r\n");
    send(&mut client, &head);
    assert_eq!(until(&mut client, "\r\n\r\n"), CONTINUE);
    client.write_all(&vec![b'x'; BYTES]).unwrap();
    until(&mut client, "\r\n\r\nok");
    serving.join().unwrap();
}
