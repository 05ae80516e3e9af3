//! Translation from PCRE syntax to the syntax of the Rust parser.
//!
//! Most of it is the same in both. Without `(*UTF8)`, as NGINX uses it, PCRE reads expressions and values byte by byte,
//! and character properties are those of Latin-1.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, HirKind};

/// Translates an expression.
///
/// # Errors
/// The construct that has no translation: it takes more than one pass to match, or does not exist.
pub(super) fn translate(text: &str) -> Result<String, String> {
    let mut translator = Translator { rest: text.as_bytes(), out: String::with_capacity(text.len() + 16) };
    translator.expression()?;
    Ok(translator.out)
}

/// Returns the names of the groups of an expression, which may be malformed.
pub fn group_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("(?").filter_map(|(at, _)| {
        let rest = text.get(at + 2..)?;
        let rest = rest.strip_prefix('P').unwrap_or(rest);
        let (rest, end) = match rest.strip_prefix('<') {
            Some(rest) => (rest, '>'),
            None => (rest.strip_prefix('\'')?, '\''),
        };
        let (name, _) = rest.split_once(end)?;
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then_some(name)
    })
}

struct Translator<'t> {
    rest: &'t [u8],
    out: String,
}

/// A member of a character class.
enum Member {
    /// A byte, which may begin or end a range.
    Byte(u8),
    /// Several bytes, in the syntax of the Rust parser.
    Class(String),
}

impl Translator<'_> {
    fn expression(&mut self) -> Result<(), String> {
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => self.escape()?,
                b'[' => self.class()?,
                b'(' => self.group()?,
                b'*' | b'+' | b'?' => {
                    self.out.push(char::from(byte));
                    self.after_repetition()?;
                }
                b'{' => match repetition_len(self.rest) {
                    Some(len) => {
                        self.out.push('{');
                        self.copy(len);
                        self.after_repetition()?;
                    }
                    // A brace that is not a repetition is a literal.
                    None => self.literal(byte),
                },
                _ if byte.is_ascii() => self.out.push(char::from(byte)),
                _ => self.literal(byte),
            }
        }
        Ok(())
    }

    /// Translates the suffix of a repetition: `?` for a lazy one.
    fn after_repetition(&mut self) -> Result<(), String> {
        match self.rest.first() {
            Some(b'+') => Err("possessive repetition is not supported".to_owned()),
            Some(b'?') => {
                self.copy(1);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Translates the text after `(`.
    fn group(&mut self) -> Result<(), String> {
        if self.rest.starts_with(b"*") {
            return Err("verbs such as `(*UTF8)` are not supported".to_owned());
        }
        let Some(kind) = self.rest.strip_prefix(b"?") else {
            self.out.push('(');
            return Ok(());
        };
        let refused = [
            (&b"="[..], "look-ahead `(?=...)`"),
            (b"!", "look-ahead `(?!...)`"),
            (b"<=", "look-behind `(?<=...)`"),
            (b"<!", "look-behind `(?<!...)`"),
            (b">", "an atomic group `(?>...)`"),
            (b"|", "a branch reset group `(?|...)`"),
            (b"(", "a condition `(?(...)...)`"),
            (b"P=", "a back-reference"),
            (b"P>", "recursion"),
            (b"&", "recursion"),
            (b"R", "recursion"),
        ];
        if let Some((_, name)) = refused.iter().find(|(sign, _)| kind.starts_with(sign)) {
            return Err(format!("{name} is not supported"));
        }
        if let Some(comment) = kind.strip_prefix(b"#") {
            let end = memchr::memchr(b')', comment).ok_or("a comment is not closed")?;
            self.rest = comment.get(end + 1..).unwrap_or_default();
            return Ok(());
        }
        if let Some(name) = kind.strip_prefix(b"'") {
            let end = memchr::memchr(b'\'', name).ok_or("the name of a group is not closed")?;
            let (name, rest) = name.split_at(end);
            let _ = write!(self.out, "(?P<{}>", String::from_utf8_lossy(name));
            self.rest = rest.get(1..).unwrap_or_default();
            return Ok(());
        }
        // Flags, `:`, or a name, up to the terminating character.
        let end =
            kind.iter().position(|byte| matches!(byte, b':' | b')' | b'>')).map_or(kind.len(), |at| at + 1);
        self.out.push('(');
        self.copy(end + 1);
        Ok(())
    }

    /// Translates the text after a `\` outside of a class.
    fn escape(&mut self) -> Result<(), String> {
        let Some(byte) = self.next() else {
            self.out.push('\\');
            return Ok(());
        };
        match byte {
            b'Q' => self.quoted().iter().for_each(|byte| self.literal(*byte)),
            b'E' => {}
            b'p' | b'P' => {
                let class = self.property(byte == b'P')?;
                // A property is case-sensitive, whatever the flags of the expression.
                let _ = write!(self.out, "(?-i:{class})");
            }
            b'Z' => self.out.push('$'),
            b'N' => self.out.push_str(r"[^\n]"),
            b'1'..=b'9' | b'g' | b'k' => return Err("back-references are not supported".to_owned()),
            b'A' | b'z' | b'b' | b'B' => self.out.extend(['\\', char::from(byte)]),
            _ => match self.member_behind(byte)? {
                Member::Byte(byte) => self.literal(byte),
                Member::Class(class) => self.out.push_str(&class),
            },
        }
        Ok(())
    }

    /// Translates the text after `[`.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.starts_with(b"^") {
            self.copy(1);
        }
        let mut is_first = true;
        loop {
            let Some(byte) = self.next() else { return Err("a class is not closed".to_owned()) };
            match byte {
                b']' if !is_first => break,
                b'\\' if self.rest.starts_with(b"Q") => {
                    self.next();
                    self.quoted().iter().for_each(|byte| self.literal(*byte));
                }
                b'\\' if self.rest.starts_with(b"E") => {
                    self.next();
                }
                _ => {
                    let start = self.member(byte)?;
                    self.range_from(start)?;
                }
            }
            is_first = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// Writes a member of a class, and the whole range if it begins one.
    fn range_from(&mut self, start: Member) -> Result<(), String> {
        let start = match start {
            Member::Class(class) => {
                self.out.push_str(&class);
                return Ok(());
            }
            Member::Byte(start) => start,
        };
        self.literal(start);
        let Some((b'-', rest)) = self.rest.split_first() else { return Ok(()) };
        if rest.starts_with(b"]") || rest.is_empty() {
            return Ok(());
        }
        self.rest = rest;
        let Some(end) = self.next() else { return Ok(()) };
        match self.member(end)? {
            Member::Byte(end) => {
                self.out.push('-');
                self.literal(end);
            }
            // A `-` before a class is a literal.
            Member::Class(class) => {
                self.literal(b'-');
                self.out.push_str(&class);
            }
        }
        Ok(())
    }

    /// Parses a member of a class that begins with `byte`.
    fn member(&mut self, byte: u8) -> Result<Member, String> {
        match byte {
            b'\\' => {
                let Some(byte) = self.next() else { return Err("a class is not closed".to_owned()) };
                match byte {
                    b'b' => Ok(Member::Byte(0x08)),
                    b'p' | b'P' => self.property(byte == b'P').map(Member::Class),
                    _ => self.member_behind(byte),
                }
            }
            b'[' if self.rest.starts_with(b":") => {
                let end = self.rest.windows(2).position(|two| two == b":]");
                let name = end.and_then(|end| self.rest.get(1..end));
                let is_name =
                    |name: &&[u8]| name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'^');
                let Some(name) = name.filter(is_name) else { return Ok(Member::Byte(byte)) };
                self.rest = self.rest.get(name.len() + 3..).unwrap_or_default();
                Ok(Member::Class(format!("[:{}:]", String::from_utf8_lossy(name))))
            }
            _ => Ok(Member::Byte(byte)),
        }
    }

    /// Returns the meaning of `\` followed by `byte`, in a class and outside of one.
    fn member_behind(&mut self, byte: u8) -> Result<Member, String> {
        let class = |text: &str| Ok(Member::Class(text.to_owned()));
        match byte {
            b'd' | b'D' | b'w' | b'W' | b's' | b'S' => Ok(Member::Class(format!("\\{}", char::from(byte)))),
            b'h' => class(r"[\t\x20\xA0]"),
            b'H' => class(r"[^\t\x20\xA0]"),
            b'v' => class(r"[\n\x0B\x0C\r\x85]"),
            b'V' => class(r"[^\n\x0B\x0C\r\x85]"),
            b'a' => Ok(Member::Byte(0x07)),
            b'e' => Ok(Member::Byte(0x1B)),
            b'f' => Ok(Member::Byte(0x0C)),
            b'n' => Ok(Member::Byte(b'\n')),
            b'r' => Ok(Member::Byte(b'\r')),
            b't' => Ok(Member::Byte(b'\t')),
            b'0' => {
                let len = self.rest.iter().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                Ok(Member::Byte(self.number(len, 8)?))
            }
            b'x' if self.rest.starts_with(b"{") => {
                self.next();
                let len = memchr::memchr(b'}', self.rest).ok_or("`\\x{` is not closed")?;
                let byte = self.number(len, 16)?;
                self.next();
                Ok(Member::Byte(byte))
            }
            b'x' => {
                let len = self.rest.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
                Ok(Member::Byte(self.number(len, 16)?))
            }
            _ if byte.is_ascii_alphanumeric() => Err(format!("`\\{}` is not supported", char::from(byte))),
            _ => Ok(Member::Byte(byte)),
        }
    }

    /// Parses the byte value given by the next digits.
    fn number(&mut self, len: usize, radix: u32) -> Result<u8, String> {
        let (digits, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, b""));
        self.rest = rest;
        if digits.is_empty() {
            return Ok(0);
        }
        let digits = String::from_utf8_lossy(digits).into_owned();
        u8::from_str_radix(&digits, radix).map_err(|_| format!("`{digits}` is not a byte value"))
    }

    /// Returns the bytes up to `\E`.
    fn quoted(&mut self) -> Vec<u8> {
        let end = memchr::memmem::find(self.rest, b"\\E");
        let quoted = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default().to_vec();
        self.rest = end.and_then(|end| self.rest.get(end + 2..)).unwrap_or_default();
        quoted
    }

    /// Parses a property name and returns its class.
    fn property(&mut self, is_negated: bool) -> Result<String, String> {
        let (name, len) = match self.rest.split_first() {
            Some((b'{', rest)) => {
                let end = memchr::memchr(b'}', rest).ok_or("the name of a property is not closed")?;
                (rest.get(..end).unwrap_or_default(), end + 2)
            }
            Some(_) => (self.rest.get(..1).unwrap_or_default(), 1),
            None => return Err("a property has no name".to_owned()),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        self.rest = self.rest.get(len..).unwrap_or_default();
        let (name, is_negated) = match name.strip_prefix('^') {
            Some(name) => (name.to_owned(), !is_negated),
            None => (name, is_negated),
        };
        let members = bytes_with_property(&name).ok_or_else(|| format!("there is no property `{name}`"))?;
        let mut class = String::from("[");
        let mut at: u16 = 0;
        while at < 256 {
            let has = |at: u16| members.get(usize::from(at)).is_some_and(|has| *has != is_negated);
            let start = at;
            while has(at) {
                at += 1;
            }
            if at > start {
                let _ = write!(class, "\\x{start:02X}-\\x{:02X}", at - 1);
            }
            at += 1;
        }
        if class.len() == 1 {
            class.push_str("^\\x00-\\xFF");
        }
        class.push(']');
        Ok(class)
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Copies the next bytes unchanged.
    fn copy(&mut self, len: usize) {
        for _ in 0..len {
            match self.next() {
                Some(byte) if byte.is_ascii() => self.out.push(char::from(byte)),
                Some(byte) => self.literal(byte),
                None => return,
            }
        }
    }

    /// Writes a byte as a literal.
    fn literal(&mut self, byte: u8) {
        // Writing to a string never fails.
        let _ = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => write!(self.out, "{}", char::from(byte)),
            // `\<` and `\>` would be word boundaries.
            b'<' | b'>' => write!(self.out, "\\x{byte:02X}"),
            _ if byte.is_ascii_punctuation() => write!(self.out, "\\{}", char::from(byte)),
            _ => write!(self.out, "\\x{byte:02X}"),
        };
    }
}

/// Returns the length of a repetition such as `{2}`, `{2,}` or `{2,3}` after its opening brace.
fn repetition_len(text: &[u8]) -> Option<usize> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut len = digits(text);
    if len == 0 {
        return None;
    }
    if text.get(len) == Some(&b',') {
        len += 1;
        len += digits(text.get(len..)?);
    }
    (text.get(len) == Some(&b'}')).then_some(len + 1)
}

/// Returns the bytes with a property, as characters of Latin-1; `None` for an unknown property.
fn bytes_with_property(name: &str) -> Option<[bool; 256]> {
    let class = match name {
        "L&" => r"[\p{Lu}\p{Ll}\p{Lt}]".to_owned(),
        "Xan" => r"[\p{L}\p{N}]".to_owned(),
        "Xwd" => r"[\p{L}\p{N}_]".to_owned(),
        "Xsp" | "Xps" => r"[\p{Z}\t-\r\x{85}]".to_owned(),
        _ if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'-')) => {
            format!(r"[\p{{{name}}}]")
        }
        _ => return None,
    };
    let hir = regex_syntax::parse(&class).ok()?;
    let mut has = [false; 256];
    // A class of a single character is a literal: it has no other Latin-1 character.
    if let HirKind::Class(Class::Unicode(class)) = hir.kind() {
        for (letter, has) in ('\0'..='\u{ff}').zip(&mut has) {
            *has = class.iter().any(|range| (range.start()..=range.end()).contains(&letter));
        }
    }
    Some(has)
}

#[cfg(test)]
mod tests {
    use super::{group_names, translate};

    fn check(text: &str, expected: &str) {
        assert_eq!(translate(text).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn syntax_with_the_same_meaning_is_unchanged() {
        for text in [r"^/a(.*)$", r"[a-c]?[^d]+?x{2,3}", r"(?i)a|(?:b)(?<n>c)(?P<m>d)", r"\d\w+\b/\s*\A\z"] {
            check(text, text);
        }
        check(r"\.php$", r"\.php$");
    }

    #[test]
    fn quoted_text_is_literal() {
        check(r"^/\Qa.b*\E+$", r"^/a\.b\*+$");
        check(r"\Q(", r"\(");
        check(r"a\Eb", "ab");
        check(r"[\Qa]^\E-]", r"[a\]\^\-]");
    }

    #[test]
    fn character_properties_are_those_of_latin_1() {
        check(r"\p{Lu}", r"(?-i:[\x41-\x5A\xC0-\xD6\xD8-\xDE])");
        check(r"\pN", r"(?-i:[\x30-\x39\xB2-\xB3\xB9-\xB9\xBC-\xBE])");
        check(
            r"[\P{L}_]",
            &format!("[{}_]", translate(r"\p{^L}").unwrap().replace("(?-i:", "").replace(')', "")),
        );
        check(r"\p{Zl}", r"(?-i:[^\x00-\xFF])");
        check(
            r"\p{L&}",
            &translate(r"[\p{LC}]").map(|class| format!("(?-i:{})", &class[1..class.len() - 1])).unwrap(),
        );
        assert!(translate(r"\p{Nothing}").is_err());
    }

    #[test]
    fn set_operators_in_classes_are_escaped() {
        check("[[a&&b~~+--d]", r"[\[a\&\&b\~\~\+-\-d]");
        check("[]a]", r"[\]a]");
        check("[^]a-]", r"[^\]a\-]");
        check(r"[\w-.]", r"[\w\-\.]");
        check(r"[a-\d]", r"[a\-\d]");
        check("[[:alpha:][:^digit:]x]", "[[:alpha:][:^digit:]x]");
        check(r"[\b\x2d\x{e9}\012]", r"[\x08\-\xE9\x0A]");
        check("é[é]", r"\xC3\xA9[\xC3\xA9]");
    }

    #[test]
    fn other_metacharacters_are_translated() {
        check("(?'n'a)(?#no)b", "(?P<n>a)b");
        check("/{id}{2", r"/\{id}\{2");
        check(r"a\Z\N\h\<", "a$[^\\n][\\t\\x20\\xA0]\\x3C");
        check("[*+]+", r"[\*\+]+");
    }

    #[test]
    fn constructs_that_need_backtracking_are_reported() {
        for (text, word) in [
            ("(?!x)", "look-ahead"),
            ("(?<=x)y", "look-behind"),
            (r"(a)\1", "references"),
            (r"(?<a>a)\k<a>", "references"),
            ("a++", "possessive"),
            ("x{2}+", "possessive"),
            ("(?>a)", "atomic"),
            ("(a(?R)?b)", "recursion"),
            ("(*UTF8)a", "verbs"),
            ("(?(1)a|b)", "condition"),
            (r"a\Kb", r"`\K`"),
            ("[a", "not closed"),
        ] {
            let reason = translate(text).unwrap_err();
            assert!(reason.contains(word), "{text}: {reason}");
        }
    }

    #[test]
    fn names_of_groups_are_found() {
        let names: Vec<&str> = group_names("(?<a>x)(?P<b>y)(?'c'z)(?<=d>)(?:e)(?<").collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
