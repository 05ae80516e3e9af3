//! DNS server for tests, on the local machine, with configurable responses.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// Serves until dropped.
pub(super) struct DnsStub {
    pub(super) address: SocketAddr,
    shared: Arc<DnsStubState>,
    _tasks: JoinSet<()>,
}

/// Response of the server to every query.
#[derive(Clone, Debug)]
pub(super) enum StubResponse {
    /// These addresses.
    Addresses(Zone),
    /// A response with the wrong ID and the first zone, then the right one with the second.
    WrongIdFirst(Zone, Zone),
    /// A truncated response over UDP, these addresses over TCP.
    Truncated(Zone),
    /// A CNAME that points to itself.
    AliasLoop,
    /// This response code.
    Code(u8),
    /// No response.
    Silence,
    /// Bytes that are no DNS message.
    Garbage,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Zone {
    pub(super) v4: Vec<Ipv4Addr>,
    pub(super) v6: Vec<Ipv6Addr>,
    pub(super) ttl: u32,
}

pub(super) const NXDOMAIN: u8 = 3;
pub(super) const SERVFAIL: u8 = 2;

impl DnsStub {
    /// Starts a server on a free port of 127.0.0.1, UDP and TCP.
    pub(super) async fn start(saying: StubResponse) -> Self {
        let (udp, tcp) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
                break (udp, tcp);
            }
        };
        let address = udp.local_addr().unwrap();
        let shared = Arc::new(DnsStubState {
            saying: Mutex::new(saying),
            udp_questions: AtomicUsize::new(0),
            tcp_questions: AtomicUsize::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(serve_udp(udp, Arc::clone(&shared)));
        tasks.spawn(serve_tcp(tcp, Arc::clone(&shared)));
        Self { address, shared, _tasks: tasks }
    }

    pub(super) fn say(&self, saying: StubResponse) {
        *self.shared.saying.lock().unwrap() = saying;
    }

    /// Returns the number of queries over UDP and over TCP.
    pub(super) fn questions(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (load(&self.shared.udp_questions), load(&self.shared.tcp_questions))
    }
}

impl Zone {
    pub(super) fn v4(addresses: &[&str], ttl: u32) -> Self {
        Self { v4: addresses.iter().map(|address| address.parse().unwrap()).collect(), v6: Vec::new(), ttl }
    }
}

struct DnsStubState {
    saying: Mutex<StubResponse>,
    udp_questions: AtomicUsize,
    tcp_questions: AtomicUsize,
}

async fn serve_udp(socket: UdpSocket, shared: Arc<DnsStubState>) {
    let mut bytes = vec![0; 4096];
    loop {
        let Ok((len, peer)) = socket.recv_from(&mut bytes).await else { continue };
        shared.udp_questions.fetch_add(1, Ordering::Relaxed);
        let saying = shared.saying.lock().unwrap().clone();
        for answer in udp_answers(&bytes[..len], &saying) {
            let _ = socket.send_to(&answer, peer).await;
        }
    }
}

async fn serve_tcp(listener: TcpListener, shared: Arc<DnsStubState>) {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve_connection(stream, Arc::clone(&shared)));
        }
    }
}

async fn serve_connection(mut stream: TcpStream, shared: Arc<DnsStubState>) {
    while let Ok(len) = stream.read_u16().await {
        let mut query = vec![0; len.into()];
        if stream.read_exact(&mut query).await.is_err() {
            return;
        }
        shared.tcp_questions.fetch_add(1, Ordering::Relaxed);
        let saying = shared.saying.lock().unwrap().clone();
        if let StubResponse::Addresses(zone) | StubResponse::Truncated(zone) = saying {
            let answer = answer(&query, FLAGS, &zone);
            let mut framed = u16::try_from(answer.len()).unwrap().to_be_bytes().to_vec();
            framed.extend(answer);
            let _ = stream.write_all(&framed).await;
        }
    }
}

fn udp_answers(query: &[u8], saying: &StubResponse) -> Vec<Vec<u8>> {
    match saying {
        StubResponse::Addresses(zone) => vec![answer(query, FLAGS, zone)],
        StubResponse::WrongIdFirst(wrong, right) => {
            let mut forged = answer(query, FLAGS, wrong);
            forged[0] ^= 0x55;
            vec![forged, answer(query, FLAGS, right)]
        }
        StubResponse::Truncated(_) => vec![answer(query, FLAGS | TRUNCATED, &Zone::default())],
        StubResponse::AliasLoop => vec![alias_to_itself(query)],
        StubResponse::Code(code) => vec![answer(query, FLAGS | u16::from(*code), &Zone::default())],
        StubResponse::Silence => Vec::new(),
        StubResponse::Garbage => vec![vec![0xff; 40]],
    }
}

/// Builds the response to the only question of `query`, with the records of `zone` of the requested type.
fn answer(query: &[u8], flags: u16, zone: &Zone) -> Vec<u8> {
    let question = question(query);
    let records: Vec<Vec<u8>> = match question[question.len() - 4..question.len() - 2] {
        [0, TYPE_A] => zone.v4.iter().map(|address| record(TYPE_A, zone.ttl, &address.octets())).collect(),
        [0, TYPE_AAAA] => {
            zone.v6.iter().map(|address| record(TYPE_AAAA, zone.ttl, &address.octets())).collect()
        }
        _ => Vec::new(),
    };
    message(query, flags, &records)
}

fn alias_to_itself(query: &[u8]) -> Vec<u8> {
    message(query, FLAGS, &[record(TYPE_CNAME, 60, &NAME_OF_QUESTION)])
}

fn message(query: &[u8], flags: u16, records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = query[..2].to_vec();
    bytes.extend(flags.to_be_bytes());
    for count in [1, records.len(), 0, 0] {
        bytes.extend(u16::try_from(count).unwrap().to_be_bytes());
    }
    bytes.extend(question(query));
    bytes.extend(records.concat());
    bytes
}

fn record(kind: u8, ttl: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = NAME_OF_QUESTION.to_vec();
    bytes.extend([0, kind, 0, CLASS_IN]);
    bytes.extend(ttl.to_be_bytes());
    bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}

/// Returns the question section of a query: labels up to the empty one, type and class.
fn question(query: &[u8]) -> &[u8] {
    let mut end = HEADER_LEN;
    while query[end] != 0 {
        end += 1 + usize::from(query[end]);
    }
    &query[HEADER_LEN..end + 5]
}

const HEADER_LEN: usize = 12;
/// Response to a recursive query, recursion available.
const FLAGS: u16 = 0x8180;
const TRUNCATED: u16 = 0x0200;
const TYPE_A: u8 = 1;
const TYPE_CNAME: u8 = 5;
const TYPE_AAAA: u8 = 28;
const CLASS_IN: u8 = 1;
/// Compression pointer to the name at the start of the question.
const NAME_OF_QUESTION: [u8; 2] = [0xc0, 12];
