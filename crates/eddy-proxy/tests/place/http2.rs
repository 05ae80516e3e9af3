//! HTTP/2 client and origin of plain blocking sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use eddy_http::{BodyReadResult, ErrorCode, Http2, Http2Limits};
use eddy_ids::WorkerTime;

use super::connect;

/// HTTP/2 connection to a gateway, without TLS.
pub(crate) struct Http2Client(Http2Connection);

impl Http2Client {
    /// Connects to a gateway.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let state = Http2::client("http", Http2Limits::default(), WorkerTime::from_millis(0));
        Self(Http2Connection::new(connect(address), state))
    }

    /// Sends `request`, a head and perhaps a body in the form of HTTP/1.1, and reads the response, which must end with
    /// `end`.
    pub(crate) fn ask(&mut self, request: &[u8], end: &[u8]) {
        let connection = &mut self.0;
        let opened = connection.state.open(request, request.ends_with(b"\r\n\r\n")).unwrap();
        let body = &request[opened.length..];
        if !body.is_empty() {
            assert_eq!(connection.state.send_data(opened.stream, body, &[], true).unwrap(), body.len());
        }
        let mut response = Vec::new();
        while !connection.read_message(opened.stream, &mut response) {
            assert!(
                connection.exchange_bytes(),
                "the gateway closed: {}",
                String::from_utf8_lossy(&response)
            );
        }
        assert!(response.ends_with(end), "{}", String::from_utf8_lossy(&response));
        connection.state.finish(opened.stream, ErrorCode::NoError);
    }
}

/// Starts an HTTP/2 origin that answers every request with `head`, in the form of HTTP/1.1, and `body`.
pub(crate) fn start_http2_origin(head: &'static [u8], body: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let state = Http2::new(Http2Limits::default(), WorkerTime::from_millis(0));
            let connection = Http2Connection::new(stream.unwrap(), state);
            std::thread::spawn(move || connection.serve(head, body));
        }
    });
    address
}

struct Http2Connection {
    stream: TcpStream,
    state: Http2,
    begun: Instant,
    /// Received bytes of incomplete frames.
    input: Vec<u8>,
}

impl Http2Connection {
    fn new(stream: TcpStream, state: Http2) -> Self {
        Self { stream, state, begun: Instant::now(), input: Vec::new() }
    }

    fn serve(mut self, head: &[u8], body: &[u8]) {
        let (mut open, mut request) = (Vec::new(), Vec::new());
        while self.exchange_bytes() {
            open.extend(std::iter::from_fn(|| self.state.next_opened()));
            open.retain(|&stream| {
                if !self.read_message(stream, &mut request) {
                    return true;
                }
                self.state.send_head(stream, head, false).unwrap();
                assert_eq!(self.state.send_data(stream, body, &[], true).unwrap(), body.len());
                self.state.finish(stream, ErrorCode::NoError);
                false
            });
            request.clear();
        }
    }

    /// Appends the bytes of a message that have arrived; returns whether it is complete.
    fn read_message(&mut self, stream: u32, message: &mut Vec<u8>) -> bool {
        let mut room = [0; 8192];
        loop {
            match self.state.read(stream, &mut room).unwrap() {
                BodyReadResult::Bytes(count) => message.extend_from_slice(&room[..count]),
                BodyReadResult::Nothing => return false,
                BodyReadResult::End => return true,
            }
        }
    }

    /// Writes all pending frames and reads some; returns whether the connection is still open.
    fn exchange_bytes(&mut self) -> bool {
        let output = self.state.output();
        let count = output.len();
        self.stream.write_all(output).unwrap();
        self.state.written(count);
        let mut room = [0; 8192];
        let count = self.stream.read(&mut room).unwrap();
        self.input.extend_from_slice(&room[..count]);
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap();
        let used = self.state.receive(&self.input, WorkerTime::from_millis(millis)).unwrap();
        self.input.drain(..used);
        count > 0
    }
}
