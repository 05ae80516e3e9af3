//! Tests of `server`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream as Client};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::page::{Page, Pages};
use super::server::*;

struct EchoPages;

impl Pages for EchoPages {
    fn page(&self, path: &[u8], query: &[u8]) -> Option<Page> {
        let body = String::from_utf8_lossy(&[path, query].concat()).into_owned();
        (path != b"/missing").then_some(Page { status: 200, content_type: "text/plain", body })
    }
}

fn start() -> (AdminServer, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (AdminServer::start(listener.into(), Arc::new(EchoPages)).unwrap(), address)
}

/// Sends `request` and returns all bytes up to the end of the connection.
fn exchange(address: SocketAddr, request: &str) -> String {
    let mut client = Client::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn pages_are_served_one_after_the_other() {
    let (_server, address) = start();
    let answer = exchange(
        address,
        "GET /one HTTP/1.1\r\nHost: a\r\n\r\nHEAD /two HTTP/1.1\r\nHost: a\r\n\r\nGET /three?x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{answer}");
    assert!(answer.contains("\r\n\r\n/one"), "{answer}");
    assert!(!answer.contains("/two"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n/threex"), "{answer}");
}

#[test]
fn unknown_pages_are_refused() {
    let (_server, address) = start();
    let status = |request: &str| exchange(address, request).split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status("GET /missing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "404");
    assert_eq!(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"), "405");
    assert_eq!(status("GET / HTTP/1.1\nHost: a\n\n"), "400");
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(status(&long), "431");
}

#[test]
fn idle_connections_do_not_block_others() {
    let (_server, address) = start();
    let idle: Vec<Client> = (0..CONNECTIONS_MAX - 1).map(|_| Client::connect(address).unwrap()).collect();
    let answer = exchange(address, "GET /here HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert!(answer.ends_with("/here"), "{answer}");
    drop(idle);
}

#[test]
fn a_dropped_server_accepts_no_more() {
    let (server, address) = start();
    drop(server);
    // The thread closes the socket once it sees the dropped sender; connecting fails from then on.
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while Client::connect(address).is_ok() {
        assert!(std::time::Instant::now() < deadline, "still listening");
        thread::yield_now();
    }
}
