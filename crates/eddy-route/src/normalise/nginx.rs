//! Path normaliser of NGINX: produces the path for its locations and `$uri`.

use crate::normalise::{PathFault, hex_value};

/// Properties of a path as sent; rewrites use them to decide on escaping captured text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Whether it has a percent-escape.
    pub is_quoted: bool,
    /// Whether it has a `+`, plain or escaped.
    pub has_plus: bool,
}

/// Treatment of repeated slashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slashes {
    /// Merged into one: `merge_slashes on`, the default.
    Merged,
    /// Unchanged.
    Kept,
}

/// Decodes every escape once, including `%2F`, resolves dot segments and merges slashes; `out` is cleared and written.
///
/// An escaped `?`, `#` or `%` becomes a byte of the path. Letter case and all other bytes are unchanged.
///
/// # Errors
///
/// An incomplete escape, `%00`, and `..` above the root; the request must be answered 400.
///
/// # Cost
///
/// One pass. Allocates only to grow `out`.
pub fn nginx(path: &[u8], slashes: Slashes, out: &mut Vec<u8>) -> Result<Spelling, PathFault> {
    out.clear();
    let mut spelling = Spelling::default();
    let mut state = NginxNormaliserState::Usual;
    let mut rest = path;
    if rest.first() != Some(&b'/') {
        if !rest.is_empty() {
            return Err(PathFault::NotAbsolute);
        }
        rest = b"/";
    }
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let mut byte = byte;
        if byte == b'%' {
            spelling.is_quoted = true;
            let [high, low, after @ ..] = tail else { return Err(PathFault::BadEscape) };
            let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low)) else {
                return Err(PathFault::BadEscape);
            };
            byte = high << 4 | low;
            rest = after;
            match byte {
                0 => return Err(PathFault::EncodedNul),
                b'%' | b'#' | b'?' => {
                    out.push(byte);
                    state = NginxNormaliserState::Usual;
                    continue;
                }
                _ => {}
            }
        }
        spelling.has_plus |= byte == b'+';
        state = state.after(byte, slashes, out)?;
    }
    match state {
        NginxNormaliserState::Dot => {
            out.pop();
        }
        NginxNormaliserState::DotDot => step_up(out)?,
        NginxNormaliserState::Usual | NginxNormaliserState::Slash => {}
    }
    Ok(spelling)
}

/// Classification of the last written bytes.
#[derive(Clone, Copy)]
enum NginxNormaliserState {
    Usual,
    Slash,
    Dot,
    DotDot,
}

impl NginxNormaliserState {
    fn after(self, byte: u8, slashes: Slashes, out: &mut Vec<u8>) -> Result<Self, PathFault> {
        match (self, byte) {
            (Self::Slash, b'/') => {
                if slashes == Slashes::Kept {
                    out.push(byte);
                }
                Ok(Self::Slash)
            }
            (Self::Dot, b'/') => {
                out.pop();
                Ok(Self::Slash)
            }
            (Self::DotDot, b'/') => {
                step_up(out)?;
                Ok(Self::Slash)
            }
            (Self::Usual, b'/') => {
                out.push(byte);
                Ok(Self::Slash)
            }
            (_, _) => {
                out.push(byte);
                Ok(match (self, byte) {
                    (Self::Slash, b'.') => Self::Dot,
                    (Self::Dot, b'.') => Self::DotDot,
                    _ => Self::Usual,
                })
            }
        }
    }
}

/// Removes `..`, the slash before it and the segment before that.
fn step_up(out: &mut Vec<u8>) -> Result<(), PathFault> {
    let before = out.len().checked_sub(3).ok_or(PathFault::DotSegment)?;
    let slash = out[..before].iter().rposition(|byte| *byte == b'/').ok_or(PathFault::DotSegment)?;
    out.truncate(slash + 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PathFault, Slashes, Spelling, nginx};

    fn check(path: &str, merged: Result<&str, PathFault>, kept: Result<&str, PathFault>) {
        let mut out = b"left over".to_vec();
        for (slashes, expected) in [(Slashes::Merged, merged), (Slashes::Kept, kept)] {
            let normal = nginx(path.as_bytes(), slashes, &mut out).map(|_| out.escape_ascii().to_string());
            assert_eq!(normal, expected.map(str::to_owned), "{path} {slashes:?}");
        }
    }

    #[test]
    fn paths_are_normalised_as_in_nginx() {
        let same = |path: &str, expected| check(path, expected, expected);
        same("", Ok("/"));
        same("/a/b.c", Ok("/a/b.c"));
        same("/%61%2Fb", Ok("/a/b"));
        same("/a%2fb%2F", Ok("/a/b/"));
        same("/a%3Fb%23c%25d", Ok("/a?b#c%d"));
        same("/a/./b/../c", Ok("/a/c"));
        same("/a/%2e%2E/c", Ok("/c"));
        same("/a/.", Ok("/a/"));
        same("/a/..", Ok("/"));
        same("/a/...", Ok("/a/..."));
        same("/a/.b/..c", Ok("/a/.b/..c"));
        same("/..", Err(PathFault::DotSegment));
        same("/a/../..", Err(PathFault::DotSegment));
        same("/a/../../b", Err(PathFault::DotSegment));
        same("/%00", Err(PathFault::EncodedNul));
        same("/%2", Err(PathFault::BadEscape));
        same("/%zz", Err(PathFault::BadEscape));
        same("a", Err(PathFault::NotAbsolute));
        same("/a;p/..;/b", Ok("/a;p/..;/b"));
        check("//a///b/", Ok("/a/b/"), Ok("//a///b/"));
        check("/a//../b", Ok("/b"), Ok("/a/b"));
        check("/%2F%2Fa", Ok("/a"), Ok("///a"));
        check("//..", Err(PathFault::DotSegment), Ok("/"));
    }

    #[test]
    fn the_spelling_of_the_path_is_reported() {
        let spelling = |path: &str| nginx(path.as_bytes(), Slashes::Merged, &mut Vec::new());
        assert_eq!(spelling("/a"), Ok(Spelling::default()));
        assert_eq!(spelling("/a+b"), Ok(Spelling { is_quoted: false, has_plus: true }));
        assert_eq!(spelling("/a%2bb"), Ok(Spelling { is_quoted: true, has_plus: true }));
    }
}
