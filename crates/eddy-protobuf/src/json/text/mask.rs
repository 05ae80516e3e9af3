//! Field mask paths: `snake_case` on the wire, `camelCase` in JSON.

/// Appends a path in camel case; returns `None` if it is invalid or would not convert back to the same path.
pub(in crate::json) fn write_mask_path(out: &mut Vec<u8>, path: &[u8]) -> Option<()> {
    let mut is_upper = false;
    // Names begin with a letter or underscore.
    let mut is_start = true;
    for byte in path {
        match byte {
            b'_' if is_upper => return None,
            b'_' => is_upper = true,
            b'a'..=b'z' if is_upper => {
                out.push(byte.to_ascii_uppercase());
                is_upper = false;
            }
            // Only a lowercase letter after an underscore can be capitalized.
            _ if is_upper => return None,
            b'.' if !is_start => out.push(b'.'),
            b'0'..=b'9' if !is_start => out.push(*byte),
            b'a'..=b'z' => out.push(*byte),
            _ => return None,
        }
        is_start = *byte == b'.';
    }
    (!is_upper && !is_start).then_some(())
}

/// Appends a JSON path in its wire form; returns `None` if it is not a path of camel-case names.
pub(in crate::json) fn read_mask_path(out: &mut Vec<u8>, path: &[u8]) -> Option<()> {
    let mut is_start = true;
    for byte in path {
        match byte {
            b'A'..=b'Z' => out.extend_from_slice(&[b'_', byte.to_ascii_lowercase()]),
            b'a'..=b'z' => out.push(*byte),
            b'0'..=b'9' | b'.' if !is_start => out.push(*byte),
            _ => return None,
        }
        is_start = *byte == b'.';
    }
    (!is_start).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_mask_paths_round_trip_or_are_refused() {
        for (path, json) in [("foo_bar", "fooBar"), ("a.b_c.d1", "a.bC.d1"), ("_a", "A"), ("a._b", "a.B")] {
            let (mut written, mut read) = (Vec::new(), Vec::new());
            write_mask_path(&mut written, path.as_bytes()).unwrap();
            read_mask_path(&mut read, json.as_bytes()).unwrap();
            assert_eq!((written, read), (json.as_bytes().to_vec(), path.as_bytes().to_vec()));
        }
        for path in ["", "fooBar", "a__b", "a_", "a_1", "1a", "a..b", ".a", "a.", "a,b", "a-b"] {
            assert_eq!(write_mask_path(&mut Vec::new(), path.as_bytes()), None, "{path}");
        }
        for path in ["", "foo_bar", "1a", "a..b", ".a", "a.", "a b", "é"] {
            assert_eq!(read_mask_path(&mut Vec::new(), path.as_bytes()), None, "{path}");
        }
    }
}
