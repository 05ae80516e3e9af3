//! Generates calls whose arguments are a structure on the caller's stack, with the layout of a message.

use super::names::{local, of_type};
use super::service::{before_error, expression, has_lists, passed};
use crate::declaration::{CallingConvention, Measures, MethodDeclaration};
use crate::layout::{Layout, WordLayout, bytes};
use crate::types::Type;

/// Arguments as a Go structure.
pub(super) struct GoCallFrame<'m> {
    method: &'m MethodDeclaration,
    /// Number of words of the arguments.
    request: usize,
    /// Number of words for the result.
    room: usize,
    parts: Vec<(usize, WordLayout)>,
}

impl<'m> GoCallFrame<'m> {
    /// Returns the frame of a blocking method whose arguments have that layout.
    pub(super) fn of(method: &'m MethodDeclaration, measures: &Measures, layout: Layout<'_>) -> Option<Self> {
        let fits = |of: &Type| match of {
            Type::List { of, .. } => matches!(**of, Type::Scalar(_) | Type::Str { .. }),
            other => layout.fits(&passed(other)),
        };
        if method.manner == CallingConvention::Async
            || !method.arguments.iter().all(|argument| fits(&argument.of))
        {
            return None;
        }
        let mut request = 0;
        let mut parts = Vec::new();
        for argument in &method.arguments {
            // A number is widened to a word if it is an argument; inside other values it keeps its size.
            if !matches!(argument.of, Type::Bool | Type::Scalar(_)) {
                parts.extend(layout.parts(&argument.of, request, measures));
            }
            request += measures.words(&argument.of);
        }
        let answer = measures.words(&method.answer);
        let room = if has_lists(&method.answer) { answer + LISTS_WORDS } else { answer };
        let has_bits = parts.iter().all(|(at, part)| *part != WordLayout::Texts || *at < 64);
        (has_bits && request + room <= WORDS_MAX).then_some(Self { method, request, room, parts })
    }

    /// Returns a declaration called `name` that describes the argument words, if that is needed.
    pub(super) fn parts(&self, name: &str) -> Option<String> {
        let lines = self.parts.iter().map(|(at, part)| match part {
            WordLayout::Narrow(bytes) => format!("{{At: {at}, Size: {bytes}, Narrow: true}}"),
            WordLayout::Numbers(bytes) => format!("{{At: {at}, Size: {bytes}}}"),
            WordLayout::Texts => format!("{{At: {at}, Size: bridge.Texts}}"),
        });
        let lines = lines.collect::<Vec<_>>().join(", ");
        (!lines.is_empty()).then(|| format!("var {name} = []bridge.Part{{{lines}}}\n"))
    }

    /// Returns statements that build the structure and make the call.
    pub(super) fn call(&self, number: usize, parts: &str) -> String {
        let keeps = has_lists(&self.method.answer);
        let words = self.room - if keeps { LISTS_WORDS } else { 0 };
        let parts = if self.parts.is_empty() { "nil" } else { parts };
        let mut text = String::new();
        if keeps {
            text.push_str("\tvar kept bridge.Kept\n\tdefer kept.End(&err)\n");
        }
        text.push_str(&self.structure());
        let call = if self.method.manner == CallingConvention::Short {
            format!("s.service.Short({number}, &frame.extent)")
        } else {
            for argument in self.method.arguments.iter().filter(|argument| has_lists(&argument.of)) {
                text.push_str(&format!("\tbridge.Escape({})\n", expression(argument)));
            }
            format!("s.service.Call({number}, &frame.extent, {})", self.texts())
        };
        let otherwise = if keeps {
            format!("kept.Otherwise(s.service, {number}, outcome, &frame.extent, {parts}, {words})")
        } else {
            format!("s.service.Otherwise({number}, outcome, &frame.extent, {parts}, {words})")
        };
        if words == 0 {
            text.push_str(&format!(
                "\tif outcome := {call}; outcome != 0 {{\n\t\t_, err = {otherwise}\n\t}}\n\treturn err\n"
            ));
            return text;
        }
        let answer = before_error(self.method);
        text.push_str(&format!(
            "\tin := bridge.InReply(frame.reply[:])\n\tif outcome := {call}; outcome != 0 {{\n\
             \t\tif in, err = {otherwise}; err != nil {{\n\t\t\treturn {answer}err\n\t\t}}\n\t}}\n"
        ));
        text
    }

    /// Returns a bit mask of the words that begin a list of strings.
    fn texts(&self) -> String {
        let texts = self.parts.iter().filter(|(_, part)| *part == WordLayout::Texts);
        let texts: Vec<String> = texts.map(|(at, _)| format!("1<<{at}")).collect();
        if texts.is_empty() { "0".to_owned() } else { texts.join("|") }
    }

    /// Returns the structure with the arguments.
    fn structure(&self) -> String {
        let (request, room) = (self.request, self.room);
        let extent = format!("bridge.Extent({request}, {room})");
        let mut fields = vec![("extent".to_owned(), "uint64".to_owned(), extent)];
        for argument in &self.method.arguments {
            let (of, value) = field(&argument.of, &expression(argument));
            fields.push((local(&argument.name), of, value));
        }
        let values: Vec<String> = fields.iter().map(|(name, _, value)| format!("{name}: {value}")).collect();
        if room != 0 {
            fields.push(("reply".to_owned(), format!("[{room}]uint64"), String::new()));
        }
        let width = fields.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let lines: Vec<String> =
            fields.iter().map(|(name, of, _)| format!("\t\t{name:width$} {of}\n")).collect();
        format!("\tframe := struct {{\n{}\t}}{{{}}}\n", lines.concat(), values.join(", "))
    }
}

/// Returns the type of an argument in a frame, and the expression of the argument with this type.
fn field(of: &Type, name: &str) -> (String, String) {
    match of {
        Type::Bool => ("uint64".to_owned(), format!("bridge.WordOfBool({name})")),
        Type::Scalar(scalar) if bytes(of) == 8 => (scalar.go.to_owned(), name.to_owned()),
        Type::Scalar(scalar) if scalar.rust == "f32" => {
            ("uint64".to_owned(), format!("bridge.WordOfFloat({name})"))
        }
        Type::Scalar(_) => ("uint64".to_owned(), format!("uint64({name})")),
        Type::List { .. } => ("bridge.View".to_owned(), format!("bridge.ViewOf({name})")),
        other => (of_type(&passed(other)), name.to_owned()),
    }
}

/// Number of words for the lists of a result; larger results are stored elsewhere.
const LISTS_WORDS: usize = 32;
/// Equals `WordsMax` of the Go package.
const WORDS_MAX: usize = 96;
