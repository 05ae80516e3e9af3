//! The scenarios: their requests and the configuration of the targets.

use anyhow::{Context, Result};

use crate::load::ScenarioRequest;
use crate::peers::Setup;
use crate::transport::{RequestProtocol, Shake, TransportScenario};

/// A scenario to be measured.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name in tables and in `SCENARIOS`.
    pub name: &'static str,
    /// One-line description.
    pub title: &'static str,
    /// Kind of measurement.
    pub work: Work,
}

/// Kind of measurement of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Load in rounds, with all targets running.
    Traffic {
        /// Configuration of the targets.
        setup: Setup,
        /// The request sent.
        request: ScenarioRequest,
    },
    /// Transports other than HTTP/1.1 requests, in rounds, with all targets running.
    Transport(TransportScenario),
    /// Many connections that are all busy.
    Crowd(Crowd),
    /// Memory per connection with many idle ones.
    Idle(ClientHttpVersion),
    /// Time from the start of the program to its first response.
    Start,
    /// Time from a configuration change to its taking effect everywhere.
    Reload,
}

/// Connections that each send their next request after the response to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// Number of connections.
    pub connections: usize,
    /// Number of other programs that take all the CPU time they can get.
    pub competing_programs: usize,
}

/// HTTP version of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientHttpVersion {
    /// HTTP/1.1.
    Http1,
    /// Cleartext HTTP/2.
    Http2,
}

impl Scenario {
    /// Returns the name and the crowd of a crowd scenario.
    pub fn crowd(&self) -> Option<(&'static str, Crowd)> {
        if let Work::Crowd(crowd) = self.work { Some((self.name, crowd)) } else { None }
    }

    /// Returns the name and the transport of a transport scenario.
    pub fn transport(&self) -> Option<(&'static str, TransportScenario)> {
        if let Work::Transport(transport) = self.work { Some((self.name, transport)) } else { None }
    }

    /// Whether targets are configured as TCP proxies and with HTTP/2.
    pub fn has_transports(&self) -> bool {
        matches!(self.work, Work::Transport(_) | Work::Idle(ClientHttpVersion::Http2))
    }
}

/// Returns all scenarios that are measured by default, in the order of tables.
pub fn all() -> Vec<Scenario> {
    let plain = Setup::default();
    let get = |bytes| ScenarioRequest::Get { prefix: String::new(), bytes };
    let traffic =
        |name, title, setup, request| Scenario { name, title, work: Work::Traffic { setup, request } };
    let transport = |name, title, transport| Scenario { name, title, work: Work::Transport(transport) };
    let requests =
        |protocol, connections, streams| TransportScenario::Requests { protocol, connections, streams };
    let (http2, http2_tls) = (RequestProtocol::Http2, RequestProtocol::Http2OverTls);
    let idle = |name, title, version| Scenario { name, title, work: Work::Idle(version) };
    let routes = |count: usize| Setup { routes: count, ..plain };
    let last_of =
        |count: usize| ScenarioRequest::Get { prefix: format!("/route-{}", count - 1), bytes: SMALL_BYTES };
    let transcoding = Setup { is_transcoding: true, ..plain };
    let ten = Setup { has_metrics: true, ..routes(10) };
    vec![
        traffic("get", "GET, 128 bytes, keep-alive", plain, get(SMALL_BYTES)),
        traffic("get-10k", "GET, 10 KiB", plain, get(10 << 10)),
        traffic("get-1m", "GET, 1 MiB", plain, get(1 << 20)),
        traffic("post-64k", "POST of 64 KiB", plain, ScenarioRequest::Post { bytes: 64 << 10 }),
        traffic(
            "churn",
            "one connection per request",
            plain,
            ScenarioRequest::GetOnce { bytes: SMALL_BYTES },
        ),
        traffic("metrics", "GET, ten routes, metrics enabled and scraped", ten, last_of(10)),
        traffic("routes-1", "GET, one route", routes(1), last_of(1)),
        traffic("routes-100", "GET, the last of 100 routes", routes(100), last_of(100)),
        traffic("routes-10000", "GET, the last of 10,000 routes", routes(10_000), last_of(10_000)),
        traffic("log", "GET, access log written", Setup { has_log: true, ..plain }, get(SMALL_BYTES)),
        transport("h2-1", "GET over HTTP/2, one stream per connection", requests(http2, 64, 1)),
        transport("h2-10", "GET over HTTP/2, 10 streams per connection", requests(http2, 16, 10)),
        transport("h2-100", "GET over HTTP/2, 100 streams per connection", requests(http2, 8, 100)),
        transport(
            "h2s-10",
            "GET over HTTP/2 and TLS, 10 streams per connection",
            requests(http2_tls, 16, 10),
        ),
        transport(
            "get-tls",
            "GET over HTTP/1.1 and TLS, keep-alive",
            requests(RequestProtocol::Http1OverTls, 64, 1),
        ),
        transport("grpc-unary", "gRPC calls over HTTP/2 on both sides", TransportScenario::Call),
        transport("handshake", "TLS 1.3 handshake, then close", TransportScenario::Handshake(Shake::Full)),
        transport(
            "handshake-resumed",
            "TLS 1.3 handshake, resumed",
            TransportScenario::Handshake(Shake::Resumed),
        ),
        transport(
            "handshake-pq",
            "TLS 1.3 handshake, post-quantum",
            TransportScenario::Handshake(Shake::PostQuantum),
        ),
        transport("relay-1g", "TCP proxy, 1 GiB", TransportScenario::Bulk),
        transport("relay-100b", "TCP proxy, round trips of 100 bytes", TransportScenario::Messages),
        transport("websocket", "WebSocket, round trips of 100 bytes", TransportScenario::WebSocket),
        traffic("transcode", "JSON transcoded to gRPC", transcoding, ScenarioRequest::Book),
        idle("idle", "memory per idle connection", ClientHttpVersion::Http1),
        idle("idle-h2", "memory per idle HTTP/2 connection", ClientHttpVersion::Http2),
        Scenario { name: "start", title: "start to first response", work: Work::Start },
        Scenario { name: "reload", title: "reload with 10,000 routes", work: Work::Reload },
    ]
}

/// Returns route tables of three sizes, each with the first route, the last, and a path without a route. They are
/// measured only when named.
fn tables() -> Vec<Scenario> {
    let hit = |count: usize, index: usize, name, title| {
        let request = ScenarioRequest::Get { prefix: format!("/route-{index}"), bytes: SMALL_BYTES };
        Scenario {
            name,
            title,
            work: Work::Traffic { setup: Setup { routes: count, ..Setup::default() }, request },
        }
    };
    let miss = |count: usize, name, title| {
        let setup = Setup { routes: count, ..Setup::default() };
        Scenario { name, title, work: Work::Traffic { setup, request: ScenarioRequest::Miss } }
    };
    vec![
        hit(10, 0, "table-10-first", "GET, the first of 10 routes"),
        hit(10, 9, "table-10-last", "GET, the last of 10 routes"),
        miss(10, "table-10-miss", "GET, none of 10 routes"),
        hit(1_000, 0, "table-1000-first", "GET, the first of 1,000 routes"),
        hit(1_000, 999, "table-1000-last", "GET, the last of 1,000 routes"),
        miss(1_000, "table-1000-miss", "GET, none of 1,000 routes"),
        hit(10_000, 0, "table-10000-first", "GET, the first of 10,000 routes"),
        hit(10_000, 9_999, "table-10000-last", "GET, the last of 10,000 routes"),
        miss(10_000, "table-10000-miss", "GET, none of 10,000 routes"),
    ]
}

/// Returns scenarios of many busy connections, on an idle machine and beside other programs. They are measured only
/// when named.
fn crowds() -> Vec<Scenario> {
    let crowd = |name, title, connections, competing_programs| Scenario {
        name,
        title,
        work: Work::Crowd(Crowd { connections, competing_programs }),
    };
    vec![
        crowd("crowd-200", "200 busy connections", 200, 0),
        crowd("crowd-1000", "1,000 busy connections", 1_000, 0),
        crowd("crowd-5000", "5,000 busy connections", 5_000, 0),
        crowd("crowd-10000", "10,000 busy connections", 10_000, 0),
        crowd("crowd-200-busy", "200 busy connections, eight busy loops on the machine", 200, 8),
        crowd("crowd-1000-busy", "1,000 busy connections, eight busy loops on the machine", 1_000, 8),
        crowd("crowd-5000-busy", "5,000 busy connections, eight busy loops on the machine", 5_000, 8),
        crowd("crowd-10000-busy", "10,000 busy connections, eight busy loops on the machine", 10_000, 8),
    ]
}

/// Returns the scenarios of these names, in the order of tables; all except [`tables`] and [`crowds`] if `names` is
/// empty.
///
/// # Errors
/// An unknown name.
pub fn named(names: &[String]) -> Result<Vec<Scenario>> {
    let all: Vec<Scenario> =
        if names.is_empty() { all() } else { all().into_iter().chain(tables()).chain(crowds()).collect() };
    for name in names {
        all.iter().find(|scenario| scenario.name == name).with_context(|| {
            let known: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
            format!("unknown scenario `{name}`; known scenarios: {}", known.join(", "))
        })?;
    }
    let is_wanted = |scenario: &Scenario| names.is_empty() || names.iter().any(|name| name == scenario.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Whether the scenario of that name is reported in the table of transports rather than in that of requests.
pub fn is_transport(name: &str) -> bool {
    let is_it = |scenario: &Scenario| match &scenario.work {
        Work::Transport(_) | Work::Idle(ClientHttpVersion::Http2) => true,
        Work::Traffic { setup, .. } => setup.is_transcoding,
        Work::Idle(ClientHttpVersion::Http1) | Work::Crowd(_) | Work::Start | Work::Reload => false,
    };
    all().iter().any(|scenario| scenario.name == name && is_it(scenario))
}

/// Returns the setup of `reload` with its number of routes.
pub fn reload_setup() -> Setup {
    Setup { routes: 10_000, has_generation: true, ..Setup::default() }
}

const SMALL_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_scenarios_in_the_order_of_tables() {
        let names: Vec<&str> =
            named(&["log".to_owned(), "get".to_owned()]).unwrap().iter().map(|one| one.name).collect();
        assert_eq!(names, ["get", "log"]);
        assert_eq!(named(&[]).unwrap().len(), all().len());
    }

    #[test]
    fn unknown_names_are_refused() {
        let failure = named(&["got".to_owned()]).unwrap_err().to_string();
        assert!(failure.starts_with("unknown scenario `got`; known scenarios: get, "), "{failure}");
    }

    #[test]
    fn route_table_scenarios_run_only_when_named() {
        assert!(named(&[]).unwrap().iter().all(|scenario| !scenario.name.starts_with("table-")));
        let chosen = named(&["table-1000-miss".to_owned(), "table-10-first".to_owned()]).unwrap();
        let [first, miss] = chosen.as_slice() else { panic!("{chosen:?}") };
        let traffic = |scenario: &Scenario| match &scenario.work {
            Work::Traffic { setup, request } => (setup.routes, request.path()),
            other @ (Work::Idle(_) | Work::Start | Work::Reload | Work::Transport(_) | Work::Crowd(_)) => {
                panic!("{other:?}")
            }
        };
        assert_eq!(traffic(first), (10, "/route-0/128".to_owned()));
        assert_eq!(traffic(miss), (1000, "/routeless/128".to_owned()));
        assert_eq!(tables().len(), 9);
    }

    #[test]
    fn idle_connection_scenarios_run_only_when_named() {
        assert!(all().iter().all(|scenario| scenario.crowd().is_none()));
        let chosen = named(&["crowd-1000-busy".to_owned()]).unwrap();
        let expected = ("crowd-1000-busy", Crowd { connections: 1_000, competing_programs: 8 });
        assert_eq!(chosen.iter().filter_map(Scenario::crowd).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn request_and_transport_tables_are_distinguished() {
        let all = all();
        let (transports, requests): (Vec<&Scenario>, Vec<&Scenario>) =
            all.iter().partition(|scenario| is_transport(scenario.name));
        assert_eq!(requests.iter().filter(|one| matches!(one.work, Work::Transport(_))).count(), 0);
        for name in ["h2-100", "transcode", "idle-h2"] {
            assert!(transports.iter().any(|one| one.name == name), "{name}");
        }
        assert!(requests.iter().any(|one| one.name == "idle"));
    }

    #[test]
    fn requests_match_the_last_route() {
        let scenarios = all();
        let last = scenarios.iter().find(|scenario| scenario.name == "routes-10000").unwrap();
        let Work::Traffic { setup, request } = &last.work else { panic!("not traffic") };
        assert_eq!(setup.routes, 10_000);
        assert_eq!(request.path(), "/route-9999/128");
    }
}
