//! End of tunnels: by both sides, by a reset, by an idle timeout, after a reload, by a drain.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::wait::elapse;
use eddy_e2e::wire::within;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::endpoint::{
    KEY, TunnelEndpoint, agreement, config, connect, gateway, is_broken, pass, read_exactly, read_head,
    read_to_end, request, tunnel,
};

#[tokio::test]
async fn each_side_closes_independently() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    for is_client_first in [true, false] {
        let (client, server) = tunnel(&gateway, &endpoint).await?;
        let (mut first, mut second) = if is_client_first { (client, server) } else { (server, client) };
        first.write_all(b"that was all").await?;
        first.shutdown().await?;
        ensure!(read_to_end(&mut second).await? == b"that was all");
        pass(&mut second, &mut first, b"not on this side").await?;
        second.shutdown().await?;
        ensure!(read_to_end(&mut first).await?.is_empty());
    }
    gateway.until_metric("eddy_tunnels", 0.0).await?;
    gateway.lines().until("\"reason\":\"-\"", 2).await?;
    ensure!(gateway.metric("eddy_faults_total").await? == 0.0);
    gateway.until_metric("eddy_cluster_connections{cluster=\"origin\"}", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_tunnel_counts_against_the_request_limit() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let config = config("", "", endpoint.address()?).replace("origin: {", "origin: {limits: {requests: 1}, ");
    let gateway = TestGateway::launch(&config, Launch::default()).await?;
    let in_use = "eddy_cluster_in_use{cluster=\"origin\",limit=\"requests\"}";
    for _ in 0..2 {
        let (mut client, mut server) = tunnel(&gateway, &endpoint).await?;
        pass(&mut client, &mut server, b"x").await?;
        ensure!(gateway.metric(in_use).await? == 1.0);
        ensure!(gateway.exchange(request("")).await?.status == 503);
        client.shutdown().await?;
        server.shutdown().await?;
        gateway.until_metric(in_use, 0.0).await?;
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_reset_on_one_side_is_a_reset_on_the_other() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    for (is_client, reason) in [(true, "client_gone"), (false, "response_cut")] {
        let (mut client, mut server) = tunnel(&gateway, &endpoint).await?;
        pass(&mut client, &mut server, b"x").await?;
        let (one, mut other) = if is_client { (client, server) } else { (server, client) };
        one.set_zero_linger()?;
        drop(one);
        is_broken(&mut other).await?;
        gateway.lines().until(&format!("\"reason\":\"{reason}\""), 1).await?;
    }
    gateway.until_metric("eddy_tunnels", 0.0).await?;
    gateway.stop().await
}

/// An endpoint's silence does not count while the client sends.
#[tokio::test]
async fn an_idle_tunnel_is_closed_and_data_in_either_direction_extends_it() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let listener = "    timeouts: {tunnel: 400ms, exchange: 300ms}\n";
    let gateway = gateway(listener, "", endpoint.address()?).await?;
    let (mut client, mut server) = tunnel(&gateway, &endpoint).await?;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        pass(&mut client, &mut server, b"still here").await?;
        elapse(Duration::from_millis(50), "shorter than the timeout of the tunnel").await;
    }
    let mut byte = [0];
    ensure!(!matches!(within("the end", client.read(&mut byte)).await?, Ok(1..)));
    ensure!(!matches!(within("the end", server.read(&mut byte)).await?, Ok(1..)));
    gateway.lines().until("\"reason\":\"tunnel_idle\"", 1).await?;
    gateway.stop().await
}

/// `timeouts.exchange` applies to the handshake.
#[tokio::test]
async fn an_endpoint_that_ignores_a_handshake_times_out() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("    timeouts: {exchange: 200ms}\n", "", endpoint.address()?).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(request("").as_bytes()).await?;
    let (_server, _) = endpoint.asked().await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 504 "));
    gateway.stop().await
}

#[tokio::test]
async fn a_tunnel_outlives_reloads_up_to_its_limit() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let listener = "    timeouts: {tunnel_reload: 700ms}\n";
    let gateway = gateway(listener, "", endpoint.address()?).await?;
    let (mut client, mut server) = tunnel(&gateway, &endpoint).await?;
    let changed = config(listener, ", response_headers: {set: {x-new: '1'}}", endpoint.address()?);
    gateway.write_config(&changed)?;
    gateway.signal(Signal::HUP)?;
    let mut fresh = connect(gateway.address()).await?;
    // Until requests show that the new configuration is in force.
    loop {
        fresh.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
        let (mut answering, _) = endpoint.asked().await?;
        answering.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await?;
        if read_head(&mut fresh).await?.contains("x-new: 1") {
            break;
        }
    }
    pass(&mut client, &mut server, b"as before").await?;
    pass(&mut server, &mut client, b"as before").await?;
    let mut young = connect(gateway.address()).await?;
    young.write_all(request("").as_bytes()).await?;
    let (mut answering, _) = endpoint.asked().await?;
    answering.write_all(agreement(KEY).as_bytes()).await?;
    ensure!(read_head(&mut young).await?.contains("x-new: 1"));
    let mut byte = [0];
    ensure!(!matches!(within("the end of the old", client.read(&mut byte)).await?, Ok(1..)));
    ensure!(!matches!(within("the end of the old", server.read(&mut byte)).await?, Ok(1..)));
    gateway.lines().until("\"reason\":\"tunnel_reload\"", 1).await?;
    pass(&mut young, &mut answering, b"the new one goes on").await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_drain_waits_for_tunnels() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let mut gateway = gateway("", "", endpoint.address()?).await?;
    let (mut client, mut server) = tunnel(&gateway, &endpoint).await?;
    gateway.signal(Signal::TERM)?;
    gateway.lines().until("drain", 1).await?;
    pass(&mut client, &mut server, b"one more word").await?;
    client.shutdown().await?;
    ensure!(read_to_end(&mut server).await?.is_empty());
    server.write_all(b"bye").await?;
    drop(server);
    ensure!(read_exactly(&mut client, 3).await? == b"bye");
    let ended = Instant::now();
    let status = gateway.exited(Duration::from_secs(10)).await?;
    ensure!(status.success(), "{status}");
    ensure!(ended.elapsed() < Duration::from_secs(4), "it waited for more than its tunnels");
    Ok(())
}
