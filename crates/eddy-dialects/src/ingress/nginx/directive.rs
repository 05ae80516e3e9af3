//! Directives and their words, for generated configurations.

use eddy_spec::problem::SourceSpan;

use crate::nginx::{Directive, NginxWord};

/// Returns a word with a source position.
pub(super) fn word(place: SourceSpan, text: &str) -> NginxWord {
    NginxWord { text: text.to_owned(), place }
}

/// Returns words with a source position.
pub(super) fn words(place: SourceSpan, texts: &[&str]) -> Vec<NginxWord> {
    texts.iter().map(|text| word(place, text)).collect()
}

/// Returns a directive without a block.
pub(super) fn line(place: SourceSpan, name: &str, arguments: &[&str]) -> Directive {
    Directive { name: word(place, name), arguments: words(place, arguments), block: None }
}

/// Returns a directive with a block.
pub(super) fn block(
    place: SourceSpan,
    name: &str,
    arguments: Vec<NginxWord>,
    inner: Vec<Directive>,
) -> Directive {
    Directive { name: word(place, name), arguments, block: Some(inner) }
}
