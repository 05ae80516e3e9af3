//! Compares which endpoints of an upstream are tried, and in which order, in eddy and in the real NGINX.
//!
//! No server listens at the endpoints, so each request tries all of them.

use std::net::IpAddr;

use test_peers::Fnv;

use crate::eddy::NginxTestRouter;
use crate::peer::NginxProcess;
use crate::recorded::{NGINX_ANSWERS, nginx_responses};
use crate::{NginxTestRequest, Oracle};

/// The part of the order that is the same in every run.
#[derive(Clone, Copy)]
enum Sure {
    /// The first endpoints, by number.
    First(usize),
    /// The last endpoint; the others are taken in turn from a random start.
    Last,
}

/// Contents of an upstream, and the part of the order that it determines.
const UPSTREAMS: &[(&str, Sure)] = &[
    ("hash $arg_k; @1; @2; @3; @4; @5;", Sure::First(3)),
    ("hash $arg_k$http_x_more; @1 weight=3; @2; @3 weight=7; @4;", Sure::First(2)),
    ("hash $arg_k; @1; @2 down; @3; @4;", Sure::First(2)),
    ("hash $arg_k consistent; @1; @2; @3; @4; @5;", Sure::First(3)),
    ("hash $arg_k consistent; @1 weight=5; @2; @3 weight=2;", Sure::First(2)),
    ("hash $arg_k consistent; @1; @2 down; @3; @4;", Sure::First(2)),
    ("ip_hash; @1; @2; @3; @4; @5;", Sure::First(3)),
    ("ip_hash; @1 weight=2; @2 down; @3 weight=5; @4;", Sure::First(2)),
    ("@1; @2; @3 backup;", Sure::Last),
    ("least_conn; @1; @2 backup; @3;", Sure::Last),
    ("@1; @2 down; @3 backup;", Sure::Last),
];

#[test]
fn keys_select_the_same_endpoints_as_in_nginx() {
    let compared = compare(Oracle::best());
    assert_eq!(compared, UPSTREAMS.len() * KEYS);
}

#[test]
fn endpoints_are_selected_as_in_recorded_nginx_runs() {
    assert_eq!(compare(Oracle::Recorded), UPSTREAMS.len() * KEYS);
}

/// Number of keys that are tried with each upstream.
const KEYS: usize = 60;

/// Sends each key to each upstream in both, and returns the number of orders compared.
fn compare(oracle: Oracle) -> usize {
    let all: Vec<UpstreamCase> =
        UPSTREAMS.iter().map(|(upstream, sure)| UpstreamCase::new(upstream, *sure)).collect();
    let mut questions = Fnv::default();
    for case in &all {
        questions.add(case.config.as_bytes());
        case.requests.iter().for_each(|(request, _)| questions.add(request.text().as_bytes()));
    }
    let ask = || all.iter().flat_map(UpstreamCase::ask_nginx).collect();
    let theirs = nginx_responses(Some("upstreams.txt"), questions.value(), oracle, ask);
    let ours: Vec<Option<String>> = all.iter().flat_map(UpstreamCase::ask_eddy).map(Some).collect();
    let different = theirs.compare(&ours, |_, _, _| false).unwrap_or_else(|error| panic!("{error}"));
    let request = |number: usize| {
        let (upstream, _) = UPSTREAMS[number / KEYS];
        format!("{upstream} {}", all[number / KEYS].requests[number % KEYS].0.told("key"))
    };
    let told = different.iter().take(5).map(|different| different.describe(NGINX_ANSWERS, &ours, request));
    let told: String = told.collect();
    assert!(different.is_empty(), "{} of {} differ:\n{told}", different.len(), ours.len());
    ours.len()
}

/// An upstream, and the requests with all keys.
struct UpstreamCase {
    sure: Sure,
    config: String,
    requests: Vec<(NginxTestRequest, IpAddr)>,
}

impl UpstreamCase {
    fn new(upstream: &str, sure: Sure) -> Self {
        let mut upstream = upstream.to_owned();
        for port in 1..=5 {
            upstream = upstream.replace(&format!("@{port}"), &format!("server 127.0.0.1:{port} max_fails=0"));
        }
        let config = format!(
            "events {{}}\nhttp {{ upstream u {{ {upstream} }} server {{ listen unix:/eddy/site.sock; location / {{ proxy_pass http://u; }} }} }}"
        );
        let requests = (0..KEYS).map(|key| {
            let client = IpAddr::from([10, 7, u8::try_from(key).unwrap(), 9]);
            let mut request = NginxTestRequest::new("x", &format!("/?k=key-{}", key * 7919));
            request.fields = format!("X-More: {key}\r\nX-Client: {client}\r\n");
            (request, client)
        });
        Self { sure, config, requests: requests.collect() }
    }

    fn ask_eddy(&self) -> Vec<String> {
        let eddy = NginxTestRouter::of(&self.config);
        let asked = |(request, client): &(NginxTestRequest, IpAddr)| eddy.asked(&request.text(), *client);
        self.requests.iter().map(asked).map(|order| self.sure_part(&order)).collect()
    }

    fn ask_nginx(&self) -> Vec<String> {
        let telling = "add_header X-Asked $upstream_addr always; set_real_ip_from unix:; real_ip_header X-Client; proxy_pass";
        let nginx = NginxProcess::start(&self.config.replace("proxy_pass", telling));
        let mut client = nginx.connect();
        let orders = self.requests.iter().map(|(request, _)| {
            let answer = client.ask(&request.text());
            let order: Vec<String> = answer.split(", ").map(str::to_owned).collect();
            self.sure_part(&order)
        });
        orders.collect()
    }

    /// Formats how many endpoints were tried, and those whose place in the order is the same in every run.
    fn sure_part(&self, order: &[String]) -> String {
        let sure = match self.sure {
            Sure::First(count) => &order[..count.min(order.len())],
            Sure::Last => &order[order.len().saturating_sub(1)..],
        };
        format!("{} tried: {}", order.len(), sure.join(" "))
    }
}
