//! Explains YAML syntax errors in plain language.

use granit_parser::{ErrorKind, Marker, ScanError};

use crate::problem::{ProblemReport, SourceSpan};

/// Reports a syntax error.
pub(super) fn note(error: &ScanError, text: &str, source: u32, report: &mut ProblemReport) {
    let mut place = place_of(*error.marker(), source);
    if is_after_tab(error, text) {
        place.column -= 1;
    }
    let found = report.error(place, message(error));
    if let Some(hint) = hint(error.kind()) {
        found.hint(hint);
    }
}

/// Whether the position of an error is directly after a tab.
fn is_after_tab(error: &ScanError, text: &str) -> bool {
    let before = error.marker().byte_offset().and_then(|offset| text.get(..offset));
    hint(error.kind()) == Some(TAB_HINT) && before.is_some_and(|before| before.ends_with('\t'))
}

/// Returns the position of one character.
pub(super) fn place_of(marker: Marker, source: u32) -> SourceSpan {
    SourceSpan {
        source,
        line: u32::try_from(marker.line().max(1)).unwrap_or(u32::MAX),
        column: u32::try_from(marker.col() + 1).unwrap_or(u32::MAX),
        length: 1,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser may add kinds; its own words serve for the rest"
)]
fn message(error: &ScanError) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::UnexpectedEofBlockMapping
        | ErrorKind::UnexpectedEofBlockSequence => "the file ends too early".to_owned(),
        ErrorKind::UnexpectedEofFlowSequence => "the file ends inside `[`".to_owned(),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "the file ends inside `{`".to_owned()
        }
        ErrorKind::UnclosedFlowCollection { open } => format!("`{open}` is not closed"),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => format!("`{open}` is closed by `{close}`"),
        ErrorKind::MisplacedFlowCollectionEnd => "this bracket has no opening bracket".to_owned(),
        ErrorKind::UnclosedQuotedScalar => "the quote is not closed".to_owned(),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "a tab is not allowed here".to_owned(),
        ErrorKind::ExpectedBlockMappingKey => "expected a key here".to_owned(),
        ErrorKind::ExpectedFlowMappingSeparator => "expected `,` or `}` here".to_owned(),
        ErrorKind::ExpectedFlowSequenceSeparator => "expected `,` or `]` here".to_owned(),
        ErrorKind::ExpectedBlockSequenceEntry => "expected a list element with `-` here".to_owned(),
        ErrorKind::MappingValueNotAllowed => "a `:` is not allowed here".to_owned(),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => "expected `:` after the key".to_owned(),
        ErrorKind::InvalidIndentation | ErrorKind::InvalidFlowScalarIndent => {
            "the indentation matches no line above".to_owned()
        }
        ErrorKind::InvalidQuotedScalarIndent => {
            "a quoted string continues on a line that is not indented enough".to_owned()
        }
        ErrorKind::UnknownQuotedScalarEscape => "unknown escape in a double-quoted string".to_owned(),
        ErrorKind::DirectiveDisallowed => "directives (`%`) are not supported".to_owned(),
        ErrorKind::RecursionLimitExceeded => "nested too deeply".to_owned(),
        ErrorKind::UnexpectedCharacter { character } => {
            format!("unexpected character `{}`", character.escape_default())
        }
        _ => format!("not valid YAML: {}", error.info()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a hint is given only where there is something to say")]
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => Some(TAB_HINT),
        ErrorKind::MappingValueNotAllowed => {
            Some("put a value that contains `: ` in quotes, or check the indentation of this line")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            Some("check the indentation of this line against the ones above")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Some("write `key: value`"),
        ErrorKind::UnexpectedCharacter { .. } => {
            Some("put a value that begins with this character in quotes")
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            Some("use single quotes, in which a backslash has no special meaning")
        }
        ErrorKind::MissingAnchorOrAliasName => Some("put a value that begins with `*` or `&` in quotes"),
        ErrorKind::InvalidQuotedScalarIndent => Some("is the quote closed?"),
        ErrorKind::DirectiveDisallowed => Some("leave the line out"),
        _ => None,
    }
}

/// Hint for a tab.
const TAB_HINT: &str = "indent with spaces";
