use super::{Panel, SeenMessage};

fn message(method: &str, target: &str, body: &[u8]) -> SeenMessage {
    SeenMessage { method: method.into(), target: target.into(), host: "a".into(), body: body.to_vec() }
}

#[tokio::test]
async fn every_parser_agrees_on_plain_requests() {
    let mut panel = Panel::start().await.unwrap();
    println!("{}", panel.describe());
    let plain: [(&[u8], SeenMessage); 4] = [
        (b"GET /a?b=%20 HTTP/1.1\r\nHost: a\r\n\r\n", message("GET", "/a?b=%20", b"")),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", message("POST", "/", b"abc")),
        (
            b"PUT //x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            message("PUT", "//x", b"abc"),
        ),
        (
            b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n",
            message("PUT", "/", b"a"),
        ),
    ];
    for (raw, expected) in plain {
        let verdict = panel.judge_whole(raw, &expected).await.unwrap();
        // tiny_http does not support trailers and refuses them; a refusal is not a misinterpretation.
        let refuse: Vec<_> = verdict.refuse.iter().filter(|(name, _)| *name != "tiny_http").collect();
        assert!(verdict.disagree.is_empty() && refuse.is_empty(), "{expected:?}: {verdict:?}");
        for cut in [1, raw.len() / 2, raw.len() - 1] {
            let verdict = panel.judge_cut(&raw[..cut]).await.unwrap();
            assert!(verdict.disagree.is_empty(), "cut at {cut}: {verdict:?}");
        }
    }
}

#[tokio::test]
async fn an_ambiguous_message_is_detected() {
    let mut panel = Panel::start().await.unwrap();
    let raw =
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let verdict = panel.judge_whole(raw, &message("POST", "/", b"0\r\n\r\n")).await.unwrap();
    assert!(!verdict.disagree.is_empty(), "{verdict:?}");
}
