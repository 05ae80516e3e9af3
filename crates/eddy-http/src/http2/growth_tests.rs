//! Windows that grow, over a simulated path.

use std::collections::{BTreeMap, VecDeque};

use eddy_ids::{Millis, WorkerTime};

use super::frame::{self, FRAME_HEAD_BYTES, FrameHead};
use super::test_frames::{OPEN, PREFACE, block, frame, until_fault};
use super::{Abuse, BodyReadResult, ErrorCode, Http2, Http2Fault, Http2Limits};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x.example\r\n\r\n";
const WINDOW: u32 = 64 * 1024;
const WINDOW_MAX: u32 = 16 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 100 * WINDOW;

/// A client, and a server without end of data behind a path of limited rate.
struct SimulatedPath {
    client: Http2,
    now: WorkerTime,
    delay: Millis,
    /// Bytes that the path carries in a millisecond.
    rate: usize,
    /// Bytes that it can still carry now.
    room: usize,
    /// Frames under way to the client, and bytes to the server, with their arrivals.
    to_client: VecDeque<(WorkerTime, Vec<u8>)>,
    to_server: VecDeque<(WorkerTime, Vec<u8>)>,
    /// Frames that wait for the path.
    queue: VecDeque<Vec<u8>>,
    /// Credit of the connection, and of each stream.
    credit: i64,
    streams: BTreeMap<u32, i64>,
    /// Bytes of a body that the server sends before it waits for credit.
    body_bytes: i64,
    received: BTreeMap<u32, usize>,
    pings: usize,
}

impl SimulatedPath {
    fn new(limits: Http2Limits, delay_ms: u64, rate: usize) -> Self {
        let mut client = Http2::client("http", limits, WorkerTime::ZERO);
        client.written(PREFACE.len());
        client.receive(&frame(frame::SETTINGS, 0, 0, &[]), WorkerTime::ZERO).unwrap();
        Self {
            client,
            now: WorkerTime::ZERO,
            delay: Millis::new(delay_ms),
            rate,
            room: 0,
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            queue: VecDeque::new(),
            credit: 65_535,
            streams: BTreeMap::new(),
            body_bytes: WINDOW.into(),
            received: BTreeMap::new(),
            pings: 0,
        }
    }

    fn ask(&mut self) -> u32 {
        self.client.open(GET, true).unwrap().stream
    }

    /// One millisecond, in which the client reads up to `read_max` bytes of each stream.
    fn step(&mut self, read_max: usize) {
        self.now += Millis::new(1);
        let out = self.client.output().to_vec();
        self.client.written(out.len());
        self.to_server.push_back((self.now + self.delay, out));
        while let Some((_, bytes)) = self.to_server.pop_front_if(|(at, _)| *at <= self.now) {
            self.serve(&bytes);
        }
        for (id, credit) in &mut self.streams {
            while *credit > 0 && self.credit > 0 && self.queue.len() < 10_000 {
                let count = (*credit).min(self.credit).min(16_384);
                *credit -= count;
                self.credit -= count;
                self.queue.push_back(frame(
                    frame::DATA,
                    0,
                    *id,
                    &vec![b'x'; usize::try_from(count).unwrap()],
                ));
            }
        }
        // What is left of a millisecond counts in the next, unless the path is idle.
        self.room = if self.queue.is_empty() { 0 } else { self.room + self.rate };
        while let Some(bytes) = self.queue.pop_front_if(|bytes| bytes.len() <= self.room) {
            self.room -= bytes.len();
            self.to_client.push_back((self.now + self.delay, bytes));
        }
        while let Some((_, bytes)) = self.to_client.pop_front_if(|(at, _)| *at <= self.now) {
            assert_eq!(self.client.receive(&bytes, self.now).unwrap(), bytes.len());
        }
        let mut room = vec![0; read_max];
        for id in self.streams.keys() {
            if let Ok(BodyReadResult::Bytes(count)) = self.client.read(*id, &mut room) {
                *self.received.entry(*id).or_default() += count;
            }
        }
    }

    /// The server takes what the client has sent.
    fn serve(&mut self, mut bytes: &[u8]) {
        while let Some(head) = FrameHead::parse(bytes) {
            let payload = &bytes[FRAME_HEAD_BYTES..FRAME_HEAD_BYTES + head.length];
            bytes = &bytes[FRAME_HEAD_BYTES + head.length..];
            let number = || i64::from(u32::from_be_bytes(payload[..4].try_into().unwrap()));
            match head.kind {
                frame::HEADERS => {
                    self.queue.push_back(frame(
                        frame::HEADERS,
                        OPEN,
                        head.stream,
                        &block(&[(":status", "200")]),
                    ));
                    self.streams.insert(head.stream, self.body_bytes);
                }
                frame::WINDOW_UPDATE if head.stream == 0 => self.credit += number(),
                frame::WINDOW_UPDATE => {
                    if let Some(credit) = self.streams.get_mut(&head.stream) {
                        *credit += number();
                    }
                }
                frame::PING => {
                    self.pings += 1;
                    self.queue.push_back(frame(frame::PING, frame::FLAG_ACK, 0, payload));
                }
                frame::RST_STREAM => drop(self.streams.remove(&head.stream)),
                _ => {}
            }
        }
    }

    fn run(&mut self, ms: u64, read_max: usize) {
        (0..ms).for_each(|_| self.step(read_max));
    }

    /// The part of the path's rate that one stream gets within so many milliseconds.
    fn share(&mut self, id: u32, ms: u64) -> f64 {
        let before = self.received.get(&id).copied().unwrap_or_default();
        self.run(ms, 1 << 18);
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let share = (self.received[&id] - before) as f64 / (self.rate as f64 * ms as f64);
        share
    }

    fn window(&self, id: u32) -> u32 {
        self.client.streams[&id].window
    }
}

fn limits() -> Http2Limits {
    Http2Limits {
        stream_window: WINDOW,
        stream_window_max: WINDOW_MAX,
        connection_window: CONNECTION_WINDOW,
        growth_max: 2 * WINDOW_MAX,
        ..Http2Limits::default()
    }
}

#[test]
fn the_window_grows_to_fill_a_high_latency_path() {
    // 100 Mbit/s with a round trip of 80 ms: 1 MB is under way.
    let mut path = SimulatedPath::new(limits(), 40, 12_500);
    let id = path.ask();
    path.run(1_500, 1 << 18);
    let share = path.share(id, 1_000);
    assert!(share > 0.95, "{share}, window {}", path.window(id));
    assert!(path.window(id) <= WINDOW_MAX);
    // So is it by the next stream of the connection.
    path.client.finish(id, ErrorCode::Cancel);
    path.streams.clear();
    let next = path.ask();
    path.run(1_500, 1 << 18);
    let share = path.share(next, 1_000);
    assert!(share > 0.95, "{share}, window {}", path.window(next));
    let mut fixed = SimulatedPath::new(Http2Limits { stream_window_max: WINDOW, ..limits() }, 40, 12_500);
    let id = fixed.ask();
    fixed.run(1_500, 1 << 18);
    assert!(fixed.share(id, 1_000) < 0.1);
    assert_eq!((fixed.window(id), fixed.pings), (WINDOW, 0));
}

#[test]
fn a_window_grows_no_further_than_its_bandwidth_delay_product() {
    // 10 Mbit/s with a round trip of 40 ms: 50 KB are under way.
    let mut path = SimulatedPath::new(limits(), 20, 1_250);
    let id = path.ask();
    path.run(10_000, 1 << 18);
    assert!(path.window(id) <= 4 * WINDOW, "{}", path.window(id));
    assert!(path.share(id, 1_000) > 0.95);
}

#[test]
fn a_slow_reader_gets_no_window_growth() {
    let mut path = SimulatedPath::new(limits(), 40, 12_500);
    let id = path.ask();
    path.run(3_000, 100);
    assert_eq!(path.window(id), WINDOW);
}

#[test]
fn windows_share_a_growth_limit_and_return_their_share() {
    let growth_max = 512 * 1024;
    let mut path = SimulatedPath::new(Http2Limits { growth_max, ..limits() }, 40, 12_500);
    let ids: Vec<u32> = (0..4).map(|_| path.ask()).collect();
    path.run(3_000, 1 << 18);
    let grown: u32 = ids.iter().map(|id| path.window(*id) - WINDOW).sum();
    assert_eq!((grown, path.client.growth.grown), (growth_max, growth_max));
    for id in &ids {
        path.client.finish(*id, ErrorCode::Cancel);
    }
    assert_eq!(path.client.growth.grown, 0);
    // Another stream fetches so much that all credit has gone round.
    let id = path.ask();
    path.run(3_000, 1 << 18);
    path.client.finish(id, ErrorCode::Cancel);
    path.streams.clear();
    path.run(200, 1);
    let credit = path.client.recv_window + path.client.unreleased;
    assert_eq!(credit, i64::from(CONNECTION_WINDOW), "no credit is lost and none is left over");
}

#[test]
fn small_bodies_are_not_measured() {
    let mut path = SimulatedPath::new(limits(), 1, 1_000_000);
    path.body_bytes = 16 * 1024 - 1;
    for _ in 0..50 {
        let id = path.client.open(GET, true).unwrap().stream;
        path.run(5, 1 << 20);
        assert!(path.received[&id] >= 16 * 1024 - 1);
        path.streams.clear();
        path.client.finish(id, ErrorCode::Cancel);
    }
    assert_eq!(path.pings, 0);
}

#[test]
fn only_the_ping_acknowledgement_of_the_measurement_is_free() {
    let accepted = |payload: &[u8]| {
        let mut path = SimulatedPath::new(limits(), 40, 12_500);
        path.ask();
        while !path.client.growth.is_measuring() {
            path.step(1 << 18);
        }
        let acknowledgement = frame(frame::PING, frame::FLAG_ACK, 0, payload);
        until_fault(|_| path.client.receive(&acknowledgement, path.now))
    };
    let (count, fault) = accepted(b"eddy.bye");
    assert_eq!(fault, Http2Fault::Abuse(Abuse::Pings));
    assert_eq!(accepted(b"eddy.bdp"), (count + 1, fault), "the first one ends the round");
}
