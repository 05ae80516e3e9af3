//! System calls per proxied request, counted by strace.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use test_peers::STRACE;

use crate::support::{DEADLINE, EddyProcess};

/// Concurrent connections; the more there are, the more events one wait of the event loop returns.
const CONNECTIONS: usize = 32;
const ROUNDS: usize = 100;
const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// NGINX needs as many: two reads, two writes and its share of a wait.
const CALLS_MAX: f64 = 5.0;

#[test]
fn a_request_takes_at_most_5_system_calls() {
    let origin = start_origin();
    let eddy = EddyProcess::start(&format!(
        "workers: 1\nlisteners: [{{address: '127.0.0.1:0', routes: site}}]\n\
         routes: {{site: [{{cluster: origin}}]}}\nclusters: {{origin: {{endpoints: ['{origin}']}}}}\n"
    ));
    let mut clients: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(eddy.address())).collect();
    ask_all(&mut clients);
    if !test_peers::all_present(&[STRACE]).unwrap() {
        return;
    }
    let strace = match Strace::attach(eddy.gateway()) {
        Ok(strace) => strace,
        Err(said) => {
            return test_peers::skip(&format!("strace may not attach: {said}"), STRACE.remedy).unwrap();
        }
    };
    (0..ROUNDS).for_each(|_| ask_all(&mut clients));
    let calls = strace.total();
    let per_request = calls / (ROUNDS * CONNECTIONS) as f64;
    println!("{per_request:.2} system calls a request");
    assert!(per_request <= CALLS_MAX, "{per_request:.2} system calls a request");
    // Fewer than two reads and two writes would mean that something else was counted.
    assert!(per_request >= 4.0, "{per_request:.2} system calls a request");
}

/// Sends one request on each connection, then reads all responses.
fn ask_all(clients: &mut [TcpStream]) {
    for client in &mut *clients {
        client.write_all(REQUEST).unwrap();
    }
    for client in clients {
        let (mut bytes, mut held) = ([0; 1024], 0);
        while !bytes[..held].ends_with(b"hello") {
            let count = client.read(&mut bytes[held..]).unwrap();
            assert!(count > 0, "the gateway closed: {}", String::from_utf8_lossy(&bytes[..held]));
            held += count;
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

fn start_origin() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let (mut bytes, mut held) = ([0; 4096], 0);
                while let Ok(count @ 1..) = stream.read(&mut bytes[held..]) {
                    held += count;
                    if bytes[..held].ends_with(b"\r\n\r\n") {
                        held = 0;
                        if stream.write_all(ANSWER).is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    address
}

/// `strace -c`, attached to every thread of a process.
struct Strace {
    process: Child,
    output: BufReader<std::process::ChildStderr>,
}

impl Strace {
    /// Attaches to a process; the error is the message of strace when the kernel does not allow it.
    fn attach(pid: Pid) -> Result<Self, String> {
        let pid = pid.as_raw_nonzero().to_string();
        let mut process = Command::new("strace")
            .args(["-f", "-c", "-U", "calls,name", "-p", &pid])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        if line.contains("attached") {
            return Ok(Self { process, output });
        }
        process.wait().unwrap();
        Err(line)
    }

    /// Detaches and returns the number of system calls.
    fn total(mut self) -> f64 {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        self.process.wait().unwrap();
        let line = text.lines().find(|line| line.trim_end().ends_with("total"));
        let count = line.and_then(|line| line.split_ascii_whitespace().next());
        count.unwrap_or_else(|| panic!("no total in: {text}")).parse().unwrap()
    }
}
