//! Reads the server name from a TLS ClientHello without answering it.

use rustls::server::Acceptor;

/// Maximum bytes of a ClientHello.
pub const HELLO_BYTES_MAX: usize = 64 * 1024;

/// Contents of the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hello {
    /// More bytes are needed.
    Partial,
    /// TLS handshake, with the requested server name in lower case, if any.
    Tls(Option<String>),
    /// Not TLS, malformed, or longer than [`HELLO_BYTES_MAX`].
    Other,
}

/// Parses the first bytes of a connection.
///
/// # Cost
/// Linear in the bytes; a ClientHello of some hundred bytes takes a few microseconds.
///
/// # Source
/// RFC 8446 §4.1.2, RFC 6066 §3; read by rustls.
pub fn read_hello(bytes: &[u8]) -> Hello {
    /// Record type of handshake messages.
    const HANDSHAKE: u8 = 22;
    match bytes.first() {
        None => return Hello::Partial,
        Some(&HANDSHAKE) => {}
        Some(_) => return Hello::Other,
    }
    let mut acceptor = Acceptor::default();
    let mut rest = bytes;
    loop {
        let is_read = acceptor.read_tls(&mut rest).is_ok_and(|count| count > 0);
        match acceptor.accept() {
            Ok(Some(accepted)) => {
                let name = accepted.client_hello().server_name().map(str::to_owned);
                return Hello::Tls(name);
            }
            Ok(None) if is_read => {}
            Ok(None) if bytes.len() < HELLO_BYTES_MAX => return Hello::Partial,
            Ok(None) | Err(_) => return Hello::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::crypto::aws_lc_rs;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;

    /// Returns the first message of a client that connects to `name`.
    fn hello(name: &str, has_name: bool) -> Vec<u8> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.enable_sni = has_name;
        let mut client =
            ClientConnection::new(Arc::new(config), name.to_owned().try_into().unwrap()).unwrap();
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        bytes
    }

    #[test]
    fn the_server_name_is_available_once_the_client_hello_is_complete() {
        let bytes = hello("Db.Example.COM", true);
        for len in 0..bytes.len() {
            assert_eq!(read_hello(&bytes[..len]), Hello::Partial, "{len} of {}", bytes.len());
        }
        assert_eq!(read_hello(&bytes), Hello::Tls(Some("db.example.com".to_owned())));
        let more = [&bytes[..], b"what follows"].concat();
        assert_eq!(read_hello(&more), Hello::Tls(Some("db.example.com".to_owned())));
        assert_eq!(read_hello(&hello("db.example.com", false)), Hello::Tls(None));
    }

    #[test]
    fn bytes_that_are_not_a_client_hello_are_detected_immediately() {
        for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"\x00", b"SSH-2.0-x\r\n", b"\x16\x03\x01\x00\x05hello"] {
            assert_eq!(read_hello(bytes), Hello::Other, "{bytes:?}");
        }
        // With any byte of the message changed, parsing returns and does not panic.
        let bytes = hello("db.example.com", true);
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            let _ = read_hello(&bytes);
        }
    }
}
