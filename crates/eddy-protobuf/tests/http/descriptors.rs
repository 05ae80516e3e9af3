//! Descriptors with arbitrary rules for tests.

use std::sync::Arc;

use eddy_protobuf::{HttpIndex, HttpIndexOptions, HttpRuleError, Schema};

/// A rule: the number of the field with its path, the path, `body`, `response_body`, and nested bindings.
#[derive(Clone, Copy)]
pub(crate) struct TestHttpRule<'t>(
    pub(crate) u8,
    pub(crate) &'t str,
    pub(crate) &'t str,
    pub(crate) &'t str,
    pub(crate) &'t [Self],
);

/// Returns an index of the service `t.S`, with a method `M0`, `M1`... for each rule, all from and to
/// `message t.M { string a = 1; repeated string r = 2; M m = 3; int32 n = 4; }`.
pub(crate) fn index(rules: &[TestHttpRule<'_>]) -> Result<HttpIndex, Vec<HttpRuleError>> {
    let field = |name: &str, number: u8, label: u8, kind: u8| {
        let named = if kind == 11 { text(6, ".t.M") } else { Vec::new() };
        bytes(2, &[text(1, name), vec![0x18, number, 0x20, label, 0x28, kind], named].concat())
    };
    let message =
        [text(1, "M"), field("a", 1, 1, 9), field("r", 2, 3, 9), field("m", 3, 1, 11), field("n", 4, 1, 5)]
            .concat();
    let methods: Vec<u8> = rules
        .iter()
        .enumerate()
        .flat_map(|(at, rule)| {
            let options = bytes(72_295_728, &rule.bytes());
            let method =
                [text(1, &format!("M{at}")), text(2, ".t.M"), text(3, ".t.M"), bytes(4, &options)].concat();
            bytes(2, &method)
        })
        .collect();
    let service = [text(1, "S"), methods].concat();
    let file = [text(1, "t.proto"), text(2, "t"), bytes(4, &message), bytes(6, &service), text(12, "proto3")]
        .concat();
    let schema = Schema::from_descriptors(&bytes(1, &file)).unwrap();
    HttpIndex::new(Arc::new(schema), HttpIndexOptions::default())
}

impl TestHttpRule<'_> {
    fn bytes(&self) -> Vec<u8> {
        let Self(number, path, body, response_body, bindings) = self;
        let path = match number {
            8 => bytes(8, &[text(1, "PURGE"), text(2, path)].concat()),
            0 => Vec::new(),
            _ => text((*number).into(), path),
        };
        let bindings: Vec<u8> = bindings.iter().flat_map(|rule| bytes(11, &rule.bytes())).collect();
        [path, text(7, body), text(12, response_body), bindings].concat()
    }
}

fn text(number: u32, text: &str) -> Vec<u8> {
    if text.is_empty() { Vec::new() } else { bytes(number, text.as_bytes()) }
}

fn bytes(number: u32, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for mut varint in [u64::from(number) << 3 | 2, value.len() as u64] {
        while varint >= 0x80 {
            out.push(varint.to_le_bytes()[0] | 0x80);
            varint >>= 7;
        }
        out.push(varint.to_le_bytes()[0]);
    }
    out.extend_from_slice(value);
    out
}
