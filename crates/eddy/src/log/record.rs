//! One log entry and its formatting as a line.

use std::fmt::{self, Write};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::Level;
use tracing::field::{Field, Visit};

/// Format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogLineFormat {
    /// Text.
    Plain,
    /// Text with colours, for a terminal.
    Colour,
    /// JSON object.
    Json,
}

/// Log entry that is being filled from an event.
#[derive(Debug)]
pub(super) struct LogRecord {
    time: Timestamp,
    level: Level,
    process: &'static str,
    message: String,
    fields: Map<String, Value>,
}

impl LogRecord {
    /// Creates an empty entry with the current time.
    pub(super) fn new(level: Level, process: &'static str) -> Self {
        Self { time: Timestamp::now(), level, process, message: String::new(), fields: Map::new() }
    }

    /// Formats the entry as one line including its line break, whatever bytes its fields contain.
    pub(super) fn line(self, form: LogLineFormat) -> String {
        let mut line = match form {
            LogLineFormat::Json => self.json(),
            LogLineFormat::Plain => self.text(""),
            LogLineFormat::Colour => self.text(colour(self.level)),
        };
        if line.len() > LINE_BYTES_MAX {
            line.truncate(line.floor_char_boundary(LINE_BYTES_MAX));
        }
        line.push('\n');
        line
    }

    fn json(self) -> String {
        let mut object = Map::new();
        object.insert("time".to_owned(), self.time().into());
        object.insert("level".to_owned(), self.level.as_str().to_ascii_lowercase().into());
        object.insert("process".to_owned(), self.process.into());
        object.insert("pid".to_owned(), std::process::id().into());
        object.insert("message".to_owned(), shortened(self.message).into());
        for (name, value) in self.fields {
            let value = if let Value::String(text) = value { shortened(text).into() } else { value };
            object.entry(name).or_insert(value);
        }
        Value::Object(object).to_string()
    }

    fn text(&self, colour: &str) -> String {
        let reset = if colour.is_empty() { "" } else { "\x1b[0m" };
        let mut line = format!("{} {colour}{:5}{reset} {}: ", self.time(), self.level.as_str(), self.process);
        push_visible(&mut line, &self.message);
        for (name, value) in &self.fields {
            let _ = write!(line, " {name}=");
            match value.as_str() {
                Some(text) if is_plain(text) => line.push_str(text),
                Some(_) | None => line.push_str(&value.to_string()),
            }
        }
        line
    }

    fn time(&self) -> String {
        format!("{:.3}", self.time)
    }

    fn set(&mut self, field: &Field, value: Value) {
        self.fields.insert(field.name().to_owned(), value);
    }
}

impl Visit for LogRecord {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.set(field, format!("{value:?}").into());
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.set(field, value.into());
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }
}

/// Whether a value can appear in a text line without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| !c.is_control() && !c.is_whitespace() && c != '"' && c != '=')
}

/// Appends `text` with escaped control characters, so that one entry cannot look like two.
fn push_visible(line: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
}

/// Truncates a text. A JSON line must stay complete, so its long texts are truncated instead.
fn shortened(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    }
    text
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        Level::DEBUG | Level::TRACE => "\x1b[2m",
    }
}

const LINE_BYTES_MAX: usize = 8 * 1024;
const TEXT_BYTES_MAX: usize = 2 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(message: &str, value: &str) -> LogRecord {
        let mut record = LogRecord::new(Level::WARN, "gateway");
        record.time = Timestamp::from_millisecond(1_700_000_000_123).unwrap();
        message.clone_into(&mut record.message);
        record.fields.insert("cause".to_owned(), value.into());
        record
    }

    #[test]
    fn a_plain_text_line() {
        assert_eq!(
            record("went away", "killed").line(LogLineFormat::Plain),
            "2023-11-14T22:13:20.123Z WARN  gateway: went away cause=killed\n"
        );
        assert!(record("went away", "by hand").line(LogLineFormat::Plain).ends_with("cause=\"by hand\"\n"));
    }

    #[test]
    fn a_json_object() {
        let line = record("went away", "killed").line(LogLineFormat::Json);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["level"], "warn");
        assert_eq!(value["message"], "went away");
        assert_eq!(value["cause"], "killed");
        assert_eq!(value["pid"], std::process::id());
    }

    #[test]
    fn control_characters_are_escaped() {
        let hostile: String = (0..=255_u8).map(char::from).collect();
        for form in [LogLineFormat::Plain, LogLineFormat::Colour, LogLineFormat::Json] {
            let line = record(&hostile, &hostile).line(form);
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
            assert!(!line.contains('\r'));
        }
        let line = record(&hostile, &hostile).line(LogLineFormat::Json);
        assert!(serde_json::from_str::<Value>(&line).is_ok());
    }

    #[test]
    fn long_texts_are_truncated() {
        let line = record("long", &"é".repeat(100_000)).line(LogLineFormat::Json);
        assert!(serde_json::from_str::<Value>(&line).is_ok());
        assert!(record("long", &"é".repeat(100_000)).line(LogLineFormat::Plain).len() <= LINE_BYTES_MAX + 1);
    }
}
