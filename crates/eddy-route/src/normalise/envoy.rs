//! Path normaliser of Envoy's connection manager: does nothing by default, more depending on its settings.

use crate::normalise::{Normal, PathFault, hex_value};

/// Settings of Envoy's connection manager for normalising paths before route matching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EnvoyPaths {
    /// `path_with_escaped_slashes_action`.
    pub escaped_slashes: EscapedSlashes,
    /// `normalize_path`: dot segments are resolved, `\` becomes `/`, escapes of letters, digits and `-._~` are decoded.
    pub normalizes: bool,
    /// `merge_slashes`.
    pub merges_slashes: bool,
}

/// Treatment of `%2F` and `%5C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EscapedSlashes {
    /// Unchanged.
    #[default]
    Kept,
    /// The request is rejected.
    Refused,
    /// Decoded.
    Decoded,
}

/// Normalises a path as Envoy does with these settings; `out` is cleared and written only if the result is `Changed`.
///
/// # Errors
///
/// A path that does not begin with `/`, an escaped slash where those are rejected, `%00` where paths are normalised;
/// the request must be answered 400.
///
/// # Cost
///
/// None with the default settings; else one pass per setting. Allocates only to grow `out`.
pub fn envoy(path: &[u8], settings: EnvoyPaths, out: &mut Vec<u8>) -> Result<Normal, PathFault> {
    if path.first() != Some(&b'/') && path != b"*" {
        return Err(PathFault::NotAbsolute);
    }
    if settings == EnvoyPaths::default() || path == b"*" {
        return Ok(Normal::AsIs);
    }
    out.clear();
    out.extend_from_slice(path);
    if settings.escaped_slashes != EscapedSlashes::Kept {
        decode_slashes(out, settings.escaped_slashes)?;
    }
    if settings.normalizes {
        resolve(out)?;
    }
    if settings.merges_slashes {
        let is_slashes = out.len() > 1 && out.iter().all(|byte| *byte == b'/');
        out.dedup_by(|next, before| *next == b'/' && *before == b'/');
        if is_slashes {
            // Envoy restores the first and the last slash, even with nothing between them.
            out.push(b'/');
        }
    }
    Ok(if out.as_slice() == path { Normal::AsIs } else { Normal::Changed })
}

/// Rewrites a path in place: `piece` maps each byte or escape (given with its value) to a replacement byte.
fn rewrite(
    path: &mut Vec<u8>,
    mut piece: impl FnMut(&[u8], Option<u8>) -> Result<Option<u8>, PathFault>,
) -> Result<(), PathFault> {
    let (mut from, mut to) = (0, 0);
    let mut lone = None;
    while let Some(rest) = path.get(from..).filter(|rest| !rest.is_empty()) {
        let escaped = match rest {
            [b'%', high, low, ..] => hex_value(*high).zip(hex_value(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        let len = if escaped.is_some() { 3 } else { 1 };
        let is_lone = len == 1 && rest[0] == b'%';
        match piece(&rest[..len], escaped)? {
            Some(byte) => {
                path[to] = byte;
                to += 1;
            }
            None => {
                if is_lone {
                    lone = Some(to);
                }
                path.copy_within(from..from + len, to);
                to += len;
            }
        }
        from += len;
        // Two bytes are free: an escape of three bytes has become one.
        if to + 2 <= from
            && len == 3
            && let Some(at) = lone.filter(|at| begins_escape(path, *at, to, from))
        {
            path.copy_within(at + 1..to, at + 3);
            path[at + 1..at + 3].copy_from_slice(b"25");
            to += 2;
            lone = None;
        }
    }
    path.truncate(to);
    Ok(())
}

/// Whether a literal `%` now begins an escape, because the text after it was decoded: `%3%41` must not become `%3A`,
/// which has another meaning. Output ends at `to`, input begins at `from`.
fn begins_escape(path: &[u8], percent: usize, to: usize, from: usize) -> bool {
    let low = match to - percent {
        2 => path.get(from),
        3 => path.get(percent + 2),
        _ => None,
    };
    low.is_some_and(|low| hex_value(path[percent + 1]).is_some() && hex_value(*low).is_some())
}

fn decode_slashes(path: &mut Vec<u8>, action: EscapedSlashes) -> Result<(), PathFault> {
    rewrite(path, |_, escaped| match escaped {
        Some(b'/') if action == EscapedSlashes::Refused => Err(PathFault::EncodedSlash),
        Some(b'\\') if action == EscapedSlashes::Refused => Err(PathFault::EncodedBackslash),
        Some(slash @ (b'/' | b'\\')) => Ok(Some(slash)),
        _ => Ok(None),
    })
}

/// Decodes unnecessary escapes and resolves dot segments, with or without parameters.
fn resolve(path: &mut Vec<u8>) -> Result<(), PathFault> {
    cut_parameters_of_dots(path);
    rewrite(path, |piece, escaped| match escaped {
        Some(0) => Err(PathFault::EncodedNul),
        Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => Ok(Some(byte)),
        Some(_) => Ok(None),
        None if piece == b"\\" => Ok(Some(b'/')),
        None => Ok(None),
    })?;
    let mut kept: Vec<usize> = Vec::new();
    let (mut from, mut to) = (0, 0);
    // Each iteration consumes a `/` and the following segment.
    while from < path.len() {
        let end =
            path[from + 1..].iter().position(|byte| *byte == b'/').map_or(path.len(), |at| from + 1 + at);
        let is_last = end == path.len();
        match &path[from + 1..end] {
            dots @ (b"." | b"..") => {
                if dots.len() == 2 {
                    to = kept.pop().unwrap_or(0);
                }
                if is_last {
                    path[to] = b'/';
                    to += 1;
                }
            }
            _ => {
                kept.push(to);
                path.copy_within(from..end, to);
                to += end - from;
            }
        }
        from = end;
    }
    path.truncate(to);
    Ok(())
}

/// Replaces `..;x` by the dot segment that an endpoint may take it for, if its dots are not escaped.
fn cut_parameters_of_dots(path: &mut Vec<u8>) {
    if memchr::memmem::find(path, b".;").is_none() {
        return;
    }
    let segments = path.split(|byte| *byte == b'/').map(|segment| match segment {
        [b'.', b'.', b';', ..] => b"..".as_slice(),
        [b'.', b';', ..] => b".",
        whole => whole,
    });
    *path = segments.collect::<Vec<_>>().join(&b'/');
}

#[cfg(test)]
mod tests {
    use super::{EnvoyPaths, EscapedSlashes, envoy};
    use crate::normalise::{Normal, PathFault};

    fn check(path: &str, settings: EnvoyPaths, expected: Result<&str, PathFault>) {
        let mut out = Vec::new();
        let normal = envoy(path.as_bytes(), settings, &mut out).map(|normal| match normal {
            Normal::AsIs => path.to_owned(),
            Normal::Changed => out.escape_ascii().to_string(),
        });
        assert_eq!(normal, expected.map(str::to_owned), "{path}");
    }

    #[test]
    fn paths_are_unchanged_by_default() {
        for path in ["/", "//a/../b;c%2f%61", "*", "/%zz"] {
            check(path, EnvoyPaths::default(), Ok(path));
        }
        check("a", EnvoyPaths::default(), Err(PathFault::NotAbsolute));
    }

    #[test]
    fn dot_segments_are_resolved_and_letters_decoded() {
        let settings = EnvoyPaths { normalizes: true, ..EnvoyPaths::default() };
        for (path, expected) in [
            ("/x/../exact", "/exact"),
            ("/%65xact", "/exact"),
            ("/a%2fb%3F", "/a%2fb%3F"),
            ("/a/%2e%2E/b", "/b"),
            ("/a/.", "/a/"),
            ("/a/..", "/"),
            ("/a/./b", "/a/b"),
            ("/../../a", "/a"),
            ("/..", "/"),
            (r"/a\b", "/a/b"),
            ("//a//../b", "//a/b"),
            ("/a;p/b", "/a;p/b"),
            ("/%zz", "/%zz"),
            ("/ab%3%41F", "/ab%253AF"),
            ("/%%33A", "/%253A"),
            ("/%%33%41", "/%253A"),
            ("/%%41%42/", "/%25AB/"),
            ("/%%41z", "/%Az"),
            ("/%3%4", "/%3%4"),
            ("/%a%2fb", "/%a%2fb"),
            ("/a/...", "/a/..."),
            ("/a/..;p", "/"),
            ("/a/..;", "/"),
            ("/a/.;p/b", "/a/b"),
            ("/a/..;p/b", "/b"),
            ("/a/...;p", "/a/...;p"),
            ("/a/%2e%2e;p", "/a/..;p"),
        ] {
            check(path, settings, Ok(expected));
        }
        check("/%00", settings, Err(PathFault::EncodedNul));
    }

    #[test]
    fn slashes_are_decoded_refused_and_merged() {
        let decoded = EnvoyPaths { escaped_slashes: EscapedSlashes::Decoded, ..EnvoyPaths::default() };
        check("/a%2Fb%5cc", decoded, Ok(r"/a/b\\c"));
        let refused = EnvoyPaths { escaped_slashes: EscapedSlashes::Refused, ..EnvoyPaths::default() };
        check("/a%2Fb", refused, Err(PathFault::EncodedSlash));
        check("/a%5Cb", refused, Err(PathFault::EncodedBackslash));
        check("/a%41b", refused, Ok("/a%41b"));
        let merged = EnvoyPaths { merges_slashes: true, ..EnvoyPaths::default() };
        check("//a///b/", merged, Ok("/a/b/"));
        check("///", merged, Ok("//"));
        check("/", merged, Ok("/"));
        let all = EnvoyPaths { normalizes: true, merges_slashes: true, ..decoded };
        check("//a%2F%2f..%2Fb", all, Ok("/a/b"));
    }
}
