//! Field paths: names separated by dots, map keys in brackets.

use super::error::ProgramError;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldPathStep {
    /// A field, by its JSON name or declared name; an extension with its brackets.
    Field(String),
    /// The map entry with this key.
    Key(String),
}

/// Parses a path.
pub(super) fn parse(path: &str) -> Result<Vec<FieldPathStep>, ProgramError> {
    let problem = |at, problem| Err(ProgramError::Syntax { path: path.to_owned(), at, problem });
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let rest = path.get(at..).unwrap_or_default();
        match rest.bytes().next() {
            Some(b'[') if rest.starts_with("[\"") => {
                if !matches!(steps.last(), Some(FieldPathStep::Field(_))) {
                    return problem(at, "a key must follow the name of a map");
                }
                let Some((key, used)) = quoted(rest.get(1..).unwrap_or_default()) else {
                    return problem(at, "a key is not terminated");
                };
                if rest.as_bytes().get(1 + used) != Some(&b']') {
                    return problem(at + 1 + used, "a key must end with `\"]`");
                }
                steps.push(FieldPathStep::Key(key));
                at += used + 2;
            }
            Some(b'[') => {
                let Some(end) = rest.find(']') else { return problem(at, "a bracket is not closed") };
                steps.push(FieldPathStep::Field(rest.get(..=end).unwrap_or_default().to_owned()));
                at += end + 1;
            }
            _ => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                if end == 0 {
                    return problem(at, "a name is missing");
                }
                steps.push(FieldPathStep::Field(rest.get(..end).unwrap_or_default().to_owned()));
                at += end;
            }
        }
        match path.as_bytes().get(at) {
            None => return Ok(steps),
            Some(b'.') => at += 1,
            Some(b'[') => {}
            Some(_) => return problem(at, "a dot is missing"),
        }
    }
}

/// Parses a quoted text, in which quotes and backslashes are escaped by a backslash; returns it with its length.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut key = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((key, at + 1)),
            '\\' => key.push(letters.next()?.1),
            _ => key.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &[&str]) {
        let steps = parse(path).unwrap();
        let shown: Vec<String> = steps
            .iter()
            .map(|step| match step {
                FieldPathStep::Field(name) => name.clone(),
                FieldPathStep::Key(key) => format!("={key}"),
            })
            .collect();
        assert_eq!(shown, expected, "{path}");
    }

    #[test]
    fn paths_have_names_and_keys() {
        check("a", &["a"]);
        check("a.b_c.d", &["a", "b_c", "d"]);
        check(r#"labels["x.y"].z"#, &["labels", "=x.y", "z"]);
        check(r#"labels["a\"]b\\"]"#, &["labels", r#"=a"]b\"#]);
        check("a.[pkg.ext].b", &["a", "[pkg.ext]", "b"]);
    }

    #[test]
    fn an_invalid_path_is_reported_with_its_position() {
        for (path, place) in [
            ("", 0),
            ("a..b", 2),
            ("a.", 2),
            (".a", 0),
            ("[\"x\"]", 0),
            ("a[\"x", 1),
            ("a[\"x\".b", 5),
            ("a[b", 1),
            ("a[b]c", 4),
        ] {
            assert!(
                matches!(parse(path), Err(ProgramError::Syntax { at, .. }) if at == place),
                "{path}: {:?}",
                parse(path)
            );
        }
    }
}
