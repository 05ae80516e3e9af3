//! Text to words: quotes, escapes, comments, and the characters that end a directive.

use eddy_spec::problem::{ProblemReport, SourceSpan};

/// Word or punctuation mark, with its source position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) place: SourceSpan,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Word, with quotes and escapes resolved.
    Word(String),
    /// `;`
    End,
    /// `{`
    Open,
    /// `}`
    Close,
}

/// Splits a text into words and punctuation; on a problem, which is reported, the rest is skipped.
pub(super) fn split(text: &str, source: u32, report: &mut ProblemReport) -> Vec<Token> {
    let mut reader = WordReader {
        rest: text,
        place: SourceSpan { source, line: 1, column: 1, length: 1 },
        tokens: Vec::new(),
    };
    while reader.read_token(report) {}
    reader.tokens
}

struct WordReader<'t> {
    rest: &'t str,
    place: SourceSpan,
    tokens: Vec<Token>,
}

impl WordReader<'_> {
    /// Reads one token; returns `false` at the end, or where nothing more can be read.
    fn read_token(&mut self, report: &mut ProblemReport) -> bool {
        self.skip_space();
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return false };
        let kind = match first {
            ';' => TokenKind::End,
            '{' => TokenKind::Open,
            '}' => TokenKind::Close,
            '"' | '\'' => return self.read_quoted(first, report),
            _ => {
                let word = self.read_plain();
                let length = u32::try_from(word.chars().count()).unwrap_or(u32::MAX).max(1);
                self.tokens
                    .push(Token { kind: TokenKind::Word(word), place: SourceSpan { length, ..place } });
                return true;
            }
        };
        self.step(first);
        self.tokens.push(Token { kind, place });
        true
    }

    fn skip_space(&mut self) {
        while let Some(next) = self.rest.chars().next() {
            if next == '#' {
                while let Some(next) = self.rest.chars().next().filter(|next| *next != '\n') {
                    self.step(next);
                }
            } else if matches!(next, ' ' | '\t' | '\r' | '\n') {
                self.step(next);
            } else {
                return;
            }
        }
    }

    fn read_plain(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.rest.chars().next() {
            if matches!(next, ' ' | '\t' | '\r' | '\n' | ';') {
                break;
            }
            // A brace after `$` belongs to the name of a variable.
            if next == '{' && !word.ends_with('$') {
                break;
            }
            self.step(next);
            if next == '\\' { self.read_escaped(&mut word) } else { word.push(next) }
        }
        word
    }

    fn read_quoted(&mut self, quote: char, report: &mut ProblemReport) -> bool {
        let place = self.place;
        self.step(quote);
        let mut word = String::new();
        loop {
            let Some(next) = self.rest.chars().next() else {
                report.error(place, "this quote is not closed").hint(format!("end it with {quote}"));
                return false;
            };
            self.step(next);
            match next {
                '\\' => self.read_escaped(&mut word),
                _ if next == quote => break,
                _ => word.push(next),
            }
        }
        self.tokens.push(Token { kind: TokenKind::Word(word), place });
        let next = self.rest.chars().next();
        if next.is_some_and(|next| !matches!(next, ' ' | '\t' | '\r' | '\n' | ';' | '{' | ')')) {
            report
                .error(self.place, "a quoted word needs a space after it")
                .hint("add a space, or put both words into one pair of quotes");
            return false;
        }
        if next == Some(')') {
            // `if ($x = "y")`: the parenthesis is a word of its own.
            let place = self.place;
            self.step(')');
            self.tokens.push(Token { kind: TokenKind::Word(")".to_owned()), place });
        }
        true
    }

    /// Reads the character after a `\`; for most characters, both are kept.
    fn read_escaped(&mut self, word: &mut String) {
        let Some(next) = self.rest.chars().next() else {
            word.push('\\');
            return;
        };
        self.step(next);
        match next {
            '"' | '\'' | '\\' => word.push(next),
            't' => word.push('\t'),
            'r' => word.push('\r'),
            'n' => word.push('\n'),
            _ => word.extend(['\\', next]),
        }
    }

    fn step(&mut self, letter: char) {
        self.rest = self.rest.strip_prefix(letter).unwrap_or_default();
        if letter == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use eddy_spec::problem::ProblemReport;

    use super::{TokenKind, split};

    fn check(text: &str, expected: &[&str]) {
        let mut report = ProblemReport::new();
        let tokens = split(text, 0, &mut report);
        let shown: Vec<String> = tokens
            .into_iter()
            .map(|token| match token.kind {
                TokenKind::Word(word) => format!("<{word}>"),
                TokenKind::End => ";".to_owned(),
                TokenKind::Open => "{".to_owned(),
                TokenKind::Close => "}".to_owned(),
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
        assert!(!report.has_errors());
    }

    #[test]
    fn texts_are_split_into_words_and_punctuation() {
        check("a b;c{d;}", &["<a>", "<b>", ";", "<c>", "{", "<d>", ";", "}"]);
        check("a # x; y\nb#c;", &["<a>", "<b#c>", ";"]);
        check(r#"a "b ;{" 'c"d' e\"f;"#, &["<a>", "<b ;{>", "<c\"d>", "<e\"f>", ";"]);
        check(r"~ \.php$ \\ a\ b;", &["<~>", "<\\.php$>", "<\\>", "<a\\ b>", ";"]);
        check("x ${a}b;", &["<x>", "<${a}b>", ";"]);
        check("if ($a = \"b\") {", &["<if>", "<($a>", "<=>", "<b>", "<)>", "{"]);
        check("a}b;", &["<a}b>", ";"]);
        check("a\r\n\tb;", &["<a>", "<b>", ";"]);
    }

    #[test]
    fn positions_are_lines_and_columns() {
        let mut report = ProblemReport::new();
        let tokens = split("a\n  bcd;", 3, &mut report);
        let places: Vec<_> =
            tokens.iter().map(|token| (token.place.line, token.place.column, token.place.length)).collect();
        assert_eq!(places, [(1, 1, 1), (2, 3, 3), (2, 6, 1)]);
        split("a \"b\n;", 0, &mut report);
        split("\"a\"b;", 0, &mut report);
        let messages: Vec<String> =
            report.into_problems(&[]).into_iter().map(|problem| problem.message).collect();
        assert_eq!(messages, ["this quote is not closed", "a quoted word needs a space after it"]);
    }
}
