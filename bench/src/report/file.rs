//! Text of a results file: JSON with a line per row.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::results::Results;

/// Returns the results as JSON, each row and ratio on a line of its own.
///
/// # Errors
/// Errors of the serialization.
pub fn json(results: &Results) -> Result<String> {
    let mut bytes = Vec::new();
    results.serialize(&mut Serializer::with_formatter(&mut bytes, RowFormatter::default()))?;
    bytes.push(b'\n');
    Ok(String::from_utf8(bytes)?)
}

/// Breaks lines in the outermost containers only.
#[derive(Default)]
struct RowFormatter {
    /// Number of open arrays and objects.
    depth: usize,
    has_items: bool,
}

impl RowFormatter {
    fn open(&mut self, out: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_items = false;
        out.write_all(bracket)
    }

    fn close(&mut self, out: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        let breaks = self.depth <= DEPTH_MAX && self.has_items;
        self.depth -= 1;
        if breaks {
            self.break_line(out)?;
        }
        self.has_items = true;
        out.write_all(bracket)
    }

    fn begin_item(&mut self, out: &mut (impl ?Sized + Write), first: bool) -> io::Result<()> {
        self.has_items = true;
        if self.depth <= DEPTH_MAX {
            out.write_all(if first { b"" } else { b"," })?;
            return self.break_line(out);
        }
        out.write_all(if first { b"" } else { b", " })
    }

    fn break_line(&self, out: &mut (impl ?Sized + Write)) -> io::Result<()> {
        write!(out, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for RowFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_item(out, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_item(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// Containers whose items have lines of their own: the results, and their lists.
const DEPTH_MAX: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::results;

    #[test]
    fn each_row_is_one_line_and_round_trips() {
        let results = results();
        let text = json(&results).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("    {\"scenario\": ")).count();
        assert_eq!(lines, results.rows.len() + results.ratios.len(), "{text}");
        assert!(text.starts_with("{\n  \"name\": \"test\",\n") && text.ends_with("\n}\n"), "{text}");
        assert!(text.contains("\"faults\": []"), "{text}");
        let again: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(json(&again).unwrap(), text);
    }
}
