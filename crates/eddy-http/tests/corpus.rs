//! Tests with externally collected heads, each with the expected verdict.
//!
//! The directory in `EDDY_CORPUS` holds JSON objects, one per line: `id`, `kind` (`request`, `response`, or
//! `headers-or-request` for either), `raw` (base64) and `expect` (`accept`, `reject` or `any`). Heads that eddy rejects
//! although others accept them are listed, each with its fault and the reason, in `corpus_exceptions.txt`.
//!
//! Many of these requests have no `Host` and are rejected for that alone, which would hide their actual subject: they
//! are checked a second time with a `Host`, under their ID and ` + host`.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::HashMap;
use std::path::Path;

use eddy_http::{
    ChunkDecoder, ChunkLimits, ChunkStep, HeadFault, HeadLimits, HeadScanner, Method, RequestBody,
    RequestHead, ResponseBody, ResponseHead,
};
use serde_json::Value;

const EXCEPTIONS: &str = include_str!("corpus_exceptions.txt");

/// Reason code of the fault of a message, if any.
type CorpusVerdict = Result<(), &'static str>;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test asks where its data is")]
fn public_test_corpora_are_judged_as_expected() {
    let Ok(folder) = std::env::var("EDDY_CORPUS") else {
        println!("EDDY_CORPUS is not set: no case was run");
        return;
    };
    let mut run = CorpusRun::default();
    let mut files: Vec<_> =
        std::fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            run.case(&serde_json::from_str(line).unwrap());
        }
    }
    println!(
        "{} cases: {} accepted, {} refused, {} of these by exception",
        run.cases, run.accepted, run.refused, run.excepted
    );
    assert!(run.faults.is_empty(), "{} faults\n{}", run.faults.len(), run.faults.join("\n"));
    assert!(run.cases > 0, "no case in {folder}");
}

#[test]
fn every_exception_has_a_reason() {
    assert!(exceptions().values().all(|(fault, reason)| !fault.is_empty() && reason.len() > 10));
}

#[derive(Debug, Default)]
struct CorpusRun {
    cases: usize,
    accepted: usize,
    refused: usize,
    excepted: usize,
    faults: Vec<String>,
}

impl CorpusRun {
    fn case(&mut self, case: &Value) {
        let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, expect) = (text("id"), text("expect"));
        let raw = decode_base64(text("raw"));
        match text("kind") {
            "response" => {
                let method = Method::from_bytes(text("method").as_bytes());
                self.note(id, expect, judge_response(&raw, method), &raw);
            }
            "request" => {
                let verdict = judge_request(&raw);
                self.note(id, expect, verdict, &raw);
                let is_about_host = text("why").contains("Host");
                if verdict == Err(HeadFault::HostMissing.reason()) && !is_about_host {
                    let raw = with_host(&raw);
                    self.note(&format!("{id} + host"), expect, judge_request(&raw), &raw);
                }
            }
            _ => self.note(id, expect, judge_fields(&raw).or_else(|_| judge_request(&raw)), &raw),
        }
    }

    fn note(&mut self, id: &str, expect: &str, verdict: CorpusVerdict, raw: &[u8]) {
        self.cases += 1;
        match verdict {
            Ok(()) => self.accepted += 1,
            Err(_) => self.refused += 1,
        }
        match (expect, verdict) {
            ("accept", Err(fault)) if exceptions().get(id).is_some_and(|(word, _)| *word == fault) => {
                self.excepted += 1;
            }
            ("accept", Err(_)) | ("reject", Ok(())) => {
                let shown = String::from_utf8_lossy(raw);
                self.faults.push(format!("{id}: {expect} expected, found {verdict:?}: {shown:?}"));
            }
            _ => {}
        }
    }
}

/// Returns the same request with a `Host` after its first line.
fn with_host(raw: &[u8]) -> Vec<u8> {
    let end = raw.windows(2).position(|pair| pair == b"\r\n").map_or(0, |at| at + 2);
    [&raw[..end], b"Host: www.example.com\r\n", &raw[end..]].concat()
}

/// Parses bare fields as a trailer section, the only context where they occur alone.
fn judge_fields(raw: &[u8]) -> CorpusVerdict {
    match judge_chunks(&[b"0\r\n", raw].concat()) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("unfinished"),
        Err(fault) => Err(fault),
    }
}

/// Parses consecutive requests; an incomplete body or head is not a fault.
fn judge_request(raw: &[u8]) -> CorpusVerdict {
    let limits = HeadLimits::default();
    let mut head = RequestHead::new();
    let mut rest = raw;
    loop {
        let Some(end) = HeadScanner::new().scan(rest, &limits).map_err(HeadFault::reason)? else {
            return if rest.len() == raw.len() { Err("unfinished") } else { Ok(()) };
        };
        let (bytes, body) = rest.split_at(end);
        head.parse(bytes, &limits).map_err(HeadFault::reason)?;
        let taken = match head.body {
            RequestBody::None => Some(0),
            RequestBody::Length(length) => {
                usize::try_from(length).ok().filter(|length| *length <= body.len())
            }
            RequestBody::Chunked => judge_chunks(body)?,
        };
        match taken {
            Some(taken) if taken < body.len() => rest = &body[taken..],
            _ => return Ok(()),
        }
    }
}

/// Parses interim responses and the following final one, which must be complete.
fn judge_response(raw: &[u8], method: Method) -> CorpusVerdict {
    let limits = HeadLimits::default();
    let mut head = ResponseHead::new();
    let mut rest = raw;
    loop {
        let mut scanner = HeadScanner::for_responses();
        let end = scanner.scan(rest, &limits).map_err(HeadFault::reason)?.ok_or("unfinished")?;
        let (bytes, body) = rest.split_at(end);
        head.parse(bytes, &limits, method).map_err(HeadFault::reason)?;
        rest = body;
        if head.is_interim() {
            continue;
        }
        let is_complete = match head.body {
            ResponseBody::None | ResponseBody::UntilClose => true,
            ResponseBody::Length(length) => body.len() as u64 >= length,
            ResponseBody::Chunked => judge_chunks(body)?.is_some(),
        };
        return if is_complete { Ok(()) } else { Err("unfinished") };
    }
}

/// Returns the length of a chunked body, if it is complete.
fn judge_chunks(body: &[u8]) -> Result<Option<usize>, &'static str> {
    let mut decoder = ChunkDecoder::new(ChunkLimits::default());
    let mut at = 0;
    loop {
        match decoder.decode(&body[at..]).map_err(|fault| fault.reason())? {
            ChunkStep::Data { skip, len } => at += skip + len,
            ChunkStep::More { .. } => return Ok(None),
            ChunkStep::Done { consumed } => return Ok(Some(at + consumed)),
        }
    }
}

/// Returns the exceptions by ID: fault and reason. The line format is `id = fault: reason`; `# ` begins a comment.
fn exceptions() -> HashMap<&'static str, (&'static str, &'static str)> {
    let lines = EXCEPTIONS.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines
        .map(|line| {
            let (id, rest) = line.rsplit_once(" = ").expect("an exception has an id");
            (id, rest.split_once(": ").expect("an exception has a fault and a reason"))
        })
        .collect()
}

fn decode_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff).try_into().unwrap());
        }
    }
    out
}
