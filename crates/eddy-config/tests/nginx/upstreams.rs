//! Compares which endpoints of an upstream are tried, and in which order, in eddy and in the real NGINX.
//!
//! No server listens at the endpoints, so each request tries all of them.

use std::net::IpAddr;

use crate::eddy::NginxTestRouter;
use crate::peer::NginxProcess;
use crate::recorded::Recorded;
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
fn keys_go_to_the_endpoints_that_nginx_takes() {
    let compared = compare(Oracle::best());
    assert_eq!(compared, UPSTREAMS.len() * KEYS);
}

#[test]
fn recorded_orders_stand_in() {
    assert_eq!(compare(Oracle::Recorded), UPSTREAMS.len() * KEYS);
}

/// Number of keys that are tried with each upstream.
const KEYS: usize = 60;

fn compare(oracle: Oracle) -> usize {
    let mut recorded = Recorded::open("nginx/recorded/upstreams.txt");
    let mut compared = 0;
    for (number, (upstream, sure)) in UPSTREAMS.iter().enumerate() {
        let mut upstream = (*upstream).to_owned();
        for port in 1..=5 {
            upstream = upstream.replace(&format!("@{port}"), &format!("server 127.0.0.1:{port} max_fails=0"));
        }
        let config = format!(
            "events {{}}\nhttp {{ upstream u {{ {upstream} }} server {{ listen unix:/eddy/site.sock; location / {{ proxy_pass http://u; }} }} }}"
        );
        let eddy = NginxTestRouter::of(&config);
        let telling = "add_header X-Asked $upstream_addr always; set_real_ip_from unix:; real_ip_header X-Client; proxy_pass";
        let nginx =
            (oracle == Oracle::Real).then(|| NginxProcess::start(&config.replace("proxy_pass", telling)));
        let mut peer = nginx.as_ref().map(NginxProcess::connect);
        for key in 0..KEYS {
            let client = IpAddr::from([10, 7, u8::try_from(key).unwrap(), 9]);
            let mut request = NginxTestRequest::new("x", &format!("/?k=key-{}", key * 7919));
            request.fields = format!("X-More: {key}\r\nX-Client: {client}\r\n");
            let name = format!("{number} {key}");
            let theirs = match &mut peer {
                Some(peer) => peer.ask(&request.text()),
                None => recorded.find(&name).unwrap_or_else(|| panic!("{name} is not recorded")).to_owned(),
            };
            recorded.note(&name, &theirs);
            let theirs: Vec<&str> = theirs.split(", ").collect();
            let ours = eddy.asked(&request.text(), client);
            assert_eq!(ours.len(), theirs.len(), "{upstream} {key}: {ours:?} {theirs:?}");
            match sure {
                Sure::First(count) => assert_eq!(ours[..*count], theirs[..*count], "{upstream} {key}"),
                Sure::Last => {
                    assert_eq!(ours.last().map(String::as_str), theirs.last().copied(), "{upstream}")
                }
            }
            compared += 1;
        }
    }
    recorded.close(oracle == Oracle::Real);
    compared
}
