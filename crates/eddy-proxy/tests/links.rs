//! Upstream connections that their endpoints close while idle.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use place::{ConnectionScript, connect, send, start_scripted, start_scripted_with, until};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers a GET.
fn serve_get(link: &mut TcpStream) {
    until(link, "\r\n\r\n");
    send(link, OK);
}

fn ask(client: &mut TcpStream) {
    send(client, GET);
    until(client, "\r\n\r\nok");
}

#[test]
fn an_idle_link_is_closed_when_its_endpoint_closes_it() {
    const ROUNDS: u32 = 6;
    let (done, closed) = channel();
    let script = |done: std::sync::mpsc::Sender<()>| -> ConnectionScript {
        Box::new(move |mut link| {
            serve_get(&mut link);
            link.shutdown(Shutdown::Write).unwrap();
            assert_eq!(link.read(&mut [0]).unwrap(), 0);
            done.send(()).unwrap();
        })
    };
    let (_gateway, address, serving) = start_scripted((0..ROUNDS).map(|_| script(done.clone())).collect());
    let mut client = connect(address);
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        ask(&mut client);
        closed.recv().unwrap();
    }
    // A check once per second would take most of a second each time.
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(u64::from(ROUNDS) / 3), "{took:?}");
    serving.join().unwrap();
}

#[test]
fn requests_beyond_the_link_limit_wait() {
    let (go, gone) = channel();
    let script: ConnectionScript = Box::new(move |mut link| {
        until(&mut link, "\r\n\r\n");
        gone.recv().unwrap();
        send(&mut link, OK);
        serve_get(&mut link);
        serve_get(&mut link);
    });
    let (_gateway, address, serving) = start_scripted_with("connections_per_endpoint: 1", vec![script]);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| connect(address)).collect();
    clients.iter_mut().for_each(|client| send(client, GET));
    // The worker has processed all of them by the time it answers a later one.
    let mut later = connect(address);
    for _ in 0..3 {
        send(&mut later, "GET /here HTTP/1.1\r\nHost: a\r\n\r\n");
        until(&mut later, "here");
    }
    go.send(()).unwrap();
    for client in &mut clients {
        let heard = until(client, "\r\n\r\n");
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
    }
    serving.join().unwrap();
}

#[test]
fn a_request_that_waits_for_a_link_beyond_the_connect_timeout_is_refused() {
    let (go, gone) = channel();
    let script: ConnectionScript = Box::new(move |mut link| {
        until(&mut link, "\r\n\r\n");
        gone.recv().unwrap();
        send(&mut link, OK);
        // The permit of a closed link goes to a waiting request as well.
    });
    let next: ConnectionScript = Box::new(|mut link| serve_get(&mut link));
    let (_gateway, address, serving) =
        start_scripted_with("connections_per_endpoint: 1, connect_timeout: 300ms", vec![script, next]);
    let (mut first, mut second) = (connect(address), connect(address));
    send(&mut first, GET);
    send(&mut second, GET);
    let begun = Instant::now();
    // Either may have come first.
    let (told, heard) = channel();
    for (name, mut client) in [(1, first.try_clone().unwrap()), (2, second.try_clone().unwrap())] {
        let told = told.clone();
        std::thread::spawn(move || told.send((name, until(&mut client, "\r\n\r\n"))));
    }
    let (name, head) = heard.recv().unwrap();
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
    go.send(()).unwrap();
    let (other, head) = heard.recv().unwrap();
    assert!(other != name && head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let mut third = connect(address);
    ask(&mut third);
    serving.join().unwrap();
}

#[test]
fn a_request_whose_body_was_not_read_is_resent_on_a_new_link() {
    let cases = [
        ("Content-Length: 5", "hello", "hello"),
        ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n", "0\r\n\r\n"),
        ("Content-Length: 5\r\nExpect: 100-continue", "hello", "hello"),
    ];
    for (fields, body, end) in cases {
        let (asked, again) = channel();
        let expects = fields.contains("Expect");
        let (_gateway, address, serving) = start_scripted(vec![
            Box::new(|mut link| {
                serve_get(&mut link);
                let head = until(&mut link, "\r\n\r\n");
                assert!(head.starts_with("POST / "), "{head}");
            }),
            Box::new(move |mut link| {
                let head = until(&mut link, "\r\n\r\n");
                assert!(head.starts_with("POST / ") && head.contains("\r\nExpect: ") == expects, "{head}");
                asked.send(()).unwrap();
                if expects {
                    send(&mut link, "HTTP/1.1 100 Continue\r\n\r\n");
                }
                until(&mut link, end);
                send(&mut link, OK);
            }),
        ]);
        let mut client = connect(address);
        ask(&mut client);
        send(&mut client, &format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n"));
        again.recv_timeout(Duration::from_secs(20)).expect("the request is sent again");
        if expects {
            assert_eq!(until(&mut client, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        }
        send(&mut client, body);
        let heard = until(&mut client, "\r\n\r\nok");
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{fields}: {heard}");
        serving.join().unwrap();
    }
}

#[test]
fn a_request_whose_body_was_partly_sent_is_not_sent_again() {
    for (fields, sent, end) in [
        ("Content-Length: 5", "he", "he"),
        // The body has no data and is complete.
        ("Transfer-Encoding: chunked", "0\r\n\r\n", "0\r\n\r\n"),
    ] {
        let first: ConnectionScript = Box::new(move |mut link| {
            serve_get(&mut link);
            until(&mut link, "\r\n\r\n");
            until(&mut link, end);
        });
        // Would answer the request if it were sent again.
        let second: ConnectionScript = Box::new(|mut link| {
            until(&mut link, "\r\n\r\n");
            send(&mut link, OK);
        });
        let (_gateway, address, serving) = start_scripted(vec![first, second]);
        let mut client = connect(address);
        ask(&mut client);
        send(&mut client, &format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n{sent}"));
        let heard = until(&mut client, "\r\n\r\n");
        assert!(heard.starts_with("HTTP/1.1 502 "), "{fields}: {heard}");
        ask(&mut connect(address));
        serving.join().unwrap();
    }
}
