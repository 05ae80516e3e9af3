//! One framing case: the bytes, the expected handling, and the reason.

use std::path::Path;

use anyhow::{Context, Result};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

/// A framing case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramingCase {
    /// Name of the collection that contains the case.
    pub source: String,
    /// Identifier of the case in its collection.
    pub id: String,
    /// Kind of message that `raw` holds.
    pub kind: FramingCaseKind,
    /// Bytes of the case.
    pub raw: Vec<u8>,
    /// Expected handling.
    pub expect: Expect,
    /// Reason for the expectation, with the section of the RFC.
    pub why: String,
    /// Number of complete messages before the one that `expect` refers to. An accepted case is accepted as a whole.
    pub before: usize,
    /// Method of the request that a response answers.
    pub method: String,
}

/// Kind of message in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingCaseKind {
    /// Bytes from a client.
    Request,
    /// Bytes from an origin.
    Response,
    /// Field lines without a start line, which are not sent through a gateway.
    Other,
}

/// Expected handling of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// Forwarded, and interpreted identically by all parsers.
    Accept,
    /// Rejected: no complete message is forwarded.
    Reject,
    /// Forwarded or rejected, as long as all parsers agree on what is forwarded.
    Any,
}

/// A case as a line of a corpus file.
#[derive(Serialize, Deserialize)]
struct FramingCaseRecord {
    src: String,
    id: String,
    kind: String,
    raw: String,
    expect: Expect,
    why: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    before: usize,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    method: String,
}

impl FramingCase {
    /// Formats the case as a line of JSON.
    ///
    /// # Errors
    /// When the case cannot be represented in JSON.
    pub fn to_line(&self) -> Result<String> {
        let kind = match self.kind {
            FramingCaseKind::Request => "request",
            FramingCaseKind::Response => "response",
            FramingCaseKind::Other => "other",
        };
        let line = FramingCaseRecord {
            src: self.source.clone(),
            id: self.id.clone(),
            kind: kind.into(),
            raw: BASE64.encode(&self.raw),
            expect: self.expect,
            why: self.why.clone(),
            before: self.before,
            method: if self.method == "GET" { String::new() } else { self.method.clone() },
        };
        serde_json::to_string(&line).context("cannot write a case")
    }

    /// Parses a case from a line of JSON.
    ///
    /// # Errors
    /// When the line does not match the corpus schema.
    pub fn from_line(text: &str) -> Result<Self> {
        let line: FramingCaseRecord = serde_json::from_str(text).context("not a corpus line")?;
        let kind = match line.kind.as_str() {
            "request" => FramingCaseKind::Request,
            "response" => FramingCaseKind::Response,
            _ => FramingCaseKind::Other,
        };
        let raw = BASE64.decode(line.raw.as_bytes()).with_context(|| format!("raw of {:?}", line.id))?;
        let method = if line.method.is_empty() { "GET".into() } else { line.method };
        Ok(Self {
            source: line.src,
            id: line.id,
            kind,
            raw,
            expect: line.expect,
            why: line.why,
            before: line.before,
            method,
        })
    }

    /// Returns the case with a `Host` after the request line, if it is an HTTP/1.1 request without one.
    ///
    /// Otherwise, cases of collections without `Host` would only test its absence (RFC 9112 §3.2).
    pub fn with_host(&self) -> Option<Self> {
        let line = self.raw.windows(2).position(|window| window == b"\r\n")?;
        let (head, rest) = self.raw.split_at(line + 2);
        let lacks_host = !rest.windows(5).any(|window| window.eq_ignore_ascii_case(b"\nhost"))
            && !rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"host"));
        let is_current = head.ends_with(b"HTTP/1.1\r\n") && self.kind == FramingCaseKind::Request;
        (is_current && lacks_host).then(|| Self {
            id: format!("{} +host", self.id),
            raw: [head, b"Host: a.example\r\n", rest].concat(),
            ..self.clone()
        })
    }

    /// Returns the unique name of the case among all collections.
    pub fn name(&self) -> String {
        format!("{}/{}", self.source, self.id)
    }
}

/// Reads all `*.jsonl` files of `folder`, sorted by name.
///
/// # Errors
/// When a file cannot be read or a line does not match the schema; the error names it.
pub fn read_cases(folder: &Path) -> Result<Vec<FramingCase>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case = FramingCase::from_line(line);
            cases.push(case.with_context(|| format!("{}:{}", path.display(), number + 1))?);
        }
    }
    Ok(cases)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
