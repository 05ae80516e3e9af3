//! Envoy configurations in eddy and in the real Envoy: the same requests must get the same responses.
//!
//! Both programs run with the same file. Envoy's answers are recorded in `recorded/` for machines without Envoy.
//! `EDDY_REQUIRE_PEERS=1` makes a missing Envoy a failure, `UPDATE=1` records anew.

mod actions;
mod apart;
mod copies;
mod coverage;
mod documented;
mod draw;
mod examples;
mod generate;
mod ledger;
mod matches;
mod tree;
mod written;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use coverage::Coverage;
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::peer::{
    ENVOY_ANSWERS, EchoUpstream, Envoy, EnvoyQueries, ParallelClient, Reply, envoy_responses,
    recorded_answers,
};
use eddy_e2e::place::variable;
use examples::EXAMPLES;
use ledger::Ledger;

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/envoy_conf/recorded").join(name)
}

/// Formats the compared parts of a response: the status, the gRPC status, the location, the body of direct responses,
/// and the test headers.
fn shown(reply: &Reply) -> String {
    let mut line = reply.status.to_string();
    if let Some(location) = reply.field("location") {
        line.push_str(&format!(" -> {location}"));
    } else if matches!(reply.status, 200 | 403) {
        line.push_str(&format!(" {}", reply.body));
    }
    if let Some(status) = reply.field("grpc-status") {
        line.push_str(&format!(" grpc-status={status}"));
    }
    // The order of fields with different names has no meaning.
    let mut own: Vec<_> = reply.fields.iter().filter(|(name, _)| name.starts_with("x-t-")).collect();
    own.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, value) in own {
        line.push_str(&format!(" {name}={value}"));
    }
    line.trim_end().to_owned()
}

/// Returns eddy's responses to all requests in order.
async fn eddy_responses(all: &[EnvoyQueries], upstream: &EchoUpstream) -> Result<Vec<String>> {
    let mut answers = Vec::new();
    for questions in all {
        let substitutes = vec![("ECHO".to_owned(), upstream.path().display().to_string())];
        let launch = Launch { substitutes, file: Some("envoy.json"), ..Launch::default() };
        let gateway = TestGateway::launch(&questions.config, launch).await?;
        let socket = gateway.directory().join("site.sock");
        let replies = ParallelClient::to(&socket).ask_all(&questions.requests)?;
        answers.extend(replies.iter().map(shown));
        gateway.stop().await?;
    }
    Ok(answers)
}

/// Whether a path template may have to match a path with parameters while the configuration ignores them: Envoy does
/// not ignore them for templates.
fn has_parameters_for_template(config: &str, request: &str) -> bool {
    let target = request.split(' ').nth(1).unwrap_or_default();
    config.contains("ignore_path_parameters_in_path_matching")
        && target.contains(';')
        && host_of(config, request).is_some_and(|host| host.contains("path_template"))
}

/// Number of requests sent to both programs.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    /// Requests whose responses had to be equal.
    pairs: usize,
    /// Requests that eddy deliberately answers differently, as the list of divergences says.
    left_out: usize,
}

/// Sends the requests to both programs and reports the differences.
async fn compare(recorded: Option<&Path>, all: &[EnvoyQueries]) -> Result<Compared> {
    // Fields of the upstream, for routes to remove and to add to.
    let upstream = EchoUpstream::with_fields(&[("x-t-a", "own"), ("x-t-b", "own")])?;
    let theirs = envoy_responses(recorded, all, &upstream, shown)?;
    let ours = eddy_responses(all, &upstream).await?;
    let requests: Vec<(&EnvoyQueries, String)> = all
        .iter()
        .flat_map(|questions| {
            questions
                .requests
                .iter()
                .map(move |request| (questions, String::from_utf8_lossy(request).into_owned()))
        })
        .collect();
    let is_left_out = |(questions, request): &(&EnvoyQueries, String)| {
        has_parameters_for_template(&questions.config, request)
    };
    let ours: Vec<Option<String>> =
        requests.iter().zip(ours).map(|(request, ours)| (!is_left_out(request)).then_some(ours)).collect();
    let different = theirs.compare(&ours, |_, _, _| false)?;
    let left_out = ours.iter().filter(|ours| ours.is_none()).count();
    let compared = Compared { pairs: requests.len() - left_out, left_out };
    let request = |number: usize| {
        let (questions, request) = &requests[number];
        format!("{}\n  {}", request.escape_debug(), host_of(&questions.config, request).unwrap_or_default())
    };
    let told: String =
        different.iter().take(8).map(|different| different.describe(ENVOY_ANSWERS, &ours, request)).collect();
    ensure!(different.is_empty(), "{} of {} differ:\n{told}", different.len(), compared.pairs);
    Ok(compared)
}

/// Returns the virtual host of a request, as in the configuration.
fn host_of(config: &str, request: &str) -> Option<String> {
    let host = request.lines().find_map(|line| line.strip_prefix("Host: "))?.to_ascii_lowercase();
    let host = host.split(':').next()?.to_owned();
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    let chain = &config["static_resources"]["listeners"][0]["filter_chains"][0];
    let routes = &chain["filters"][0]["typed_config"]["route_config"];
    let found = routes["virtual_hosts"].as_array()?.iter().find(|own| own["name"] == *host)?;
    Some(found.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn examples_respond_as_documented_and_as_envoy() -> Result<()> {
    let (questions, expected) = examples::all()?;
    let file = recorded("examples.txt");
    let upstream = EchoUpstream::start()?;
    let theirs = envoy_responses(Some(&file), &questions, &upstream, shown)?;
    let ours = eddy_responses(&questions, &upstream).await?;
    ensure!(ours.len() == expected.len(), "{} answers to {} requests", ours.len(), expected.len());
    for (ours, (line, expected)) in ours.iter().zip(&expected) {
        ensure!(ours == expected, "{line}\n  eddy  {ours}");
    }
    let answers: Vec<Option<String>> = expected.iter().map(|(_, expected)| Some(expected.clone())).collect();
    let wrong = theirs.compare(&answers, |_, _, _| false)?;
    let line = |number: usize| expected[number].0.to_string();
    let told: String = wrong.iter().map(|wrong| wrong.describe(ENVOY_ANSWERS, &answers, line)).collect();
    ensure!(wrong.is_empty(), "{} examples differ:\n{told}", wrong.len());
    println!("{} requests to {} examples", expected.len(), EXAMPLES.len());
    Ok(())
}

/// Without Envoy, recorded answers are used, and they must be for the current requests.
#[tokio::test(flavor = "multi_thread")]
async fn examples_respond_as_in_recorded_envoy_responses() -> Result<()> {
    let (questions, expected) = examples::all()?;
    let answers = recorded_answers(&recorded("examples.txt"), &questions)?;
    ensure!(answers.len() == expected.len(), "{} answers to {} requests", answers.len(), expected.len());
    let generated = generate::generate(SEED, HOSTS);
    ensure!(recorded_answers(&recorded("generated.txt"), &generated.questions)?.len() >= 20_000);
    let others = generate::generate(SEED + 2, HOSTS);
    let refused = recorded_answers(&recorded("generated.txt"), &others.questions);
    ensure!(refused.is_err_and(|error| error.to_string().contains("is for other questions")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_routes_respond_as_envoy() -> Result<()> {
    let generated = generate::generate(SEED, HOSTS);
    let compared = compare(Some(&recorded("generated.txt")), &generated.questions).await?;
    println!("{} pairs, {} left out; {:?}", compared.pairs, compared.left_out, generated.counts);
    ensure!(compared.pairs >= 20_000, "{} pairs", compared.pairs);
    let mut coverage = Coverage::default();
    generated.questions.iter().try_for_each(|questions| coverage.add(questions))?;
    println!("{coverage}");
    coverage.check()
}

/// The long form: as many pairs as `EDDY_ENVOY_PAIRS` says, from other seeds, with the coverage of features.
///
/// With a file in `EDDY_ENVOY_LEDGER`, an interrupted run is resumed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes, and needs the real Envoy"]
async fn many_generated_routes_respond_as_envoy() -> Result<()> {
    if Envoy::find_or_omit()?.is_none() {
        return Ok(());
    }
    let wanted =
        variable("EDDY_ENVOY_PAIRS").map_or(Ok(40_000), |count| count.parse()).context("no number")?;
    let mut ledger = Ledger::open(wanted)?;
    while ledger.compared.pairs < wanted {
        let seed = ledger.seed;
        let generated = generate::generate(seed, 400);
        let compared =
            compare(None, &generated.questions).await.with_context(|| format!("seed {seed:#x}"))?;
        ledger.compared.pairs += compared.pairs;
        ledger.compared.left_out += compared.left_out;
        generated.questions.iter().try_for_each(|questions| ledger.coverage.add(questions))?;
        ledger.turn()?;
        eprintln!("{} of {wanted} pairs, 0 unexplained differences; seed {seed:#x}", ledger.compared.pairs);
    }
    let Compared { pairs, left_out } = ledger.compared;
    println!("{pairs} pairs, 0 unexplained differences, {left_out} left out; {}", ledger.coverage);
    ledger.coverage.check()
}

const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// Number of virtual hosts in each of the five generated configurations.
const HOSTS: usize = 180;
