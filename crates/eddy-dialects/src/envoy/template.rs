//! Path templates such as `/users/{id}/*` and `/media/**.mp4`.

use std::fmt::Write as _;

/// Returns the regular expression of a path template, with a group for each variable.
///
/// # Errors
/// The reason why the template is invalid; Envoy rejects it too.
pub(super) fn expression(template: &str) -> Result<String, String> {
    let Some(mut rest) = template.strip_prefix('/') else { return Err("must begin with `/`".to_owned()) };
    let mut parser = UriTemplateParser::default();
    while !rest.is_empty() {
        parser.out.push('/');
        rest = parser.segment(rest)?;
        if rest == "/" {
            parser.out.push('/');
            break;
        }
        match rest.strip_prefix('/') {
            Some(next) => rest = next,
            None if rest.is_empty() => {}
            // Text after a `*` or a variable ends the template.
            None => {
                parser.literal(rest)?;
                break;
            }
        }
    }
    if parser.out.is_empty() {
        parser.out.push('/');
    }
    Ok(parser.out)
}

/// Returns the new path of a rewrite template, as text with captures.
///
/// # Errors
/// The reason why the template is invalid.
pub(super) fn replacement(template: &str, variables: &[String]) -> Result<String, String> {
    if !template.starts_with('/') {
        return Err("must begin with `/`".to_owned());
    }
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}', '*']) {
        let inner = rest.get(at..).and_then(|rest| rest.strip_prefix('{'));
        let (name, after) = inner
            .and_then(|inner| inner.split_once('}'))
            .ok_or("may have `{`, `}` and `*` only as `{variable}`")?;
        if !variables.iter().any(|known| known == name) {
            return Err(format!("has the variable `{name}`, which the path template does not define"));
        }
        rest = after;
    }
    Ok(template.to_owned())
}

/// Returns the variable names of a template that [`expression`] accepted.
pub(super) fn variables(template: &str) -> Vec<String> {
    let openings = template.split('{').skip(1);
    openings.filter_map(|part| Some(part.split(['=', '}']).next()?.to_owned())).collect()
}

#[derive(Default)]
struct UriTemplateParser {
    out: String,
    names: Vec<String>,
    /// Whether `**` was seen; no further wildcard may follow.
    is_ended: bool,
}

impl UriTemplateParser {
    /// Parses one segment and returns the rest of the text.
    fn segment<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        if text.starts_with('*') {
            return self.glob(text);
        }
        if let Some(inner) = text.strip_prefix('{') {
            let (variable, rest) = inner.split_once('}').ok_or("has a `{` without `}`")?;
            self.variable(variable)?;
            return Ok(rest);
        }
        let (literal, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
        self.literal(literal)?;
        Ok(rest)
    }

    fn glob<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        if self.is_ended {
            return Err("has a `*` after `**`".to_owned());
        }
        // Writing to memory cannot fail.
        if let Some(rest) = text.strip_prefix("**") {
            self.is_ended = true;
            let _ = write!(self.out, "[{SIGNS}/]*");
            return Ok(rest);
        }
        let _ = write!(self.out, "[{SIGNS}]+");
        text.strip_prefix('*').ok_or_else(|| "needs a `*` in a variable's pattern".to_owned())
    }

    fn variable(&mut self, text: &str) -> Result<(), String> {
        let (name, wanted) = text.split_once('=').unwrap_or((text, "*"));
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || name.len() > NAME_MAX {
            return Err(format!(
                "has the invalid variable name `{name}`: a letter, then letters, digits and `_`, at most 16 characters"
            ));
        }
        if self.names.iter().any(|known| known == name) {
            return Err(format!("has the variable `{name}` twice"));
        }
        if self.names.len() >= NAMES_MAX {
            return Err(format!("has more than {NAMES_MAX} variables"));
        }
        self.names.push(name.to_owned());
        let _ = write!(self.out, "(?P<{name}>");
        for (number, part) in wanted.split('/').enumerate() {
            if number > 0 {
                self.out.push('/');
            }
            if !part.starts_with('*') {
                self.literal(part)?;
            } else if !self.glob(part)?.is_empty() {
                return Err(format!("has the invalid pattern `{part}` in a variable"));
            }
        }
        self.out.push(')');
        Ok(())
    }

    fn literal(&mut self, text: &str) -> Result<(), String> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()+,;:@".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_sign) {
            return Err(format!("has `{text}`, which is not allowed in a path there"));
        }
        self.out.push_str(&regex_syntax::escape(text));
        Ok(())
    }
}

/// Characters of a segment, as in a class of a regular expression.
const SIGNS: &str = r"a-zA-Z0-9\-._\~%!$\&'()+,;:@";

/// Maximum length of a variable name.
const NAME_MAX: usize = 16;

/// Maximum number of variables in a template.
const NAMES_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::{expression, replacement, variables};

    #[test]
    fn templates_become_expressions() {
        let signs = super::SIGNS;
        for (template, expected) in [
            ("/", "/".to_owned()),
            ("/a/b", "/a/b".to_owned()),
            ("/a/", "/a/".to_owned()),
            ("/a/*/b.c", format!(r"/a/[{signs}]+/b\.c")),
            ("/**.mp4", format!(r"/[{signs}/]*\.mp4")),
            ("/{x}/{y=a/**}", format!("/(?P<x>[{signs}]+)/(?P<y>a/[{signs}/]*)")),
        ] {
            assert_eq!(expression(template), Ok(expected), "{template}");
        }
    }

    #[test]
    fn invalid_templates_are_refused() {
        for template in [
            "a",
            "/a//b",
            "/{",
            "/{1}",
            "/{a}/{a}",
            "/**/*",
            "/{a=**}/{b}",
            "/{a=}",
            "/a*",
            "/{a=b*}",
            "/*a/b",
            "/?",
            "/{a}/{b}/{c}/{d}/{e}/{f}",
            "/{abcdefghijklmnopq}",
        ] {
            assert!(expression(template).is_err(), "{template}: {:?}", expression(template));
        }
    }

    #[test]
    fn rewritten_paths_use_variables_of_the_template() {
        let known = variables("/{lang}/{rest=**}");
        assert_eq!(known, ["lang", "rest"]);
        assert_eq!(replacement("/new/{rest}/{lang}", &known).as_deref(), Ok("/new/{rest}/{lang}"));
        for template in ["new", "/{other}", "/{lang", "/*", "/lang}"] {
            assert!(replacement(template, &known).is_err(), "{template}");
        }
    }
}
