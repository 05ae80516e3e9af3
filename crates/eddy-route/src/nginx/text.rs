//! Values with embedded variables.

use thiserror::Error;

use super::variable::{Variable, Variables};

/// A value: a sequence of texts and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTemplate {
    pub(crate) parts: Vec<TextPart>,
    written: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextPart {
    Text(Box<[u8]>),
    Variable(Variable),
}

/// Reason why a value is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TextFault {
    /// A `$` without a name after it, or a `{` that is not closed.
    #[error("this `$` has no variable name")]
    NoName,
    /// A built-in variable of NGINX that eddy does not support.
    #[error("the variable `${name}` is not supported: {reason}")]
    Refused {
        /// Name.
        name: String,
        /// Reason.
        reason: &'static str,
    },
}

impl TextTemplate {
    /// Parses a value.
    ///
    /// # Errors
    /// Any [`TextFault`].
    pub fn parse(text: &str, variables: &mut Variables) -> Result<Self, TextFault> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            push_text(&mut parts, before);
            let (name, after) = match after.strip_prefix('{') {
                Some(braced) => braced.split_once('}').ok_or(TextFault::NoName)?,
                None if after.starts_with(|first: char| first.is_ascii_digit()) => after.split_at(1),
                None => {
                    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                    after.split_at(after.find(|letter| !is_part(letter)).unwrap_or(after.len()))
                }
            };
            parts.push(TextPart::Variable(named(name, variables)?));
            rest = after;
        }
        push_text(&mut parts, rest);
        Ok(Self { parts, written: text.into() })
    }

    /// Creates a value without variables.
    pub fn plain(text: &str) -> Self {
        let mut parts = Vec::new();
        push_text(&mut parts, text);
        Self { parts, written: text.into() }
    }

    /// Returns the value as written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns the text, if there are no variables in it.
    pub fn as_plain(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [TextPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the slots that the value reads.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Variable(Variable::Slot(slot)) => Some(*slot),
            TextPart::Variable(_) | TextPart::Text(_) => None,
        })
    }
}

fn named(name: &str, variables: &mut Variables) -> Result<Variable, TextFault> {
    if name.is_empty() {
        return Err(TextFault::NoName);
    }
    if let Ok(number) = name.parse::<usize>() {
        return if (1..=9).contains(&number) { Ok(Variable::Group(number)) } else { Err(TextFault::NoName) };
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(TextFault::NoName);
    }
    variables.find(name).map_err(|reason| TextFault::Refused { name: name.to_owned(), reason })
}

fn push_text(parts: &mut Vec<TextPart>, text: &str) {
    if !text.is_empty() {
        parts.push(TextPart::Text(text.as_bytes().into()));
    }
}

#[cfg(test)]
mod tests {
    use super::{TextFault, TextPart, TextTemplate, Variable, Variables};

    #[test]
    fn values_are_text_and_variables() {
        let mut variables = Variables::default();
        let text = TextTemplate::parse("a$uri${args}b$1x$http_X_y$own", &mut variables).unwrap();
        let plain = |text: &str| TextPart::Text(text.as_bytes().into());
        let parts = [
            plain("a"),
            TextPart::Variable(Variable::Uri),
            TextPart::Variable(Variable::Args),
            plain("b"),
            TextPart::Variable(Variable::Group(1)),
            plain("x"),
            TextPart::Variable(Variable::Header(b"x_y".as_slice().into())),
            TextPart::Variable(Variable::Slot(variables.define("own").unwrap())),
        ];
        assert_eq!(text.parts[..6], parts[..6]);
        assert_eq!(text.parts[6..], parts[6..]);
        assert_eq!(TextTemplate::plain("x").as_plain(), Some(b"x".as_slice()));
    }

    #[test]
    fn an_invalid_variable_name_is_refused() {
        let mut variables = Variables::default();
        for text in ["$", "a$-", "${a", "${}", "$0"] {
            assert_eq!(TextTemplate::parse(text, &mut variables), Err(TextFault::NoName), "{text}");
        }
        let refused = TextTemplate::parse("$document_root", &mut variables);
        assert!(matches!(refused, Err(TextFault::Refused { .. })));
        assert_eq!(variables.define("uri"), None);
    }
}
