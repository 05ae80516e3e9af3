//! Requests with slow bodies: how much of a cluster's capacity they hold, and how much they leave to others.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use eddy_proxy::Gateway;
use place::{config, connect, listen, send, start_with, until};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/// Connections of the cluster. Half of them are open to any upload, seven to those that have shown progress.
const LINKS: usize = 8;
/// Size of the first part of a body, which shows that the upload makes progress.
const FIRST_PART_BYTES: usize = 16 * 1024;

/// Starts an origin that counts its connections. It answers each POST when its body ends with `.`, other requests at
/// the end of their head.
fn start_origin() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, links) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&links);
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let mut link = link.unwrap();
            let count = Arc::clone(&count);
            std::thread::spawn(move || {
                count.fetch_add(1, Relaxed);
                let mut held = Vec::new();
                let mut bytes = [0; 8192];
                while let Ok(read @ 1..) = link.read(&mut bytes) {
                    held.extend_from_slice(&bytes[..read]);
                    let has_body = held.starts_with(b"POST");
                    if held.ends_with(if has_body { b"." } else { b"\r\n\r\n" }) {
                        held.clear();
                        link.write_all(OK.as_bytes()).unwrap();
                    }
                }
                count.fetch_sub(1, Relaxed);
            });
        }
    });
    (address, links)
}

/// Starts a gateway in front of such an origin, with `timeouts` of its listener.
fn start(timeouts: &str) -> (Gateway, SocketAddr, Arc<AtomicUsize>) {
    let (origin, links) = start_origin();
    let listener = listen();
    let address = listener.address;
    let rest = format!(
        "limits: {{queue_delay: 0s}}\nroutes: {{site: [{{cluster: c}}]}}\nclusters: {{c: {{endpoints: ['ORIGIN'], connections_per_endpoint: {LINKS}}}}}"
    );
    let config = config(address, origin, &format!("timeouts: {{{timeouts}}}"), &rest);
    (start_with(listener, config), address, links)
}

/// Begins a request whose body of `bytes` is still to come.
fn begin(address: SocketAddr, bytes: usize) -> TcpStream {
    let mut client = connect(address);
    send(&mut client, &format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bytes}\r\n\r\n"));
    client
}

/// Waits until the origin has this many connections.
#[track_caller]
fn until_links(links: &AtomicUsize, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while links.load(Relaxed) != count {
        assert!(Instant::now() < deadline, "{} connections, not {count}", links.load(Relaxed));
        std::thread::yield_now();
    }
}

/// Waits until the origin has at most this many connections: it may notice a close after the next connection.
#[track_caller]
fn until_at_most(links: &AtomicUsize, count: usize) {
    let deadline = Instant::now() + Duration::from_millis(500);
    while links.load(Relaxed) > count {
        assert!(Instant::now() < deadline, "{} connections, more than {count}", links.load(Relaxed));
        std::thread::yield_now();
    }
}

#[track_caller]
fn check_served(client: &mut TcpStream) {
    let heard = until(client, "\r\n\r\nok");
    assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
}

#[test]
fn trickling_bodies_leave_connections_for_others() {
    let (_gateway, address, links) = start("body_grace: 60s");
    let trickling: Vec<TcpStream> = (0..4 * LINKS).map(|_| begin(address, 100_000)).collect();
    until_links(&links, LINKS / 2);
    for mut client in &trickling {
        client.write_all(b"x").unwrap();
    }
    let mut client = connect(address);
    for _ in 0..3 {
        send(&mut client, GET);
        check_served(&mut client);
    }
    // A body that has arrived completely holds nothing up, whatever its framing and however it is cut.
    for pieces in [
        vec!["Content-Length: 5\r\n\r\nbody."],
        vec!["Content-Length: 5\r\n\r\n", "body."],
        vec!["Content-Length: 5\r\n\r\nbo", "dy."],
        vec!["Content-Length: 5\r\nExpect: 100-continue\r\n\r\n", "body."],
    ] {
        send(&mut client, "POST / HTTP/1.1\r\nHost: a\r\n");
        for piece in pieces {
            send(&mut client, piece);
            if piece.contains("Expect") {
                assert_eq!(until(&mut client, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
            }
        }
        check_served(&mut client);
    }
    assert!(links.load(Relaxed) <= LINKS, "{links:?}");
}

#[test]
fn fast_bodies_are_served_among_trickling_ones() {
    let (_gateway, address, links) = start("body_grace: 60s");
    let trickling: Vec<TcpStream> = (0..2 * LINKS).map(|_| begin(address, 100_000)).collect();
    until_links(&links, LINKS / 2);
    // These may take all but the eighth that is reserved.
    let proven: Vec<TcpStream> = (0..LINKS)
        .map(|_| {
            let mut client = begin(address, FIRST_PART_BYTES + 1);
            client.write_all(&[b'x'; FIRST_PART_BYTES]).unwrap();
            client
        })
        .collect();
    until_links(&links, LINKS - 1);
    let mut other = connect(address);
    send(&mut other, GET);
    check_served(&mut other);
    // The last of them has waited; it gets its turn when another one is done.
    for mut client in proven {
        send(&mut client, ".");
        check_served(&mut client);
    }
    drop(trickling);
}

#[test]
fn many_trickling_bodies_are_ended_sooner() {
    let (_gateway, address, links) = start("body_grace: 60s");
    let begin_proven = || {
        let mut client = begin(address, 100_000);
        client.write_all(&[b'x'; FIRST_PART_BYTES]).unwrap();
        client
    };
    let held: Vec<TcpStream> = (0..LINKS - 1).map(|_| begin_proven()).collect();
    until_links(&links, LINKS - 1);
    let begun = Instant::now();
    until_links(&links, LINKS / 2);
    let took = begun.elapsed();
    // At most a few ticks late, and not sooner.
    assert!((Duration::from_millis(1_500)..Duration::from_secs(15)).contains(&took), "{took:?}");
    // The remaining uploads have their usual time.
    let mut left = 0;
    for mut client in held {
        client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut bytes = [0; 12];
        match client.read_exact(&mut bytes) {
            Ok(()) => assert_eq!(&bytes, b"HTTP/1.1 408"),
            Err(_) => left += 1,
        }
    }
    assert_eq!(left, LINKS / 2);
}

#[test]
fn a_missing_body_times_out_before_an_endpoint_is_selected() {
    let (_gateway, address, links) = start("body_grace: 1s");
    let mut many: Vec<TcpStream> = (0..2 * LINKS).map(|_| begin(address, 100_000)).collect();
    for client in &mut many {
        let heard = until(client, "\r\n\r\n");
        assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
        until_at_most(&links, LINKS / 2);
    }
}
