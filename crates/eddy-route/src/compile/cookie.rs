//! Cookies of a request.

use eddy_http::{FieldId, Fields};

/// Returns the value of the first cookie with this name, without optional quotation marks.
///
/// # Spec
/// RFC 6265 §5.4: pairs separated by `;`. Spaces before a name are not part of it.
pub(crate) fn first_cookie<'a>(fields: Fields<'a>, name: &[u8]) -> Option<&'a [u8]> {
    fields.all(FieldId::Cookie).flat_map(|line| line.split(|byte| *byte == b';')).find_map(|pair| {
        let equals = memchr::memchr(b'=', pair)?;
        let (own, value) = pair.split_at_checked(equals)?;
        let value = value.strip_prefix(b"=")?;
        (own.trim_ascii_start() == name).then(|| bare(value))
    })
}

fn bare(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use eddy_http::{Field, FieldId, Fields, Span};

    use super::first_cookie;

    fn check(line: &str, expected: Option<&str>) {
        let length = u32::try_from(line.len()).unwrap();
        let value = Span { start: 0, end: length };
        let fields = [Field { name: Span::default(), value, id: FieldId::Cookie, ..Field::default() }];
        let found = first_cookie(Fields::new(line.as_bytes(), &fields), b"a");
        assert_eq!(found, expected.map(str::as_bytes), "{line}");
    }

    #[test]
    fn the_first_cookie_of_a_name_counts() {
        check("a=1", Some("1"));
        check("b=2; a=1; a=3", Some("1"));
        check("ab=2;a=\"x y\"", Some("x y"));
        check("a=", Some(""));
        check("a=b=c", Some("b=c"));
        check("a", None);
        check("A=1", None);
        check("b=a=1", None);
    }
}
