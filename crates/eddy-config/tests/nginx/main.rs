//! Compares NGINX configurations in eddy with the real NGINX: the same requests must get the same responses.
//!
//! NGINX's responses are kept in `recorded/` and are used where NGINX is not installed. With `EDDY_REQUIRE_PEERS=1` its
//! absence is a failure; `UPDATE=1` records new responses.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod documented;
mod eddy;
mod examples;
mod generate;
mod guarded;
mod mutated;
mod peer;
mod recorded;
mod site;
mod typical;
mod upstreams;
mod variables;

use eddy::NginxTestRouter;
use peer::NginxProcess;
use recorded::Recorded;
use test_peers::{NGINX, present_or_recorded};

/// A configuration, and requests to its first address.
struct NginxCase {
    name: String,
    config: String,
    requests: Vec<NginxTestRequest>,
}

/// A request, as bytes.
#[derive(Clone)]
struct NginxTestRequest {
    host: String,
    target: String,
    fields: String,
}

impl NginxTestRequest {
    fn new(host: &str, target: &str) -> Self {
        Self { host: host.to_owned(), target: target.to_owned(), fields: String::new() }
    }

    /// Parses a request from a line: host, target, and headers such as `Name=value`.
    fn asked(line: &str) -> Self {
        let mut words = line.split(' ');
        let (host, target) = (words.next().unwrap(), words.next().unwrap());
        let mut request = Self::new(host.trim_matches('-'), target);
        for field in words {
            let (name, value) = field.split_once('=').unwrap();
            request.fields.push_str(&format!("{name}: {value}\r\n"));
        }
        request
    }

    fn text(&self) -> String {
        format!("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", self.target, self.host, self.fields)
    }
}

/// Source of NGINX's responses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Oracle {
    /// The real NGINX.
    Real,
    /// Recorded responses.
    Recorded,
}

impl Oracle {
    /// Returns the real NGINX if it is installed, else the recorded responses.
    fn best() -> Self {
        if present_or_recorded(&NGINX).unwrap() { Self::Real } else { Self::Recorded }
    }
}

/// Sends the cases to both and reports the differences; returns the number of pairs compared.
fn compare(file: &str, cases: &[NginxCase]) -> usize {
    compare_with(file, cases, Oracle::best())
}

fn compare_with(file: &str, cases: &[NginxCase], oracle: Oracle) -> usize {
    let mut recorded = Recorded::open(file);
    let mut different = Vec::new();
    let mut compared = 0;
    let nginx = oracle == Oracle::Real;
    for case in cases {
        let eddy = NginxTestRouter::of(&case.config);
        let peer = nginx.then(|| NginxProcess::start(&case.config));
        let mut client = peer.as_ref().map(NginxProcess::connect);
        for request in &case.requests {
            let fields = request.fields.replace("\r\n", ";");
            let key = format!("{} {} {} {fields}", case.name, request.host, request.target);
            let theirs = match &mut client {
                Some(client) => {
                    let answer = client.ask(&request.text());
                    recorded.note(&key, &answer);
                    answer
                }
                None => match recorded.find(&key) {
                    Some(answer) => answer.to_owned(),
                    None => continue,
                },
            };
            let Some(ours) = eddy.ask(&request.text()) else {
                // eddy's parser refuses more than NGINX's, as the guide describes.
                continue;
            };
            compared += 1;
            if ours != theirs {
                let name = format!("server_name {};", request.host);
                let table = case.config.split("server {").find(|table| table.contains(&name));
                different.push(format!(
                    "{key}\n  eddy  {ours}\n  nginx {theirs}\n{}",
                    table.unwrap_or(&case.config)
                ));
            }
        }
    }
    recorded.close(nginx);
    let shown: Vec<&str> = different.iter().take(5).map(String::as_str).collect();
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), shown.join("\n"));
    compared
}

#[test]
fn examples_answer_as_nginx_does() {
    let compared = compare("nginx/recorded/examples.txt", &examples::cases());
    assert!(compared >= 100, "{compared} requests");
}

#[test]
fn recorded_answers_stand_in_where_nginx_is_not_installed() {
    let cases = examples::cases();
    let requests: usize = cases.iter().map(|case| case.requests.len()).sum();
    assert_eq!(
        compare_with("nginx/recorded/examples.txt", &cases, Oracle::Recorded),
        requests,
        "none is missing"
    );
    let (cases, _) = generate::cases(200);
    assert!(compare_with("nginx/recorded/generated.txt", &cases, Oracle::Recorded) > 2000);
    let answers = Recorded::open("nginx/recorded/examples.txt");
    let key = |case: &NginxCase, request: &NginxTestRequest| {
        format!("{} {} {} ", case.name, request.host, request.target)
    };
    let first = &examples::cases()[0];
    assert_eq!(answers.find(&key(first, &first.requests[0])), Some("200 one"));
    assert_eq!(answers.find("no such request"), None);
}

#[test]
fn typical_constructs_answer_as_nginx_does() {
    let cases = typical::cases();
    let requests: usize = cases.iter().map(|case| case.requests.len()).sum();
    assert_eq!(compare("nginx/recorded/typical.txt", &cases), requests);
    assert_eq!(
        compare_with("nginx/recorded/typical.txt", &cases, Oracle::Recorded),
        requests,
        "none is missing"
    );
}

#[test]
fn examples_answer_as_they_say() {
    for (config, request, expected) in examples::all() {
        let answer = NginxTestRouter::of(&config).ask(&request.text());
        assert_eq!(
            answer.as_deref(),
            Some(expected.as_str()),
            "{} {}\n{config}",
            request.host,
            request.target
        );
    }
}

#[test]
fn generated_locations_answer_as_nginx_does() {
    let (cases, coverage) = generate::cases(200);
    let compared = compare("nginx/recorded/generated.txt", &cases);
    println!("{compared} pairs; {coverage}");
    assert!(compared > 2000, "{compared} pairs");
}

/// Long version: `EDDY_NGINX_PAIRS` pairs, from other seeds, with statistics on how much of the possible behaviour they
/// cover.
#[test]
#[ignore = "takes minutes, and needs the real NGINX"]
fn many_generated_locations_answer_as_nginx_does() {
    let wanted = std::env::var_os("EDDY_NGINX_PAIRS").and_then(|count| count.to_str()?.parse().ok());
    let wanted = wanted.unwrap_or(20_000);
    assert!(NGINX.is_present(), "this compares with the real NGINX alone");
    let (mut compared, mut asked, mut contested, mut searched, mut by_pattern) = (0, 0, 0, 0, 0);
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    while compared < wanted {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (cases, _) = generate::cases_from(seed | 1, 500);
        compared += compare("", &cases);
        for case in &cases {
            let eddy = NginxTestRouter::of(&case.config);
            for request in &case.requests {
                let Some(explained) = eddy.explain(&request.text()) else { continue };
                asked += 1;
                contested += usize::from(explained.hops.iter().any(|hop| !hop.others.is_empty()));
                searched += usize::from(explained.hops.iter().filter(|hop| hop.place.is_some()).count() > 1);
                by_pattern +=
                    usize::from(explained.hops.iter().any(|hop| hop.why.contains("first matching regex")));
            }
        }
    }
    let percent = |count: usize| count * 100 / asked.max(1);
    println!(
        "{compared} pairs, 0 unexplained differences; of the requests {} % fit two locations or more, {} % are searched for \
         twice or more, {} % end in an expression",
        percent(contested),
        percent(searched),
        percent(by_pattern)
    );
    assert!(percent(contested) > 20 && percent(by_pattern) > 10);
}

#[test]
fn the_index_finds_what_the_plain_search_finds() {
    let (cases, _) = generate::cases(300);
    for case in &cases {
        let eddy = NginxTestRouter::of(&case.config);
        for request in &case.requests {
            let text = request.text();
            assert_eq!(eddy.ask(&text), eddy.ask_plainly(&text), "{}\n{}", request.target, case.config);
        }
    }
}
