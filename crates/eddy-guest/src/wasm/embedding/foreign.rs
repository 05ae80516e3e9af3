//! Foreign functions that modules call by name.

use std::borrow::Cow;
use std::net::SocketAddr;

use base64ct::{Base64, Encoding};
use eddy_filter::{Direction, FilterEdit, FilterLogLevel, Phase};
use eddy_http::Method;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use proxy_wasm_host::abi::{HostResult, Status, StreamType};
use proxy_wasm_host::{CallerScope, Host, PropertyPath};

use super::Embedding;
use crate::message_view::MessageView;
use crate::signature::PublicKey;

impl Embedding {
    pub(super) fn call_by_name(
        &mut self,
        scope: CallerScope,
        name: &[u8],
        arguments: &[u8],
    ) -> HostResult<Cow<'static, [u8]>> {
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
            b"get_log_level" => Ok(self.log_level(scope).wire().to_le_bytes().to_vec().into()),
            b"set_upstream_override_host" => {
                self.select_endpoint(scope, arguments)?;
                Ok(Cow::Borrowed(b""))
            }
            b"inject_encoded_data_to_filter_chain_on_header" => {
                self.supply_response_body(scope, arguments)?;
                Ok(Cow::Borrowed(b""))
            }
            b"verify_signature" => verify_signature(arguments).map(Cow::Owned).ok_or(Status::BadArgument),
            _ => Err(self.note_unknown(scope, name, Status::NotFound)),
        }
    }

    /// Logs the call of a function that is missing, once for each function of the module, and returns the status.
    pub(super) fn note_unknown(&mut self, scope: CallerScope, name: &[u8], status: Status) -> Status {
        if let Some(text) = self.common.unknown.note(name, status) {
            self.log_as(scope.context, FilterLogLevel::Warn, text.as_bytes());
        }
        status
    }

    /// Requests that the route is selected again.
    pub(super) fn clear_route(&mut self, scope: CallerScope) -> HostResult {
        self.open_request(scope)?.push(&FilterEdit::ClearRoute)
    }

    /// Selects the endpoint of a request, if the cluster has it; otherwise the load balancer does.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if this is not an address with a port, or the request has been sent.
    pub(super) fn select_endpoint(&mut self, scope: CallerScope, address: &[u8]) -> HostResult {
        let text = std::str::from_utf8(address).map_err(|_| Status::BadArgument)?;
        text.parse::<SocketAddr>().map_err(|_| Status::BadArgument)?;
        self.open_request(scope)?.push(&FilterEdit::Endpoint { address, is_strict: false })
    }

    /// Returns the view of a request that has not been sent.
    fn open_request(&mut self, scope: CallerScope) -> HostResult<&mut MessageView> {
        let message_view = self.view_of_mut(scope.context, Direction::Request).ok_or(Status::BadArgument)?;
        let is_open = match message_view.phase() {
            Some(Phase::RequestHead) => true,
            Some(Phase::RequestBody) => message_view.is_head_open,
            _ => false,
        };
        if is_open { Ok(message_view) } else { Err(Status::BadArgument) }
    }

    /// Gives a response a body that has none, and continues it; the arguments are a protobuf message with the body and
    /// whether nothing follows, which must be so.
    fn supply_response_body(&mut self, scope: CallerScope, arguments: &[u8]) -> HostResult {
        let [_, body, ..] = texts(arguments).ok_or(Status::BadArgument)?;
        let message_view = self.view_of_mut(scope.context, Direction::Response).ok_or(Status::BadArgument)?;
        let may_have_body = message_view.view().is_some_and(|view| {
            let status = message_view.status();
            let is_bodiless = view.request.method == Method::Head || matches!(status, 204 | 205 | 304);
            view.phase == Phase::ResponseHead && view.is_end && !is_bodiless
        });
        if !may_have_body || !is_set(arguments, INJECTION_ENDS) {
            return Err(Status::BadArgument);
        }
        message_view.push(&FilterEdit::BodySet(body))?;
        self.continue_stream(scope, StreamType::HttpResponse)
    }
}

/// Returns the first two fields of a protobuf message.
fn path_and_value(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, path, value, ..] = texts(bytes)?;
    (!path.is_empty()).then_some((path, value))
}

/// Verifies a signature; arguments and result are protobuf messages.
fn verify_signature(arguments: &[u8]) -> Option<Vec<u8>> {
    let [_, hash, der, signature, text, pem] = texts(arguments)?;
    let verified = match decoded(pem) {
        Some(_) if !der.is_empty() && !pem.is_empty() => Err("more than one key is given".to_owned()),
        None => Err("the key is not valid PEM".to_owned()),
        Some(decoded) => PublicKey::read(if der.is_empty() { &decoded } else { der })
            .and_then(|key| key.verify(hash, signature, text)),
    };
    Some(match verified {
        Ok(()) => vec![IS_VERIFIED, 1],
        Err(why) => {
            let why = why.as_bytes();
            let why = why.get(..WHY_BYTES_MAX).unwrap_or(why);
            let mut answer = vec![WHY_NOT, u8::try_from(why.len()).unwrap_or(u8::MAX)];
            answer.extend_from_slice(why);
            answer
        }
    })
}

/// Decodes the content of a PEM text (RFC 7468).
fn decoded(pem: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pem).ok()?;
    let inner: String = text.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    Base64::decode_vec(&inner).ok()
}

/// Returns the last text of each field of a message, by field number; higher numbers are ignored.
pub(super) fn texts(mut bytes: &[u8]) -> Option<[&[u8]; 6]> {
    let mut texts = [b"".as_slice(); 6];
    while !bytes.is_empty() {
        let (tag, rest) = number(bytes)?;
        match tag & 7 {
            0 => (_, bytes) = number(rest)?,
            2 => {
                let (len, rest) = number(rest)?;
                let (text, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                if let Some(place) = texts.get_mut(usize::try_from(tag >> 3).ok()?) {
                    *place = text;
                }
                bytes = rest;
            }
            _ => return None,
        }
    }
    Some(texts)
}

/// Whether the last value of a boolean field of a message is true.
fn is_set(mut bytes: &[u8], field: u64) -> bool {
    let mut is_set = false;
    while let Some((tag, rest)) = number(bytes) {
        let Some((value, rest)) = number(rest) else { return false };
        match tag & 7 {
            0 if tag >> 3 == field => (is_set, bytes) = (value != 0, rest),
            0 => bytes = rest,
            2 => match usize::try_from(value).ok().and_then(|len| rest.get(len..)) {
                Some(rest) => bytes = rest,
                None => return false,
            },
            _ => return false,
        }
    }
    is_set
}

/// Parses a varint.
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

/// Field of an injection: whether nothing follows.
const INJECTION_ENDS: u64 = 2;
/// Fields of the result: whether the signature is valid, and the reason if not.
const IS_VERIFIED: u8 = 1 << 3;
const WHY_NOT: u8 = (2 << 3) | 2;
/// Maximum length that takes one byte.
const WHY_BYTES_MAX: usize = 127;
const COMPRESSION_LEVEL: u8 = 6;
const UNCOMPRESSED_BYTES_MAX: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Encoding};

    use super::{is_set, path_and_value, verify_signature};

    #[test]
    fn arguments_are_validated() {
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

    #[test]
    fn a_boolean_field_is_read() {
        let message = b"\x0a\x02\x10\x01\x10\x01";
        assert!(is_set(message, 2) && !is_set(message, 1) && !is_set(message, 3));
        assert!(!is_set(b"\x10\x01\x10\x00", 2) && is_set(b"\x10\x00\x10\x07", 2));
        assert!(!is_set(b"\x10\x01\x0a\x05a", 2) && !is_set(b"\x10\x01\x0b", 2), "malformed");
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|two| u8::try_from(two[0] * 16 + two[1]).unwrap()).collect()
    }

    /// Builds a message with these texts.
    fn message(texts: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, text) in texts {
            let len = u8::try_from(text.len()).unwrap();
            bytes.extend([number << 3 | 2, len | 0x80, len >> 7]);
            bytes.extend_from_slice(text);
        }
        bytes
    }

    #[test]
    fn signatures_are_verified() {
        let (key, signature) = (bytes(EC), bytes(EC_SHA256));
        let pem = format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            Base64::encode_string(&key)
        );
        let asked = |key: (u8, &[u8]), hash: &str, text: &str| {
            let texts = [(1, hash.as_bytes()), key, (3, &*signature), (4, text.as_bytes())];
            verify_signature(&message(&texts)).unwrap()
        };
        assert_eq!(asked((2, &key), "sha256", "signed text"), [8, 1]);
        assert_eq!(asked((5, pem.as_bytes()), "SHA256", "signed text"), [8, 1]);
        for (key, hash, text, why) in [
            ((2, &*key), "sha256", "signed test", "Failed to verify digest."),
            ((2, &*key), "md5", "signed text", "md5 is not supported."),
            ((2, b"no key".as_slice()), "sha256", "signed text", "not a public key"),
            ((5, b"no key".as_slice()), "sha256", "signed text", "the key is not valid PEM"),
            ((6, b"no key at all".as_slice()), "sha256", "signed text", "not a public key"),
        ] {
            let answer = asked(key, hash, text);
            assert_eq!((answer[0], usize::from(answer[1])), (0x12, answer.len() - 2));
            assert!(String::from_utf8_lossy(&answer[2..]).starts_with(why), "{answer:?}");
        }
        assert_eq!(verify_signature(b"\x0a\x05a"), None);
    }

    const EC: &str = "\
        3059301306072a8648ce3d020106082a8648ce3d030107034200046c74dfe914a7182f8084a4e51bf2cda9c6edbb38c5\
        395576084aa8dced31bba232db1a143c14001364430c9077c1b073e86d7d2c993d9441a402c7ce33daa6db";
    const EC_SHA256: &str = "\
        304402205cbbf360dbeb142379790c7c5ec201ca5cfc924fc73c0d04902cc9c89e379638022021e3c2159ced4e17b91d\
        65f1c054debc19aec4c030be9f3d098faf3306984273";
}
