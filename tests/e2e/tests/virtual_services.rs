//! Istio Gateways and VirtualServices in the running gateway.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::wire::{WireClient, WireResponse, within};

const MANIFESTS: &str = "\
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gateway}
spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*.test']}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [a.test]
  gateways: [gateway]
  http:
  - match: [{uri: {prefix: /old/}}]
    rewrite: {uri: /new/, authority: inner.test}
    headers: {request: {set: {x-a: '1'}, remove: [x-b]}, response: {add: {x-c: '2'}}}
    mirror: {host: copy}
    route: [{destination: {host: web}}]
  - match: [{uri: {exact: /moved}}]
    redirect: {uri: /here, scheme: https, redirectCode: 308}
  - match: [{uri: {exact: /tea}}]
    directResponse: {status: 418, body: {string: short}}
  - match: [{uri: {exact: /broken}}]
    fault: {abort: {percentage: {value: 100}, httpStatus: 555}}
    route: [{destination: {host: web}}]
  - match: [{uri: {exact: /slow}}]
    fault: {delay: {percentage: {value: 100}, fixedDelay: 300ms}}
    route: [{destination: {host: web}}]
  - match: [{uri: {exact: /cors}}]
    corsPolicy: {allowOrigins: [{exact: 'https://a.example'}], allowMethods: [GET, PUT], maxAge: 60s}
    route: [{destination: {host: web}}]
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: copy}, spec: {ports: [{port: 80}]}}
";

/// Starts an origin that reports the received request.
async fn origin() -> Result<TapOrigin> {
    TapOrigin::with(|asked| {
        let request = asked.request;
        let field = |name: &str| {
            request
                .fields
                .all(name)
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect::<Vec<_>>()
        };
        let body =
            format!("{} {:?} {:?} {:?}", request.target_text(), field("host"), field("x-a"), field("x-b"));
        OriginScript::steps([ScriptStep::Send(response(200, "", body))])
    })
    .await
}

async fn ask(address: std::net::SocketAddr, head: &str) -> Result<WireResponse> {
    let mut client = WireClient::connect(address).await?;
    client.send(&format!("{head}\r\nHost: a.test\r\n\r\n")).await?;
    let method = head.split(' ').next().unwrap_or_default();
    Ok(within("the answer", client.answer(method)).await??.response)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_first_attempt_gets_no_connection_is_mirrored() -> Result<()> {
    let (web, copy) = (origin().await?, origin().await?);
    let (address, closed) = (place::any_port(), place::closed_address());
    let config = format!(
        "admin: {{address: ADMIN}}\nkubernetes:\n  endpoints: {{default/web: ['{closed}', '{}'], default/copy: ['{}']}}\n  listen: {{80: '{address}'}}\n",
        web.address(),
        copy.address()
    );
    let folder = place::TempDir::new("manifests")?;
    std::fs::write(folder.join("istio.yaml"), MANIFESTS)?;
    let arguments = vec![folder.path().into()];
    let gateway = TestGateway::launch(&config, Launch { arguments, ..Launch::default() }).await?;
    let address = gateway.bound(address).await?;
    // Until the closed endpoint is ejected, about every other request has two attempts.
    for number in 1..=30 {
        ensure!(ask(address, "GET /old/x HTTP/1.1").await?.status == 200);
        copy.log().until_requests(number).await?;
    }
    ensure!(
        gateway.metric("eddy_cluster_connects_failed_total").await? > 0.0,
        "every attempt got a connection"
    );
    gateway.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_of_virtual_services_are_served() -> Result<()> {
    let (web, copy) = (origin().await?, origin().await?);
    let address = place::any_port();
    let config = format!(
        "admin: {{address: ADMIN}}\nkubernetes:\n  endpoints: {{default/web: ['{}'], default/copy: ['{}']}}\n  listen: {{80: '{address}'}}\n",
        web.address(),
        copy.address()
    );
    let folder = place::TempDir::new("manifests")?;
    std::fs::write(folder.join("istio.yaml"), MANIFESTS)?;
    let arguments = vec![folder.path().into()];
    let gateway = TestGateway::launch(&config, Launch { arguments, ..Launch::default() }).await?;
    let address = gateway.bound(address).await?;

    let sent = ask(address, "GET /old/x?q=1 HTTP/1.1\r\nx-b: 7").await?;
    ensure!(sent.text() == r#"/new/x?q=1 ["inner.test"] ["1"] []"#, "{}", sent.text());
    ensure!(sent.fields.first("x-c") == Some(b"2".as_slice()), "{sent:?}");
    copy.log().until_requests(1).await?;
    let moved = ask(address, "GET /moved?a=b HTTP/1.1").await?;
    ensure!(moved.status == 308, "{moved:?}");
    ensure!(moved.fields.first("location") == Some(b"https://a.test/here?a=b".as_slice()), "{moved:?}");
    let tea = ask(address, "GET /tea HTTP/1.1").await?;
    ensure!((tea.status, tea.text().as_str()) == (418, "short"), "{tea:?}");
    ensure!(ask(address, "GET /broken HTTP/1.1").await?.status == 555);
    let begun = Instant::now();
    ensure!(ask(address, "GET /slow HTTP/1.1").await?.status == 200);
    ensure!(begun.elapsed() >= Duration::from_millis(300), "it did not wait");
    let preflight = ask(
        address,
        "OPTIONS /cors HTTP/1.1\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: PUT",
    )
    .await?;
    let allowed = preflight.fields.first("access-control-allow-methods").context("no methods")?;
    ensure!(allowed == b"GET, PUT", "{preflight:?}");
    ensure!(ask(address, "GET /none HTTP/1.1").await?.status == 404);
    gateway.stop().await
}
