//! Translation of RE2 regular expressions into eddy's syntax.

/// Rewrites an RE2 expression: what means something else in eddy's syntax is escaped.
///
/// The syntaxes are alike except for `\Q...\E`, `\C`, and characters that are literal in an RE2 character class.
pub(crate) fn translated(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut is_in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('Q') => quote(&mut letters, &mut out),
                Some('C') => out.push_str("(?s:.)"),
                // RE2 has no word boundaries such as `\<`; there it is a literal `<`.
                Some(sign @ ('<' | '>')) => out.push(sign),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if !is_in_class => {
                is_in_class = true;
                out.push('[');
                if letters.peek() == Some(&'^') {
                    out.extend(letters.next());
                }
                // A `]` at the start of a class is literal.
                if letters.peek() == Some(&']') {
                    letters.next();
                    out.push_str("\\]");
                }
            }
            '[' if letters.peek() == Some(&':') => {
                // Named class such as `[:alpha:]`; it ends with `:]`.
                out.push('[');
                while let Some(next) = letters.next() {
                    out.push(next);
                    if next == ':' && letters.peek() == Some(&']') {
                        out.extend(letters.next());
                        break;
                    }
                }
            }
            '[' | '&' | '~' if is_in_class => out.extend(['\\', letter]),
            '-' if is_in_class && letters.peek() == Some(&'-') => out.push_str("\\-"),
            ']' => {
                is_in_class = false;
                out.push(']');
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Copies characters up to `\E` as literals.
fn quote(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.peek() == Some(&'E') {
            letters.next();
            return;
        }
        if letter.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn syntax_with_another_meaning_in_re2_is_escaped() {
        for (text, expected) in [
            ("/a[b]+(c|d)*$", "/a[b]+(c|d)*$"),
            (r"\Qa.b\E.c", r"a\.b.c"),
            ("[a&&b]", r"[a\&\&b]"),
            ("[[a]", r"[\[a]"),
            ("[]a]", r"[\]a]"),
            ("[^]a]", r"[^\]a]"),
            ("[[:alpha:]_]", "[[:alpha:]_]"),
            (r"[\]a]", r"[\]a]"),
            (r"\<a\>", "<a>"),
            (r"\d\\", r"\d\\"),
        ] {
            assert_eq!(translated(text), expected, "{text}");
        }
    }
}
