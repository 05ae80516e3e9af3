//! Generates the Go functions that read and write values.

use std::collections::BTreeMap;

use super::names::{exported, of_type, word};
use crate::declaration::{Declaration, FieldDeclaration, Measures, RecordDeclaration};
use crate::layout::Layout;
use crate::types::{MemoryOwner, Type};

/// The codec functions that a file needs, collected while its services are generated.
pub(super) struct Codecs<'d> {
    declaration: &'d Declaration,
    measures: &'d Measures,
    /// Sorted by name, so that the output is deterministic.
    functions: BTreeMap<String, String>,
}

/// Index of a word: an optional variable plus a constant.
#[derive(Clone, Copy)]
pub(super) struct WordIndex<'v>(pub(super) &'v str, pub(super) usize);

impl WordIndex<'_> {
    /// Formats the index as gofmt does for a sole argument.
    fn alone(self) -> String {
        match self {
            Self("", words) => words.to_string(),
            Self(variable, 0) => variable.to_owned(),
            Self(variable, words) => format!("{variable} + {words}"),
        }
    }

    /// Formats the index as gofmt does among other arguments.
    fn among(self) -> String {
        self.alone().replace(' ', "")
    }
}

impl<'d> Codecs<'d> {
    /// Returns the memory layout of the types in Go.
    pub(super) fn layout(&self) -> Layout<'d> {
        Layout(self.declaration)
    }

    pub(super) fn new(declaration: &'d Declaration, measures: &'d Measures) -> Self {
        Self { declaration, measures, functions: BTreeMap::new() }
    }

    /// Returns the functions, sorted by name.
    pub(super) fn functions(self) -> impl Iterator<Item = String> {
        self.functions.into_values()
    }

    /// Returns an expression that reads a value from `in`.
    pub(super) fn read(&mut self, of: &Type, at: WordIndex<'_>) -> String {
        match of {
            Type::Unit => "struct{}{}".to_owned(),
            Type::Bool => format!("in.Bool({})", at.alone()),
            Type::Scalar(scalar) => format!("in.{}({})", scalar.method, at.alone()),
            Type::Str { owner: MemoryOwner::Caller } => format!("in.Str({})", at.alone()),
            Type::Str { owner: MemoryOwner::Own } => format!("in.String({})", at.alone()),
            Type::List { of, owner } if matches!(**of, Type::Scalar(_)) => {
                let read = if *owner == MemoryOwner::Caller { "ViewSlice" } else { "ReadSlice" };
                format!("bridge.{read}[{}](in, {})", of_type(of), at.among())
            }
            Type::List { of, .. } if matches!(**of, Type::Str { owner: MemoryOwner::Caller }) => {
                format!("bridge.Views(in, {})", at.among())
            }
            Type::List { .. } | Type::Map { .. } | Type::Option(_) | Type::Result(..) | Type::Record(_) => {
                self.need_read(of);
                format!("read{}(in, {})", word(of), at.among())
            }
        }
    }

    /// Returns an expression that reads an argument from `in`.
    pub(super) fn argument(&mut self, argument: &FieldDeclaration, at: WordIndex<'_>) -> String {
        let Type::Record(name) = &argument.of else { return self.read(&argument.of, at) };
        if !argument.is_lent {
            return self.read(&argument.of, at);
        }
        self.need_read(&argument.of);
        let whole = self.record(&name.to_string()).map_or_else(String::new, |record| self.whole(record, ""));
        let text = format!(
            "func lent{name}(in bridge.In, at int) *{name} {{\n{whole}\tv := read{name}(in, at)\n\treturn &v\n}}\n"
        );
        self.functions.insert(format!("lent{name}"), text);
        format!("lent{name}(in, {})", at.among())
    }

    /// Returns a statement that writes a value, whose address is `pointer`, into `out`.
    pub(super) fn write(&mut self, of: &Type, pointer: &str, at: WordIndex<'_>, value: &str) -> String {
        let at = at.among();
        match of {
            Type::Unit => String::new(),
            Type::Bool => format!("out.Bool({at}, {value})"),
            Type::Scalar(scalar) => format!("out.{}({at}, {value})", scalar.method),
            Type::Str { owner: MemoryOwner::Caller } => format!("out.Str({at}, {value})"),
            Type::Str { owner: MemoryOwner::Own } => format!("out.String({at}, {value})"),
            Type::List { of, owner } if matches!(**of, Type::Scalar(_)) => {
                let view = if *owner == MemoryOwner::Caller { ".View()" } else { "" };
                format!("bridge.WriteSlice({pointer}, {at}, {value}{view})")
            }
            Type::List { .. } | Type::Map { .. } | Type::Option(_) | Type::Result(..) | Type::Record(_) => {
                self.need_write(of);
                format!("write{}({pointer}, {at}, {value})", word(of))
            }
        }
    }

    fn need_read(&mut self, of: &Type) {
        let name = format!("read{}", word(of));
        if self.functions.contains_key(&name) {
            return;
        }
        self.functions.insert(name.clone(), String::new());
        let go = of_type(of);
        let body = match of {
            Type::List { of, .. } => self.list_read(of),
            Type::Map { key, value } => self.map_read(&go, key, value),
            Type::Option(value) => {
                let read = self.read(value, WordIndex("at", 1));
                format!("\tif in.Bool(at) {{\n\t\tv = bridge.Some({read})\n\t}}\n")
            }
            Type::Result(value, error) => self.result_read(value, error),
            Type::Record(record) => match self.record(&record.to_string()) {
                Some(record) => self.record_read(record),
                None => String::new(),
            },
            Type::Unit | Type::Bool | Type::Scalar(_) | Type::Str { .. } => String::new(),
        };
        let text = format!("func {name}(in bridge.In, at int) (v {go}) {{\n{body}\treturn v\n}}\n");
        self.functions.insert(name, text);
    }

    fn need_write(&mut self, of: &Type) {
        let name = format!("write{}", word(of));
        if self.functions.contains_key(&name) {
            return;
        }
        self.functions.insert(name.clone(), String::new());
        let body = match of {
            Type::List { of, .. } => self.list_write(of),
            Type::Map { key, value } => self.map_write(key, value),
            Type::Option(value) => {
                let write = self.write(value, "out", WordIndex("at", 1), "value");
                format!("\tif value, ok := v.Get(); ok {{\n\t\tout.Bool(at, true)\n\t\t{write}\n\t}}\n")
            }
            Type::Result(value, error) => self.result_write(value, error),
            Type::Record(record) => match self.record(&record.to_string()) {
                Some(record) => self.record_write(record),
                None => String::new(),
            },
            Type::Unit | Type::Bool | Type::Scalar(_) | Type::Str { .. } => String::new(),
        };
        let text = format!("func {name}(out *bridge.Out, at int, v {}) {{\n{body}}}\n", of_type(of));
        self.functions.insert(name, text);
    }

    fn record(&self, name: &str) -> Option<&'d RecordDeclaration> {
        self.declaration.records.iter().find(|record| record.name == name)
    }

    /// Returns statements that return a struct whose layout in the message equals that in Go: a pointer to it, or the
    /// dereferenced value with `star`.
    fn whole(&self, record: &RecordDeclaration, star: &str) -> String {
        if !self.layout().fits_record(record) {
            return String::new();
        }
        let words = self.measures.words(&Type::Record(record.name.clone()));
        let name = &record.name;
        format!(
            "\tif whole := in.At(at, {words}); whole != nil {{\n\t\treturn {star}(*{name})(whole)\n\t}}\n"
        )
    }

    fn record_read(&mut self, record: &RecordDeclaration) -> String {
        let mut offset = 0;
        let mut text = self.whole(record, "*");
        for field in &record.fields {
            let read = self.read(&field.of, WordIndex("at", offset));
            text.push_str(&format!("\tv.{} = {read}\n", exported(&field.name)));
            offset += self.measures.words(&field.of);
        }
        text
    }

    fn record_write(&mut self, record: &RecordDeclaration) -> String {
        let mut offset = 0;
        let mut text = String::new();
        for field in &record.fields {
            let value = format!("v.{}", exported(&field.name));
            let write = self.write(&field.of, "out", WordIndex("at", offset), &value);
            text.push_str(&format!("\t{write}\n"));
            offset += self.measures.words(&field.of);
        }
        text
    }

    fn list_read(&mut self, of: &Type) -> String {
        let words = self.measures.words(of);
        let read = self.read(of, WordIndex("at", 0));
        format!(
            "\tfirst, n := in.Records(at, {words})\n\tv = make([]{}, n)\n\tfor i := range v {{\n\t\tat := first + i*{words}\n\t\tv[i] = {read}\n\t}}\n",
            of_type(of)
        )
    }

    fn list_write(&mut self, of: &Type) -> String {
        let words = self.measures.words(of);
        let write = self.write(of, "out", WordIndex("at", 0), "v[i]");
        format!(
            "\tfirst := out.Records(at, len(v), {words})\n\tfor i := range v {{\n\t\tat := first + i*{words}\n\t\t{write}\n\t}}\n"
        )
    }

    fn map_read(&mut self, go: &str, key: &Type, value: &Type) -> String {
        let words = self.measures.words(key) + self.measures.words(value);
        let read_key = self.read(key, WordIndex("at", 0));
        let read_value = self.read(value, WordIndex("at", self.measures.words(key)));
        format!(
            "\tfirst, n := in.Records(at, {words})\n\tv = make({go}, n)\n\tfor i := range n {{\n\t\tat := first + i*{words}\n\t\tv[{read_key}] = {read_value}\n\t}}\n"
        )
    }

    fn map_write(&mut self, key: &Type, value: &Type) -> String {
        let words = self.measures.words(key) + self.measures.words(value);
        let write_key = self.write(key, "out", WordIndex("at", 0), "key");
        let write_value = self.write(value, "out", WordIndex("at", self.measures.words(key)), "value");
        format!(
            "\tat = out.Records(at, len(v), {words})\n\tfor key, value := range v {{\n\t\t{write_key}\n\t\t{write_value}\n\t\tat += {words}\n\t}}\n"
        )
    }

    fn result_read(&mut self, value: &Type, error: &Type) -> String {
        let read_error = self.read(error, WordIndex("at", 1 + self.measures.words(value)));
        let otherwise = if *value == Type::Unit {
            String::new()
        } else {
            format!("\tv.Value = {}\n", self.read(value, WordIndex("at", 1)))
        };
        format!(
            "\tif in.Bool(at) {{\n\t\tv.Failed = true\n\t\tv.Error = {read_error}\n\t\treturn v\n\t}}\n{otherwise}"
        )
    }

    fn result_write(&mut self, value: &Type, error: &Type) -> String {
        let write_error =
            self.write(error, "out", WordIndex("at", 1 + self.measures.words(value)), "v.Error");
        let otherwise = if *value == Type::Unit {
            String::new()
        } else {
            format!("\t{}\n", self.write(value, "out", WordIndex("at", 1), "v.Value"))
        };
        format!("\tif v.Failed {{\n\t\tout.Bool(at, true)\n\t\t{write_error}\n\t\treturn\n\t}}\n{otherwise}")
    }
}
