//! Hosts of mirrored requests, in eddy and in the real Envoy.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::peer::{EchoUpstream, Envoy, ParallelClient, bootstrap};
use serde_json::{Value, json};

/// A path, the host that the client sends, and the host of the mirrored request.
const COPIES: [(&str, &str, &str); 6] = [
    ("/shadow", "a.test", "a.test-shadow"),
    ("/shadow/port", "a.test:8080", "a.test-shadow:8080"),
    ("/rewritten", "a.test:8080", "up.test-shadow"),
    ("/same", "a.test", "a.test"),
    ("/same/port", "a.test:8080", "a.test:8080"),
    ("/both", "b.test", "b.test-shadow"),
];

/// Returns a configuration that mirrors requests to this address.
fn configuration(copies: SocketAddr) -> Result<String> {
    let route = |prefix: &str, policies: Value| {
        let action = json!({"cluster": "one", "request_mirror_policies": policies});
        json!({"match": {"prefix": prefix}, "route": action})
    };
    let shadow = json!({"cluster": "copy"});
    let same = json!({"cluster": "copy", "disable_shadow_host_suffix_append": true});
    let mut rewritten = route("/rewritten", json!([shadow]));
    rewritten["route"]["host_rewrite_literal"] = "up.test".into();
    let routes = [
        route("/shadow", json!([shadow])),
        rewritten,
        route("/same", json!([same])),
        route("/both", json!([shadow, same])),
    ];
    let host = json!({"name": "all", "domains": ["*"], "routes": routes});
    let whole = json!({"name": "site", "virtual_hosts": [host]});
    let mut config: Value = serde_json::from_str(&bootstrap(&whole, &json!({}), &["one", "copy"]))?;
    let address =
        json!({"socket_address": {"address": copies.ip().to_string(), "port_value": copies.port()}});
    let copy = &mut config["static_resources"]["clusters"][1]["load_assignment"];
    copy["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"] = address;
    Ok(config.to_string())
}

/// Sends the requests and returns the path and host of each mirrored request.
async fn copied(mut clients: ParallelClient, copies: &TapOrigin) -> Result<Vec<(String, String)>> {
    let requests =
        COPIES.map(|(path, host, _)| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes());
    let replies = clients.ask_all(&requests)?;
    ensure!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    let seen = copies.log().until_requests(COPIES.len() + 1).await?;
    let seen =
        seen.iter().map(|copy| (copy.target_text(), String::from_utf8_lossy(copy.host()).into_owned()));
    let mut seen: Vec<_> = seen.collect();
    seen.sort();
    Ok(seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrored_requests_have_the_same_host_as_with_envoy() -> Result<()> {
    let upstream = EchoUpstream::start()?;
    let mut expected = COPIES.map(|(path, _, host)| (path.to_owned(), host.to_owned())).to_vec();
    // Two policies of one route, each with its own host.
    expected.push(("/both".to_owned(), "b.test".to_owned()));
    expected.sort();

    let copies = TapOrigin::start().await?;
    let substitutes = vec![("ECHO".to_owned(), upstream.path().display().to_string())];
    let launch = Launch { substitutes, file: Some("envoy.json"), ..Launch::default() };
    let gateway = TestGateway::launch(&configuration(copies.address())?, launch).await?;
    let ours = copied(ParallelClient::to(&gateway.directory().join("site.sock")), &copies).await?;
    ensure!(ours == expected, "eddy: {ours:?}");
    gateway.stop().await?;

    let Some(program) = Envoy::find_or_omit()? else { return Ok(()) };
    let copies = TapOrigin::start().await?;
    let envoy = Envoy::start(&program, &configuration(copies.address())?, &upstream.path())?;
    let theirs = copied(envoy.clients(), &copies).await?;
    ensure!(theirs == expected, "Envoy: {theirs:?}");
    Ok(())
}
