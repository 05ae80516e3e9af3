//! Protobuf descriptors in the running program: fetched by reflection from servers with gRPC's own library, and
//! converted to OpenAPI, which a third-party validator checks.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::others;
use eddy_e2e::place::{TempDir, any_port, closed_address, eddy_binary, tree};
use eddy_e2e::wire::within;
use serde_json::Value;
use tokio::process::{Child, Command};

async fn eddy(arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(eddy_binary()?);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    Ok(within("the command", command.output()).await??)
}

/// Runs a command that must succeed, and returns its output.
async fn written(arguments: &[&str]) -> Result<String> {
    let output = eddy(arguments).await?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {said}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command that must fail because of its input, and returns its error.
async fn refused(arguments: &[&str]) -> Result<String> {
    let output = eddy(arguments).await?;
    ensure!(output.status.code() == Some(1), "{arguments:?}: {output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

/// Starts a server at any port, which ends with its standard input; returns its address, too.
async fn start(program: &Path, arguments: &[&str]) -> Result<(Child, String)> {
    let mut command = Command::new(program);
    command.args(arguments).arg(any_port().to_string());
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let (address, _) = others::listening(&mut process).await?;
    Ok((process, address.to_string()))
}

#[tokio::test]
async fn descriptors_are_fetched_by_reflection() -> Result<()> {
    let folder = TempDir::new("reflection")?;
    let Some(peer) = others::grpc_peer(folder.path())? else { return Ok(()) };
    let (_process, server) = start(&peer, &["serve"]).await?;
    let set = folder.join("peer.binpb").display().to_string();
    written(&["descriptors", "fetch", &server, "-o", &set]).await?;

    // The gateway accepts the descriptors.
    let config = folder.join("eddy.yaml");
    std::fs::write(
        &config,
        "listeners: [{address: 127.0.0.1:8080, routes: site, filters: [json]}]\n\
         filters: {json: {grpc_json: {descriptors: ./peer.binpb, services: [grpc.testing.TestService], auto: true}}}\n\
         routes: {site: [{respond: {status: 204}}]}\n",
    )?;
    written(&["check", &config.display().to_string()]).await?;
    let document: Value = serde_json::from_str(&written(&["descriptors", "openapi", &set, "--auto"]).await?)?;
    ensure!(document["paths"]["/grpc.testing.TestService/UnaryCall"]["post"].is_object(), "{document}");
    ensure!(document["paths"]["/grpc.health.v1.Health/Check"]["post"].is_object(), "{document}");
    ensure!(!document.to_string().contains("grpc.reflection"), "{document}");

    // A single service, then one that does not exist.
    written(&["descriptors", "fetch", &server, "--service", "grpc.health.v1.Health", "-o", &set]).await?;
    let document = written(&["descriptors", "openapi", &set, "--auto"]).await?;
    ensure!(document.contains("Health") && !document.contains("TestService"), "{document}");
    let before = std::fs::read(&set)?;
    let said = refused(&["descriptors", "fetch", &server, "--service", "shop.Shop", "-o", &set]).await?;
    ensure!(said.contains("no service shop.Shop; it has grpc.health.v1.Health"), "{said}");
    ensure!(std::fs::read(&set)? == before, "what failed has changed the file");
    Ok(())
}

/// An older server, whose messages are spread over dozens of files.
#[tokio::test]
async fn descriptors_are_fetched_from_an_older_reflection_service() -> Result<()> {
    let folder = TempDir::new("reflection")?;
    let Some(program) = others::access_log_service(folder.path())? else { return Ok(()) };
    let (_process, server) = start(&program, &[]).await?;
    let set = folder.join("logs.binpb").display().to_string();
    written(&["descriptors", "fetch", &server, "-o", &set]).await?;
    let document = written(&["descriptors", "openapi", &set, "--auto"]).await?;
    ensure!(document.contains("envoy.data.accesslog.v3.HTTPAccessLogEntry"), "{document}");
    Ok(())
}

#[tokio::test]
async fn servers_without_reflection_are_reported() -> Result<()> {
    let folder = TempDir::new("reflection")?;
    let set = folder.join("none.binpb").display().to_string();
    let nobody = closed_address().to_string();
    let said = refused(&["descriptors", "fetch", &nobody, "-o", &set]).await?;
    ensure!(said.contains(&format!("cannot connect to {nobody}")), "{said}");
    let gateway = TestGateway::start(
        "admin: {address: ADMIN}\nlisteners: [{address: LISTEN, routes: site}]\nroutes: {site: [{match: {path: /a}, respond: {status: 204}}]}\n",
        &[],
    )
    .await?;
    // A gRPC server without the reflection service.
    let listener = gateway.address().to_string();
    let said = refused(&["descriptors", "fetch", &listener, "-o", &set]).await?;
    ensure!(said.contains("has no gRPC reflection"), "{said}");
    // A server without HTTP/2.
    let admin = gateway.admin_address().to_string();
    let said = refused(&["descriptors", "fetch", &admin, "-o", &set]).await?;
    ensure!(said.contains("HTTP/2") || said.contains("connection"), "{said}");
    ensure!(!Path::new(&set).exists(), "nothing is written");
    let output = eddy(&["descriptors", "fetch", "nowhere", "-o", &set]).await?;
    ensure!(output.status.code() == Some(2), "{output:?}");
    gateway.stop().await
}

/// Compares `text` with a file of the tree, or writes the file when `UPDATE` is set.
fn golden(path: &Path, text: &str) -> Result<()> {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, text)?;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    ensure!(text == expected, "{} is not as it was; UPDATE=1 accepts it", path.display());
    Ok(())
}

fn example(name: &str) -> PathBuf {
    tree().join("examples").join(name)
}

#[tokio::test]
async fn the_transcoding_example_is_described_as_openapi() -> Result<()> {
    let descriptors = example("transcoding/library.binpb").display().to_string();
    let told = written(&["descriptors", "openapi", &descriptors, "--title", "Library"]).await?;
    golden(&example("transcoding/openapi.json"), &told)?;
    let document: Value = serde_json::from_str(&told)?;
    let paths = &document["paths"];
    // Parameters have the same names in all methods of a path.
    let book = &paths["/v1/shelves/{name}/books/{name_2}"];
    for method in ["get", "patch", "put", "delete"] {
        ensure!(book[method]["operationId"].is_string(), "{method}: {told}");
        ensure!(book[method]["parameters"][1]["name"] == "name_2", "{method}: {told}");
    }
    ensure!(book["patch"]["operationId"] == "library.v1.Library.UpdateBook", "{told}");
    ensure!(book["put"]["operationId"] == "library.v1.Library.UpdateBook.2", "{told}");
    ensure!(paths["/v1/shelves/{parent}/books:watch"]["get"].is_object(), "{told}");
    Ok(())
}

#[tokio::test]
async fn the_generated_openapi_is_valid() -> Result<()> {
    let folder = TempDir::new("openapi")?;
    if !test_peers::all_present(&[test_peers::OPENAPI_VALIDATOR])? {
        return Ok(());
    }
    let all = tree().join("crates/eddy-protobuf/tests/schema/conformance.binpb");
    let sets = [
        (example("transcoding/library.binpb"), ""),
        (example("transcoding/library.binpb"), "--auto"),
        (example("transcoding/library.binpb"), "--declared-names"),
        (example("field-routing/orders.binpb"), "--auto"),
        (example("redaction/accounts.binpb"), "--auto"),
        (all, "--auto"),
    ];
    for (set, argument) in sets {
        let set = set.display().to_string();
        let mut arguments = vec!["descriptors", "openapi", &set];
        arguments.extend(Some(argument).filter(|argument| !argument.is_empty()));
        let output = eddy(&arguments).await?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            // The messages of the conformance tests define no service.
            ensure!(said.contains("no method has a google.api.http option"), "{arguments:?}: {said}");
            continue;
        }
        let file = folder.join("document.json");
        std::fs::write(&file, &output.stdout)?;
        let mut validator = Command::new(test_peers::python());
        validator.args(["-m", "openapi_spec_validator", "--validation-errors", "all"]).arg(&file);
        let judged = within("the validator", validator.kill_on_drop(true).output()).await??;
        let text = String::from_utf8_lossy(&judged.stdout).into_owned();
        ensure!(judged.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&judged.stderr));
    }
    Ok(())
}
