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
use recorded::{NGINX_ANSWERS, nginx_responses};
use test_peers::{AnswerError, Fnv, NGINX, PeerAnswers, present_or_recorded};

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

    /// Formats the request for the report of a difference.
    fn told(&self, case: &str) -> String {
        format!("{case} {} {} {}", self.host, self.target, self.fields.replace("\r\n", ";"))
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
fn compare(file: Option<&str>, cases: &[NginxCase]) -> usize {
    compare_with(file, cases, Oracle::best())
}

fn compare_with(file: Option<&str>, cases: &[NginxCase], oracle: Oracle) -> usize {
    let theirs = nginx_responses(file, digest(cases), oracle, || ask_nginx(cases));
    let requests = || cases.iter().flat_map(|case| case.requests.iter().map(move |request| (case, request)));
    let mut ours = Vec::new();
    for case in cases {
        let eddy = NginxTestRouter::of(&case.config);
        // eddy's parser refuses more than NGINX's, as the guide describes: such requests are not compared.
        ours.extend(case.requests.iter().map(|request| eddy.ask(&request.text())));
    }
    let different = theirs.compare(&ours, |_, _, _| false).unwrap_or_else(|error| panic!("{error}"));
    let compared = ours.iter().flatten().count();
    let all: Vec<_> = requests().collect();
    let told = different.iter().take(5).map(|different| {
        let own = different.numbers.first().map_or("", |number| table_of(all[*number]));
        let request = |number: usize| all[number].1.told(&all[number].0.name);
        format!("{}{own}\n", different.describe(NGINX_ANSWERS, &ours, request))
    });
    let told: String = told.collect();
    assert!(different.is_empty(), "{} of {compared} differ:\n{told}", different.len());
    compared
}

/// Returns the answers of the real NGINX.
fn ask_nginx(cases: &[NginxCase]) -> Vec<String> {
    let mut answers = Vec::new();
    for case in cases {
        let nginx = NginxProcess::start(&case.config);
        let mut client = nginx.connect();
        answers.extend(case.requests.iter().map(|request| client.ask(&request.text())));
    }
    answers
}

/// Returns the server of a request's configuration, or all of it.
fn table_of<'c>((case, request): (&'c NginxCase, &NginxTestRequest)) -> &'c str {
    let name = format!("server_name {};", request.host);
    case.config.split("server {").find(|table| table.contains(&name)).unwrap_or(&case.config)
}

/// Returns the digest of the cases by which their recorded answers are recognized.
fn digest(cases: &[NginxCase]) -> u64 {
    let mut digest = Fnv::default();
    for case in cases {
        digest.add(case.config.as_bytes());
        case.requests.iter().for_each(|request| digest.add(request.text().as_bytes()));
    }
    digest.value()
}

#[test]
fn examples_respond_as_nginx() {
    let compared = compare(Some("examples.txt"), &examples::cases());
    assert!(compared >= 100, "{compared} requests");
}

#[test]
fn examples_respond_as_in_recorded_nginx_responses() {
    let cases = examples::cases();
    let requests: usize = cases.iter().map(|case| case.requests.len()).sum();
    assert_eq!(compare_with(Some("examples.txt"), &cases, Oracle::Recorded), requests, "all are compared");
    let (generated, _) = generate::cases(200);
    assert!(compare_with(Some("generated.txt"), &generated, Oracle::Recorded) > 2000);
    let others = PeerAnswers::recorded(&recorded::path("generated.txt"), digest(&cases));
    assert!(matches!(others, Err(AnswerError::Questions(_))), "the answers to other requests");
}

#[test]
fn typical_constructs_respond_as_nginx() {
    let cases = typical::cases();
    let requests: usize = cases.iter().map(|case| case.requests.len()).sum();
    assert_eq!(compare(Some("typical.txt"), &cases), requests);
    assert_eq!(compare_with(Some("typical.txt"), &cases, Oracle::Recorded), requests, "all are compared");
}

#[test]
fn examples_respond_as_documented() {
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
fn generated_locations_respond_as_nginx() {
    let (cases, coverage) = generate::cases(200);
    let compared = compare(Some("generated.txt"), &cases);
    println!("{compared} pairs; {coverage}");
    assert!(compared > 2000, "{compared} pairs");
}

/// Long version: `EDDY_NGINX_PAIRS` pairs, from other seeds, with statistics on how much of the possible behaviour they
/// cover.
#[test]
#[ignore = "takes minutes, and needs the real NGINX"]
fn many_generated_locations_respond_as_nginx() {
    let wanted = std::env::var_os("EDDY_NGINX_PAIRS").and_then(|count| count.to_str()?.parse().ok());
    let wanted = wanted.unwrap_or(20_000);
    assert!(NGINX.is_present(), "this compares with the real NGINX alone");
    let (mut compared, mut asked, mut contested, mut searched, mut by_pattern) = (0, 0, 0, 0, 0);
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    while compared < wanted {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (cases, _) = generate::cases_from(seed | 1, 500);
        compared += compare(None, &cases);
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
fn the_index_agrees_with_the_linear_search() {
    let (cases, _) = generate::cases(300);
    for case in &cases {
        let eddy = NginxTestRouter::of(&case.config);
        for request in &case.requests {
            let text = request.text();
            assert_eq!(
                eddy.ask(&text),
                eddy.ask_by_linear_search(&text),
                "{}\n{}",
                request.target,
                case.config
            );
        }
    }
}
