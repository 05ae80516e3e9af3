//! Published page of the support for each annotation.

use std::fmt::Write as _;

use super::catalogue::{KNOWN, is_guard};
use crate::nginx::Use;

/// Returns the page of ingress-nginx's annotations in eddy, as Markdown.
pub fn annotations_page() -> String {
    let mut out = String::from(HEAD);
    for known in KNOWN {
        let (word, note) = match known.use_ {
            Use::Refused(note) if is_guard(known.name) => ("**refused** even with `--lenient`: ", note),
            Use::Read(_) | Use::Idle(_) | Use::Warned(_) | Use::Refused(_) => known.use_.words(),
        };
        // Writing to a string never fails.
        let _ = writeln!(out, "| `{}` | {word}{note} |", known.name);
    }
    out
}

const HEAD: &str = "\
# ingress-nginx's annotations in eddy

This page is generated from the code: every annotation of ingress-nginx 1.15, without its prefix
`nginx.ingress.kubernetes.io/`. A refused annotation is an error with file, line and column; `--lenient` turns it into a
warning and ignores the annotation. The same applies to annotations that are not on this page. A refused switch is allowed
with the value `\"false\"`. How to run Ingresses, and where eddy differs, is in [the guide](../guide/ingress.md) and in
[divergences](divergences.md).

| annotation | in eddy |
|---|---|
";
