//! One case: bytes, what should come of them, and why.

use std::path::Path;

use anyhow::{Context, Result};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

/// A framing case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramingCase {
    /// The collection that the case comes from.
    pub source: String,
    /// Names the case in its collection.
    pub id: String,
    /// What `raw` is.
    pub kind: FramingCaseKind,
    /// The bytes.
    pub raw: Vec<u8>,
    /// What should come of them.
    pub expect: Expect,
    /// Why, with the section of the RFC.
    pub why: String,
    /// How many whole messages stand before the one that `expect` speaks of; of an accepted case all count.
    pub before: usize,
    /// The method that a response answers.
    pub method: String,
}

/// What the bytes of a case are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingCaseKind {
    /// Bytes of a client.
    Request,
    /// Bytes of an origin.
    Response,
    /// Field lines without a start line: not for a gateway.
    Other,
}

/// What should come of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// It is forwarded, and read the same by everybody.
    Accept,
    /// It is refused: nothing whole goes on.
    Reject,
    /// Either, as long as nobody disagrees about what goes on.
    Any,
}

/// A case as its line in a file.
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
    /// The case as a line of JSON.
    ///
    /// # Errors
    /// When JSON cannot say it.
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

    /// Reads a case from a line of JSON.
    ///
    /// # Errors
    /// When the line is not of the corpus schema.
    pub fn from_line(text: &str) -> Result<Self> {
        let line: FramingCaseRecord = serde_json::from_str(text).context("not a line of a corpus")?;
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

    /// The same case with a `Host` behind its request line, if it is an HTTP/1.1 request that lacks one.
    ///
    /// Collections that leave `Host` out would otherwise show no more than that (RFC 9112 §3.2).
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

    /// The case's name among all collections.
    pub fn name(&self) -> String {
        format!("{}/{}", self.source, self.id)
    }
}

/// Reads all `*.jsonl` files of `folder`, in the order of their names.
///
/// # Errors
/// When a file cannot be read or a line is not of the schema; says which.
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
