//! Requests and responses pass through whole, in order and unaltered.

use anyhow::{Result, ensure};
use eddy_e2e::journal::{Numbers, hash_of};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::{next_look, until_steady};
use eddy_e2e::wire::{ConnectionEnd, Segments, WireBodyFraming, WireClient, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

const GET: &str = "GET /a?b=c HTTP/1.1\r\nHost: a.example\r\n\r\n";

fn noise(length: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(length as u64);
    std::iter::repeat_with(|| numbers.draw().to_le_bytes()).flatten().take(length).collect()
}

#[tokio::test]
async fn a_request_and_its_response_are_forwarded() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let answer = gateway.exchange(GET).await?;
    assert_eq!((answer.status, answer.text().as_str()), (200, "GET /a?b=c\n"));
    let requests = origin.log().until_requests(1).await?;
    assert_eq!(requests[0].host(), b"a.example");
    assert_eq!(requests[0].minor, 1);
    gateway.stop().await
}

#[tokio::test]
async fn a_connection_carries_many_requests_over_one_link() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    for number in 0..100 {
        let answer = client.exchange(format!("GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        ensure!(answer.is_keep_alive() && answer.text() == format!("GET /{number}\n"), "{answer:?}");
    }
    assert_eq!(origin.log().connections(), 1);
    gateway.stop().await
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let mut batch = Vec::new();
    for number in 0..30 {
        match number % 3 {
            0 => batch.extend(format!("GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n").bytes()),
            1 => batch.extend(
                format!("POST /{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc").bytes(),
            ),
            _ => batch.extend(
                format!("PUT /{number} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
                    .bytes(),
            ),
        }
    }
    client.send(&batch).await?;
    for number in 0..30 {
        let text = client.read_get_response().await?.text();
        let wanted =
            [format!("GET /{number}\n"), format!("POST /{number}\nabc"), format!("PUT /{number}\nx")];
        assert_eq!(text, wanted[number % 3]);
    }
    gateway.stop().await
}

#[tokio::test]
async fn bodies_of_any_length_pass_both_ways() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    for length in [0, 1, 1023, 65_535, 65_536, 65_537, 5_000_000] {
        let body = noise(length);
        let head = format!("POST /l HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
        let answer = client.exchange([head.as_bytes(), &body].concat()).await?;
        let echoed = answer.body.strip_prefix(b"POST /l\n").unwrap_or_default();
        ensure!(hash_of(echoed) == hash_of(&body), "{length} bytes came back as {}", echoed.len());
    }
    gateway.stop().await
}

#[tokio::test]
async fn chunks_pass_and_extensions_do_not() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let head = "POST /k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n";
    let answer =
        client.exchange(format!("{head}3;a=b;c=\"d\"\r\nabc\r\n2\r\nde\r\n0;e\r\nX-T: 1\r\n\r\n")).await?;
    assert_eq!(answer.text(), "POST /k\nabcde");
    let request = origin.log().until_requests(1).await?.remove(0);
    assert_eq!(request.framing, WireBodyFraming::Chunked);
    assert_eq!(request.fields.count("x-t"), 0, "a trailer field must not become a field of the head");
    assert_eq!(client.exchange(GET).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn trailers_reserved_for_the_gateway_are_dropped() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Authorization",
        "X-Forwarded-For",
        "Cookie",
        "Connection",
    ] {
        let answer = gateway
            .exchange(format!(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n{name}: 1\r\n\r\n"
            ))
            .await?;
        ensure!(matches!(answer.status, 200 | 400), "{name}: {}", answer.status);
    }
    for request in origin.log().requests() {
        ensure!(request.trailers.0.is_empty(), "{:?}", request.trailers);
    }
    gateway.stop().await
}

#[tokio::test]
async fn the_response_to_head_has_no_body() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        let head = if asked.request.target == b"/chunked" {
            "Transfer-Encoding: chunked"
        } else {
            "Content-Length: 1234"
        };
        if asked.request.method == b"HEAD" {
            return OriginScript::send(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n"));
        }
        OriginScript::send(response(200, "", "next"))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let answer = client.exchange("HEAD /length HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!((answer.status, answer.fields.text("content-length").as_str()), (200, "1234"));
    assert_eq!(client.exchange("HEAD /chunked HTTP/1.1\r\nHost: a\r\n\r\n").await?.status, 200);
    assert_eq!(client.exchange(GET).await?.text(), "next");
    assert_eq!(origin.log().connections(), 1, "the link stays usable after HEAD");
    gateway.stop().await
}

#[tokio::test]
async fn statuses_without_a_body_have_none() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        OriginScript::send(match &asked.request.target[..] {
            b"/204" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            b"/304" => b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 99\r\n\r\n".to_vec(),
            _ => response(200, "", "next"),
        })
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    for status in [204, 304] {
        let answer = client.exchange(format!("GET /{status} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        ensure!(answer.status == status && answer.fields.count("transfer-encoding") == 0, "{answer:?}");
        assert_eq!(client.exchange(GET).await?.text(), "next");
    }
    gateway.stop().await
}

#[tokio::test]
async fn interim_responses_reach_clients_that_support_them() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n".to_vec();
        OriginScript::steps([ScriptStep::Send(hints), ScriptStep::Send(response(200, "", "ok"))])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    let answer = client.answer("GET").await?;
    let interim: Vec<u16> = answer.interim.iter().map(|interim| interim.status).collect();
    ensure!(interim == [103] && answer.interim[0].fields.text("link") == "</s.css>", "{answer:?}");
    assert_eq!(answer.response.text(), "ok");
    let mut old = gateway.client().await?;
    old.send("GET / HTTP/1.0\r\n\r\n").await?;
    let answer = old.answer("GET").await?;
    ensure!(answer.interim.is_empty() && answer.response.text() == "ok", "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_client_that_expects_100_continue_gets_it_before_its_body() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n").await?;
    let interim = client.bytes().await?;
    ensure!(interim.starts_with(b"HTTP/1.1 100 "), "{:?}", String::from_utf8_lossy(interim));
    client.send("abc").await?;
    let answer = client.answer("POST").await?;
    assert_eq!(answer.response.text(), "POST /e\nabc");
    assert_eq!(client.exchange(GET).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn a_refused_expectation_leaves_no_bytes_behind() -> Result<()> {
    let origin = TapOrigin::with(|asked| match &asked.request.target[..] {
        b"/e" => OriginScript::at_head([
            ScriptStep::Send(response(403, "Connection: close\r\n", "no")),
            ScriptStep::Close,
        ]),
        _ => OriginScript::send(response(200, "", "next")),
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n").await?;
    let answer = client.answer("POST").await?.response;
    ensure!(matches!(answer.status, 403 | 502), "{answer:?}");
    // The body was never sent: either the connection is closed, or the next bytes are the body.
    if answer.is_keep_alive() {
        client.send([b"x".repeat(30), GET.into()].concat()).await?;
        assert_eq!(client.read_get_response().await?.text(), "next");
    } else {
        assert_eq!(client.end().await?.0, ConnectionEnd::Closed);
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_close_delimited_response_is_complete_for_new_and_old_clients() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        OriginScript::steps([
            ScriptStep::Send(b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nfirst ".to_vec()),
            ScriptStep::Send(b"last".to_vec()),
            ScriptStep::Close,
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    for _ in 0..3 {
        let answer = client.exchange(GET).await?;
        ensure!(answer.text() == "first last" && answer.framing == WireBodyFraming::Chunked, "{answer:?}");
    }
    let mut old = gateway.client().await?;
    let answer = old.exchange("GET / HTTP/1.0\r\n\r\n").await?;
    ensure!(answer.text() == "first last" && answer.framing == WireBodyFraming::UntilClose, "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_chunked_response_is_not_chunked_for_an_old_client() -> Result<()> {
    let chunks =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n";
    let origin = TapOrigin::with(move |_| OriginScript::send(chunks)).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut old = gateway.client().await?;
    let answer = old.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await?;
    ensure!(answer.text() == "abcde" && answer.framing == WireBodyFraming::UntilClose, "{answer:?}");
    ensure!(answer.fields.count("transfer-encoding") == 0, "{answer:?}");
    let new = gateway.exchange(GET).await?;
    ensure!(new.text() == "abcde" && new.framing == WireBodyFraming::Chunked, "{new:?}");
    gateway.stop().await
}

#[tokio::test]
async fn an_old_client_is_served_and_closed() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let answer = client.exchange("GET /old HTTP/1.0\r\n\r\n").await?;
    assert_eq!(answer.text(), "GET /old\n");
    assert_eq!(client.end().await?, (ConnectionEnd::Closed, Vec::new()));
    let mut kept = gateway.client().await?;
    let answer = kept.exchange("GET /old HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n").await?;
    if answer.is_keep_alive() {
        assert_eq!(kept.exchange("GET /2 HTTP/1.0\r\nHost: a\r\n\r\n").await?.text(), "GET /2\n");
    }
    assert_eq!(kept.end().await?.0, ConnectionEnd::Closed);
    gateway.stop().await
}

#[tokio::test]
async fn connection_close_of_a_client_is_honoured() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let answer = client.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await?;
    ensure!(answer.status == 200 && answer.fields.has_token("connection", "close"), "{answer:?}");
    assert_eq!(client.end().await?, (ConnectionEnd::Closed, Vec::new()));
    gateway.stop().await
}

#[tokio::test]
async fn a_half_closed_client_gets_its_response() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::AwaitGate(waiting.clone()),
            ScriptStep::Send(response(200, "", "late")),
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    client.finish_sending().await?;
    origin.log().until_requests(1).await?;
    gate.open();
    assert_eq!(client.read_get_response().await?.text(), "late");
    assert_eq!(client.end().await?.0, ConnectionEnd::Closed);
    gateway.stop().await
}

#[tokio::test]
async fn an_early_response_is_forwarded() -> Result<()> {
    let origin = TapOrigin::with(|asked| match &asked.request.target[..] {
        b"/early" => OriginScript::at_head([ScriptStep::Send(response(401, "", "early"))]),
        _ => OriginScript::send(response(200, "", "next")),
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345").await?;
    let answer = client.answer("POST").await?.response;
    ensure!((answer.status, answer.text().as_str()) == (401, "early"), "{answer:?}");
    if answer.is_keep_alive() && client.ended().is_none() {
        client.send(format!("67890{GET}")).await?;
        assert_eq!(client.read_get_response().await?.text(), "next");
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_client_that_keeps_sending_after_an_early_response_is_read_for_a_while() -> Result<()> {
    let origin =
        TapOrigin::with(|_| OriginScript::at_head([ScriptStep::Send(response(413, "", "too large"))]))
            .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for (length, is_read) in [(1_000_000, true), (64 << 20, false)] {
        // A small send buffer keeps the data out of the kernel, so that the test knows how much was read.
        let socket = TcpSocket::new_v4()?;
        socket.set_send_buffer_size(16 * 1024)?;
        let mut client = within("a connection", socket.connect(gateway.address())).await??;
        let head = format!("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
        client.write_all(head.as_bytes()).await?;
        let mut answer = String::new();
        within("the answer", client.read_to_string(&mut answer)).await??;
        ensure!(answer.starts_with("HTTP/1.1 413 ") && answer.ends_with("too large"), "{answer}");
        let sent = within("room", client.write_all(&vec![7; length])).await?;
        ensure!(sent.is_ok() == is_read, "{length}: {sent:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn both_directions_flow_concurrently() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n".to_vec();
        OriginScript::at_head([
            ScriptStep::Send(head),
            ScriptStep::AwaitRequest,
            ScriptStep::Send(b"4\r\nlast\r\n0\r\n\r\n".to_vec()),
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc").await?;
    let first = client.bytes().await?;
    ensure!(first.starts_with(b"HTTP/1.1 200"), "the response begins before the request ends");
    client.send("def").await?;
    assert_eq!(client.answer("POST").await?.response.text(), "firstlast");
    assert_eq!(origin.log().until_requests(1).await?[0].body, b"abcdef");
    gateway.stop().await
}

#[tokio::test]
async fn a_slow_response_is_forwarded_as_it_arrives() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst".to_vec()),
            ScriptStep::AwaitGate(waiting.clone()),
            ScriptStep::Send(b"again".to_vec()),
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    client.until_unused(b"first").await?;
    gate.open();
    assert_eq!(client.read_get_response().await?.text(), "firstagain");
    gateway.stop().await
}

#[tokio::test]
async fn a_request_in_single_bytes_is_one_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let diag = eddy_e2e::wire::SocketDiag::open();
    let raw = b"POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    client.send_in(raw, Segments::Bytes, diag.as_ref()).await?;
    assert_eq!(client.answer("POST").await?.response.text(), "POST /b\nabc");
    gateway.stop().await
}

#[tokio::test]
async fn a_large_response_waits_for_a_slow_reader() -> Result<()> {
    let body = noise(4_000_000);
    let (sent, hash) = (response(200, "", &body), hash_of(&body));
    let origin = TapOrigin::with(move |_| OriginScript::send(sent.clone())).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    client.read_little()?;
    client.send(GET).await?;
    // The client reads nothing until nothing more arrives: the gateway must wait with what does not fit its buffers.
    within("the first bytes", async {
        while client.unread()? == 0 {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await??;
    until_steady("a full receive buffer", async || client.unread()).await?;
    assert_eq!(hash_of(&client.read_get_response().await?.body), hash);
    gateway.stop().await
}

#[tokio::test]
async fn the_absolute_form_names_the_host() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let answer = gateway.exchange("GET http://b.example:81/p?q HTTP/1.1\r\nHost: a.example\r\n\r\n").await?;
    assert_eq!(answer.text(), "GET /p?q\n");
    let request = origin.log().until_requests(1).await?.remove(0);
    assert_eq!(request.host(), b"b.example:81");
    let mut client = WireClient::connect(gateway.address()).await?;
    assert_eq!(client.exchange("GET http://b.example HTTP/1.1\r\nHost: a\r\n\r\n").await?.text(), "GET /\n");
    gateway.stop().await
}
