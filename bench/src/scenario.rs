//! The scenarios: what is asked of every target, and how it is configured for it.

use anyhow::{Context, Result};

use crate::load::Request;
use crate::peers::Setup;

/// One thing that is measured.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name in tables and in `SCENARIOS`.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// How it is measured.
    pub work: Work,
}

/// How a scenario is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Load in rounds, with all targets kept up.
    Traffic {
        /// How the targets are configured.
        setup: Setup,
        /// What is sent.
        request: Request,
    },
    /// What is passed on, in rounds, with all targets kept up.
    Streams(Passage),
    /// Memory a connection at many idle ones.
    Idle,
    /// Time from the start of the program to its first answer.
    Start,
    /// Time from a changed configuration to its taking effect everywhere.
    Reload,
}

/// What is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// 1 GiB on a connection.
    Bulk,
    /// Messages of 100 bytes there and back, one under way on each connection.
    Messages,
    /// The same as messages of WebSockets.
    WebSocket,
}

impl Scenario {
    /// What is passed on and under which name, where that is what it is about.
    pub fn passage(&self) -> Option<(&'static str, Passage)> {
        if let Work::Streams(passage) = self.work { Some((self.name, passage)) } else { None }
    }
}

/// All scenarios that are measured where none are named, in the order of tables.
pub fn all() -> Vec<Scenario> {
    let plain = Setup::default();
    let get = |bytes| Request::Get { prefix: String::new(), bytes };
    let traffic =
        |name, title, setup, request| Scenario { name, title, work: Work::Traffic { setup, request } };
    let streams = |name, title, passage| Scenario { name, title, work: Work::Streams(passage) };
    let routes = |count: usize| Setup { routes: count, ..plain };
    let last_of = |count: usize| Request::Get { prefix: format!("/route-{}", count - 1), bytes: SMALL_BYTES };
    let transcoding = Setup { is_transcoding: true, ..plain };
    let ten = Setup { has_metrics: true, ..routes(10) };
    vec![
        traffic("get", "GET, 128 bytes, keep-alive", plain, get(SMALL_BYTES)),
        traffic("get-10k", "GET, 10 KiB", plain, get(10 << 10)),
        traffic("get-1m", "GET, 1 MiB", plain, get(1 << 20)),
        traffic("post-64k", "POST of 64 KiB", plain, Request::Post { bytes: 64 << 10 }),
        traffic("churn", "a connection a request", plain, Request::GetOnce { bytes: SMALL_BYTES }),
        traffic("metrics", "GET, ten routes, metrics kept and scraped", ten, last_of(10)),
        traffic("routes-1", "GET, one route", routes(1), last_of(1)),
        traffic("routes-100", "GET, the last of 100 routes", routes(100), last_of(100)),
        traffic("routes-10000", "GET, the last of 10,000 routes", routes(10_000), last_of(10_000)),
        traffic("log", "GET, access log written", Setup { has_log: true, ..plain }, get(SMALL_BYTES)),
        streams("relay-1g", "1 GiB over TCP, passed on", Passage::Bulk),
        streams("relay-100b", "100 bytes there and back over TCP, passed on", Passage::Messages),
        streams("websocket", "100 bytes there and back by a WebSocket", Passage::WebSocket),
        traffic("transcode", "JSON for a service that speaks gRPC", transcoding, Request::Book),
        Scenario { name: "idle", title: "memory a connection, idle connections", work: Work::Idle },
        Scenario { name: "start", title: "start to first answer", work: Work::Start },
        Scenario { name: "reload", title: "reload with 10,000 routes", work: Work::Reload },
    ]
}

/// Tables of three sizes: the first route, the last, and a path that none is for. They are measured where they are named.
fn tables() -> Vec<Scenario> {
    let hit = |count: usize, index: usize, name, title| {
        let request = Request::Get { prefix: format!("/route-{index}"), bytes: SMALL_BYTES };
        Scenario {
            name,
            title,
            work: Work::Traffic { setup: Setup { routes: count, ..Setup::default() }, request },
        }
    };
    let miss = |count: usize, name, title| {
        let setup = Setup { routes: count, ..Setup::default() };
        Scenario { name, title, work: Work::Traffic { setup, request: Request::Miss } }
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

/// The scenarios of these names, in the order of tables; all of them but [`tables`] when there are no names.
///
/// # Errors
/// A name that is none.
pub fn named(names: &[String]) -> Result<Vec<Scenario>> {
    let all: Vec<Scenario> =
        if names.is_empty() { all() } else { all().into_iter().chain(tables()).collect() };
    for name in names {
        all.iter().find(|scenario| scenario.name == name).with_context(|| {
            let known: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
            format!("unknown scenario `{name}`; there are {}", known.join(", "))
        })?;
    }
    let is_wanted = |scenario: &Scenario| names.is_empty() || names.iter().any(|name| name == scenario.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// The setup of `reload`, and how many routes it has.
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
        assert!(failure.starts_with("unknown scenario `got`; there are get, "), "{failure}");
    }

    #[test]
    fn tables_are_measured_where_they_are_named() {
        assert!(named(&[]).unwrap().iter().all(|scenario| !scenario.name.starts_with("table-")));
        let chosen = named(&["table-1000-miss".to_owned(), "table-10-first".to_owned()]).unwrap();
        let [first, miss] = chosen.as_slice() else { panic!("{chosen:?}") };
        let traffic = |scenario: &Scenario| match &scenario.work {
            Work::Traffic { setup, request } => (setup.routes, request.path()),
            other @ (Work::Idle | Work::Start | Work::Reload | Work::Streams(_)) => panic!("{other:?}"),
        };
        assert_eq!(traffic(first), (10, "/route-0/128".to_owned()));
        assert_eq!(traffic(miss), (1000, "/routeless/128".to_owned()));
        assert_eq!(tables().len(), 9);
    }

    #[test]
    fn the_last_route_is_hit() {
        let scenarios = all();
        let last = scenarios.iter().find(|scenario| scenario.name == "routes-10000").unwrap();
        let Work::Traffic { setup, request } = &last.work else { panic!("not traffic") };
        assert_eq!(setup.routes, 10_000);
        assert_eq!(request.path(), "/route-9999/128");
    }
}
