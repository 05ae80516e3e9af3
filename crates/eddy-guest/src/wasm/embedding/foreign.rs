//! Functions that modules call by name.

use std::borrow::Cow;

use eddy_filter::{Direction, Edit, Phase};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use proxy_wasm_host::abi::{Answer, Status};
use proxy_wasm_host::{PropertyPath, Scope};

use super::Embedding;

impl Embedding {
    pub(super) fn call_by_name(
        &mut self,
        scope: Scope,
        name: &[u8],
        arguments: &[u8],
    ) -> Answer<Cow<'static, [u8]>> {
        match name {
            b"clear_route_cache" => self.clear_route(scope).map(|()| Cow::Borrowed(b"".as_slice())),
            b"set_envoy_filter_state" => {
                let (path, value) = path_and_value(arguments).ok_or(Status::BadArgument)?;
                self.write_property(scope, PropertyPath(path), value)?;
                Ok(Cow::Borrowed(b""))
            }
            b"compress" => Ok(compress_to_vec_zlib(arguments, COMPRESSION_LEVEL).into()),
            b"uncompress" => decompress_to_vec_zlib_with_limit(arguments, UNCOMPRESSED_BYTES_MAX)
                .map(Cow::Owned)
                .map_err(|_| Status::BadArgument),
            _ => Err(Status::NotFound),
        }
    }

    /// Has the rule looked up again.
    pub(super) fn clear_route(&mut self, scope: Scope) -> Answer {
        let sight = self.sight_of_mut(scope.context, Direction::Request).ok_or(Status::BadArgument)?;
        let is_open = match sight.phase() {
            Some(Phase::RequestHead) => true,
            Some(Phase::RequestBody) => sight.is_head_open,
            _ => false,
        };
        if is_open { sight.push(&Edit::ClearRoute) } else { Err(Status::BadArgument) }
    }
}

/// The first two fields of a message in the form of protocol buffers.
fn path_and_value(mut bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut path, mut value) = (b"".as_slice(), b"".as_slice());
    while !bytes.is_empty() {
        let (tag, rest) = number(bytes)?;
        match tag & 7 {
            0 => (_, bytes) = number(rest)?,
            2 => {
                let (len, rest) = number(rest)?;
                let (text, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                match tag >> 3 {
                    1 => path = text,
                    2 => value = text,
                    _ => {}
                }
                bytes = rest;
            }
            _ => return None,
        }
    }
    (!path.is_empty()).then_some((path, value))
}

/// A number in groups of seven bits, the lowest first.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(index).ok()? * 7)?;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

const COMPRESSION_LEVEL: u8 = 6;
const UNCOMPRESSED_BYTES_MAX: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::path_and_value;

    #[test]
    fn arguments_are_read_with_suspicion() {
        assert_eq!(path_and_value(b"\x0a\x01a\x12\x02bc\x18\x01"), Some((&b"a"[..], &b"bc"[..])));
        for bad in [
            &b""[..],
            b"\x0a",
            b"\x0a\x05a",
            b"\x12\x01b",
            b"\x0b",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(path_and_value(bad), None, "{bad:?}");
        }
    }
}
