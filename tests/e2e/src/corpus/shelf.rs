//! Shelves: eddy's own cases by subject, one corpus file each.

use anyhow::Result;

use super::case::{Expect, FramingCase, FramingCaseKind};
use super::{
    request_chunks, request_coding, request_fields, request_host, request_length, request_line,
    request_sequence, response_body, response_head,
};

/// Cases of one subject, which form one file of the corpus.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// File name without extension, and the first part of each id.
    pub name: &'static str,
    /// Cases of the shelf.
    pub cases: Vec<FramingCase>,
    kind: FramingCaseKind,
}

/// Returns all of eddy's own cases.
pub fn eddy_case_files() -> Vec<CaseFile> {
    vec![
        CaseFile::filled("request-line", FramingCaseKind::Request, request_line::fill),
        CaseFile::filled("request-host", FramingCaseKind::Request, request_host::fill),
        CaseFile::filled("request-fields", FramingCaseKind::Request, request_fields::fill),
        CaseFile::filled("request-length", FramingCaseKind::Request, request_length::fill),
        CaseFile::filled("request-coding", FramingCaseKind::Request, request_coding::fill),
        CaseFile::filled("request-chunks", FramingCaseKind::Request, request_chunks::fill),
        CaseFile::filled("request-sequence", FramingCaseKind::Request, request_sequence::fill),
        CaseFile::filled("response-head", FramingCaseKind::Response, response_head::fill),
        CaseFile::filled("response-body", FramingCaseKind::Response, response_body::fill),
    ]
}

impl CaseFile {
    fn filled(name: &'static str, kind: FramingCaseKind, fill: fn(&mut Self)) -> Self {
        let mut shelf = Self { name, cases: Vec::new(), kind };
        fill(&mut shelf);
        shelf
    }

    /// Formats the shelf as a corpus file, one case per line.
    ///
    /// # Errors
    /// When a case cannot be represented in JSON.
    pub fn to_lines(&self) -> Result<String> {
        self.cases.iter().map(|case| case.to_line().map(|line| line + "\n")).collect()
    }

    /// Adds a case that must be forwarded.
    pub(super) fn accept(&mut self, id: &str, raw: impl AsRef<[u8]>, why: &str) {
        self.add(id, raw.as_ref(), Expect::Accept, why);
    }

    /// Adds a case that must be rejected.
    pub(super) fn reject(&mut self, id: &str, raw: impl AsRef<[u8]>, why: &str) {
        self.add(id, raw.as_ref(), Expect::Reject, why);
    }

    /// Adds a case that may be forwarded or rejected, as long as all parsers agree on what is forwarded.
    pub(super) fn any(&mut self, id: &str, raw: impl AsRef<[u8]>, why: &str) {
        self.add(id, raw.as_ref(), Expect::Any, why);
    }

    /// Adds a case whose first `before` messages are forwarded and whose next message is rejected.
    pub(super) fn reject_after(&mut self, before: usize, id: &str, raw: impl AsRef<[u8]>, why: &str) {
        self.add(id, raw.as_ref(), Expect::Reject, why);
        if let Some(case) = self.cases.last_mut() {
            case.before = before;
        }
    }

    /// Declares that the last added case responds to a request with `method`.
    pub(super) fn answers(&mut self, method: &str) {
        if let Some(case) = self.cases.last_mut() {
            method.clone_into(&mut case.method);
        }
    }

    fn add(&mut self, id: &str, raw: &[u8], expect: Expect, why: &str) {
        let id = format!("{}/{id}", self.name);
        debug_assert!(self.cases.iter().all(|case| case.id != id), "two cases are called {id}");
        self.cases.push(FramingCase {
            source: "eddy".into(),
            id,
            kind: self.kind,
            raw: raw.to_vec(),
            expect,
            why: why.into(),
            before: 0,
            method: "GET".into(),
        });
    }
}

/// Concatenates `parts`.
pub(super) fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
