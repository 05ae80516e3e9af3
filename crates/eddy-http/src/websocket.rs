//! WebSocket handshake: `Sec-WebSocket-Key` and `Sec-WebSocket-Accept`.

use base64ct::{Base64, Encoding};
use sha1::{Digest, Sha1};

/// Length of an encoded key, bytes.
pub const WEBSOCKET_KEY_BYTES: usize = 24;
/// Length of an encoded `Sec-WebSocket-Accept` value, bytes.
pub const WEBSOCKET_ACCEPT_BYTES: usize = 28;

/// Appended to a key before it is hashed.
const SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns the key for 16 random bytes.
///
/// # Spec
/// [RFC 6455 §4.1](https://www.rfc-editor.org/rfc/rfc6455#section-4.1)
pub fn websocket_key(random: [u8; 16]) -> [u8; WEBSOCKET_KEY_BYTES] {
    let mut key = [0; WEBSOCKET_KEY_BYTES];
    let written = Base64::encode(&random, &mut key);
    debug_assert!(written.is_ok(), "16 bytes are 24 letters");
    key
}

/// Whether a text is a valid key: 16 bytes in canonical base64.
pub fn is_websocket_key(text: &[u8]) -> bool {
    let mut random = [0; 16];
    text.len() == WEBSOCKET_KEY_BYTES
        && Base64::decode(text, &mut random).is_ok_and(|bytes| bytes.len() == 16)
}

/// Returns the `Sec-WebSocket-Accept` value for a key.
///
/// # Spec
/// [RFC 6455 §4.2.2](https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2)
pub fn websocket_accept(key: &[u8]) -> [u8; WEBSOCKET_ACCEPT_BYTES] {
    let digest = Sha1::new().chain_update(key).chain_update(SUFFIX).finalize();
    let mut accept = [0; WEBSOCKET_ACCEPT_BYTES];
    let written = Base64::encode(digest.as_slice(), &mut accept);
    debug_assert!(written.is_ok(), "20 bytes are 28 letters");
    accept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn websocket_accept_keys_match_the_rfc_example() {
        let key = b"dGhlIHNhbXBsZSBub25jZQ==";
        assert!(is_websocket_key(key));
        assert_eq!(&websocket_key(*b"the sample nonce"), key);
        assert_eq!(&websocket_accept(key), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn only_sixteen_bytes_in_base64_are_a_key() {
        for text in [
            "",
            "dGhlIHNhbXBsZSBub25jZQ=",
            "dGhlIHNhbXBsZSBub25jZQ",
            "dGhlIHNhbXBsZSBub25jZQ===",
            "dGhlIHNhbXBsZSBub25jZR==",
            "dGhlIHNhbXBsZSBub25jZTEy",
            "dGhlIHNhbXBsZSBub25jZ*==",
            " GhlIHNhbXBsZSBub25jZQ==",
        ] {
            assert!(!is_websocket_key(text.as_bytes()), "{text}");
        }
    }
}
