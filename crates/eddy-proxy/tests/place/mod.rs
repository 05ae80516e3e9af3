//! A gateway in this process, with an origin and clients of plain blocking sockets.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

pub(crate) mod http2;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use eddy_config::{Action, FilterConfig, FilterKind, FilterSlots, GatewayConfig, ListenAddress};
use eddy_dialects::check;
use eddy_filter::{Filter, FilterLogLevel};
use eddy_ids::Shared;
use eddy_io::{PortSharing, SharedPage, listen_tcp};
use eddy_proxy::{FilterHost, FilterSet, Gateway, Ready, Sockets};
use eddy_spec::problem::SourceText;

/// Timeout of every wait in a test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Changes the first action of the first route table.
pub(crate) fn change_action(config: &mut GatewayConfig, change: impl FnOnce(&mut Action)) {
    let (id, _) = config.tables.nth(0).unwrap();
    config.tables.update(id, |table| change(table.actions[0].make_mut()));
}

/// The sockets of a gateway that is yet to start: connections wait in the accept queue until it accepts them.
pub(crate) struct TestListener {
    pub(crate) address: SocketAddr,
    sockets: Sockets,
}

/// Listens for a gateway, at a port that the kernel chooses.
pub(crate) fn listen() -> TestListener {
    let any_port = (Ipv4Addr::LOCALHOST, 0).into();
    let socket = listen_tcp(any_port, 1024, PortSharing::ReusePort).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    let mut sockets = Sockets::default();
    sockets.by_address.insert(ListenAddress::Tcp(address), vec![listener.into()]);
    TestListener { address, sockets }
}

/// An origin that no request of a test reaches: nothing listens at this port.
pub(crate) const NO_ORIGIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// Starts an origin that answers every request that ends with `request_end` with `answer`, without allocating.
pub(crate) fn start_origin(request_end: &'static [u8], answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 8192];
                let mut held = 0;
                while let Ok(count @ 1..) = stream.read(&mut bytes[held..]) {
                    held += count;
                    if bytes[..held].ends_with(request_end) {
                        held = 0;
                        if stream.write_all(answer).is_err() {
                            break;
                        }
                    }
                }
            });
        }
    });
    address
}

/// Starts a gateway with one worker and `rest` of a configuration, in which `ORIGIN` stands for the origin's address.
pub(crate) fn start_gateway(origin: SocketAddr, rest: &str) -> (Gateway, SocketAddr) {
    let listener = listen();
    let address = listener.address;
    (start_with(listener, config(address, origin, "", rest)), address)
}

/// Returns a checked configuration with one worker and one listener, which has `keys` besides its address and routes.
pub(crate) fn config(address: SocketAddr, origin: SocketAddr, keys: &str, rest: &str) -> GatewayConfig {
    let text = format!("workers: 1\nlisteners: [{{address: '{address}', routes: site, {keys}}}]\n{rest}")
        .replace("ORIGIN", &origin.to_string());
    check(&[SourceText::new("test.yaml", text.as_str())]).unwrap().config
}

/// Starts a gateway without filters.
pub(crate) fn start_with(listener: TestListener, config: GatewayConfig) -> Gateway {
    let host = FilterHost::new(1, 1, FilterLogLevel::Info);
    start_filtered(listener, config, &FilterSet::default(), host)
}

/// Gives a configuration and its first listener these filters.
pub(crate) fn use_filters(config: &mut GatewayConfig, filters: Vec<Filter>) -> FilterSet {
    let none = FilterSlots::default();
    let (mut draft, mut set) = (none.draft(), FilterSet::default());
    for filter in filters {
        let name: Shared<str> = (&*filter.name).into();
        let kind = FilterKind::Native { library: "test".into(), filter: name.clone() };
        let policy = filter.policy;
        let made = FilterConfig { name: name.clone(), kind, config: "null".into(), policy };
        let id = draft.define(name, made).unwrap();
        config.listeners[0].filters.push(id);
        set.filters.insert(id, Arc::new(filter));
    }
    config.filters = draft.finish();
    set
}

/// Starts a gateway with filters.
pub(crate) fn start_filtered(
    listener: TestListener,
    config: GatewayConfig,
    filters: &FilterSet,
    host: Arc<FilterHost>,
) -> Gateway {
    let (page, _fd) = SharedPage::create().unwrap();
    let ready = Ready { filters: filters.clone(), ..Ready::default() };
    Gateway::start(Arc::new(config), &ready, host, listener.sockets, Arc::new(page)).unwrap()
}

/// Opens a connection whose reads time out after [`PATIENCE`].
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends `request` and reads until the response ends with `end`.
pub(crate) fn ask(stream: &mut TcpStream, request: &[u8], end: &[u8]) {
    stream.write_all(request).unwrap();
    let mut bytes = [0; 8192];
    let mut held = 0;
    while !bytes[..held].ends_with(end) {
        let count = stream.read(&mut bytes[held..]).unwrap();
        assert!(count > 0, "the gateway closed: {}", String::from_utf8_lossy(&bytes[..held]));
        held += count;
    }
}

/// Behaviour of an origin on one of its connections.
pub(crate) type ConnectionScript = Box<dyn FnOnce(TcpStream) + Send>;

/// Starts an origin that serves one connection for each of `scripts`, one after the other, and a gateway in front of
/// it.
pub(crate) fn start_scripted(scripts: Vec<ConnectionScript>) -> (Gateway, SocketAddr, JoinHandle<()>) {
    start_scripted_with("", scripts)
}

/// As [`start_scripted`], with `keys` of the cluster besides its endpoints.
pub(crate) fn start_scripted_with(
    keys: &str,
    scripts: Vec<ConnectionScript>,
) -> (Gateway, SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        for script in scripts {
            let (link, _) = listener.accept().unwrap();
            link.set_read_timeout(Some(PATIENCE)).unwrap();
            script(link);
        }
    });
    let rest = format!(
        "limits: {{queue_delay: 0s}}\nroutes: {{site: [{{match: {{path: {{exact: /here}}}}, respond: {{status: 200, body: here}}}}, \
         {{cluster: c}}]}}\nclusters: {{c: {{endpoints: ['ORIGIN'], {keys}}}}}"
    );
    let (gateway, address) = start_gateway(origin, &rest);
    (gateway, address, serving)
}

/// Reads until the received bytes end with `end`.
#[track_caller]
pub(crate) fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut held = Vec::new();
    while !held.ends_with(end.as_bytes()) {
        let mut byte = [0];
        let count = stream.read(&mut byte).unwrap();
        assert!(count > 0, "the end came before {end:?}: {}", String::from_utf8_lossy(&held));
        held.push(byte[0]);
    }
    String::from_utf8(held).unwrap()
}

/// Sends text.
pub(crate) fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}
