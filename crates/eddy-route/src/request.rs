//! Router input: the parts of a request that rules match on, and the scratch memory of a worker.

use eddy_http::Fields;

use crate::compile::{PatternScratch, strip_parameters};
use crate::normalise::hex_value;

/// A request as the router sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteRequest<'a> {
    /// Host without port, in any letter case; empty if the request has none.
    pub host: &'a [u8],
    /// Host with its port, if it has one.
    pub authority: &'a [u8],
    /// Normalised path.
    pub path: &'a [u8],
    /// Query without `?`; empty if there is none.
    pub query: &'a [u8],
    /// Path with `?` and the query, as it would be sent upstream without a rewrite.
    pub target: &'a [u8],
    /// `http` or `https`.
    pub scheme: &'a [u8],
    /// Method as sent.
    pub method: &'a [u8],
    /// Random number that decides whether the request belongs to a rule's fraction.
    pub random: u64,
    /// Header fields as sent.
    pub fields: Fields<'a>,
}

impl<'a> RouteRequest<'a> {
    /// Returns the path without the part after `;` in each segment.
    pub(crate) fn strip_path<'o>(&self, out: &'o mut Vec<u8>) -> &'o [u8]
    where
        'a: 'o,
    {
        let path = self.path();
        if memchr::memchr(b';', path).is_none() {
            return path;
        }
        strip_parameters(path, out);
        out
    }

    /// Returns the path, or `/` if it is empty.
    pub(crate) fn path(&self) -> &'a [u8] {
        if self.path.is_empty() { b"/" } else { self.path }
    }
}

/// Scratch memory of lookups; one per worker, reused for each request.
///
/// Nothing in it outlives a call: a lookup leaves no state that another call reads.
#[derive(Debug, Default)]
pub struct RouteScratch {
    pub(crate) host: Vec<u8>,
    pub(crate) query: QueryPairs,
    pub(crate) pattern: PatternScratch,
    /// Scopes that match the request's host.
    pub(crate) scopes: Vec<u32>,
    /// Closed tables whose most specific host was searched.
    pub(crate) closed: Vec<u32>,
    /// Path without parameters.
    pub(crate) stripped: Vec<u8>,
    /// Path in lower case.
    pub(crate) folded: Vec<u8>,
    /// Branches of the path trie still to walk, each with its position in the path.
    pub(crate) branches: Vec<(u32, usize)>,
    /// Lists of rules found on the walk.
    pub(crate) lists: Vec<u32>,
}

impl RouteScratch {
    /// Creates empty scratch memory; it grows with the first requests and keeps its size then.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Decoded parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct QueryPairs {
    bytes: Vec<u8>,
    pairs: Vec<QueryPair>,
}

/// Position of a parameter in the decoded bytes: its name up to `name_end`, then its value.
#[derive(Debug)]
struct QueryPair {
    start: usize,
    name_end: usize,
    end: usize,
}

impl QueryPairs {
    /// Decodes a query as encoded by HTML forms: parameters separated by `&`, `+` for a space, percent-escapes.
    ///
    /// A `%` that does not begin an escape is kept. The number of parameters is limited by the length of the query.
    pub(crate) fn read(&mut self, query: &[u8]) {
        self.bytes.clear();
        self.pairs.clear();
        for part in query.split(|byte| *byte == b'&').filter(|part| !part.is_empty()) {
            let start = self.bytes.len();
            let (name, value) = match memchr::memchr(b'=', part) {
                Some(at) => (&part[..at], &part[at + 1..]),
                None => (part, &part[part.len()..]),
            };
            self.decode(name);
            let name_end = self.bytes.len();
            self.decode(value);
            self.pairs.push(QueryPair { start, name_end, end: self.bytes.len() });
        }
    }

    /// Returns the value of the first parameter with this name.
    pub(crate) fn first(&self, name: &[u8]) -> Option<&[u8]> {
        let pair = self.pairs.iter().find(|pair| &self.bytes[pair.start..pair.name_end] == name)?;
        Some(&self.bytes[pair.name_end..pair.end])
    }

    fn decode(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            let decoded = match (byte, tail) {
                (b'+', _) => b' ',
                (b'%', [high, low, after @ ..]) => match (hex_value(*high), hex_value(*low)) {
                    (Some(high), Some(low)) => {
                        rest = after;
                        high << 4 | low
                    }
                    _ => b'%',
                },
                _ => byte,
            };
            self.bytes.push(decoded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QueryPairs;

    fn check(query: &str, name: &str, expected: Option<&str>) {
        let mut pairs = QueryPairs::default();
        pairs.read(b"left=over");
        pairs.read(query.as_bytes());
        assert_eq!(pairs.first(name.as_bytes()), expected.map(str::as_bytes), "{query} {name}");
    }

    #[test]
    fn reads_parameters_as_forms_write_them() {
        check("a=1&b=2", "b", Some("2"));
        check("a=1&a=2", "a", Some("1"));
        check("a", "a", Some(""));
        check("a=", "a", Some(""));
        check("", "", None);
        check("&&a=b=c&", "a", Some("b=c"));
        check("%61=%31", "a", Some("1"));
        check("a=x+y%2Bz", "a", Some("x y+z"));
        check("a=%zz%4", "a", Some("%zz%4"));
        check("left2=1", "left", None);
        check("a=1;b=2", "b", None);
    }
}
