//! PROXY protocol, versions 1 and 2: the header in which a proxy in front of eddy passes on a connection's addresses.
//!
//! # Spec
//! <https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thiserror::Error;

/// Maximum size of a header, in bytes: the addresses of both sides and any TLVs behind them.
pub const PROXY_HEADER_BYTES_MAX: usize = 4096;

/// Contents of a PROXY header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeader {
    /// Connection of a client, with the addresses of both ends.
    Proxied {
        /// Client address.
        source: SocketAddr,
        /// Address that the client connected to.
        destination: SocketAddr,
    },
    /// No addresses: the proxy's own connection, as for a health check, or an unknown client.
    Local,
}

/// PROXY protocol version to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeaderVersion {
    /// Text line.
    V1,
    /// Binary header.
    V2,
}

/// Why a header is invalid.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ProxyHeaderFault {
    /// The connection does not begin with a PROXY header.
    #[error("the connection doesn't begin with a PROXY header")]
    Missing,
    /// The header is malformed.
    #[error("the PROXY header is malformed")]
    Malformed,
    /// The header is longer than [`PROXY_HEADER_BYTES_MAX`].
    #[error("the PROXY header is too long")]
    TooLong,
}

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Length of the fixed part of a version 2 header.
const FIXED_BYTES: usize = 16;
/// Maximum length of a version 1 line, including its line end.
const LINE_BYTES_MAX: usize = 107;

/// Parses the header at the start of `bytes` and returns it with its length; `None` while it is incomplete.
///
/// # Errors
/// [`ProxyHeaderFault`], as soon as it is certain.
pub fn read_proxy_header(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    if is_beginning(bytes, SIGNATURE) {
        return read_binary(bytes);
    }
    if is_beginning(bytes, b"PROXY ") {
        return read_line(bytes);
    }
    Err(ProxyHeaderFault::Missing)
}

/// Whether `bytes` and `mark` agree over their common length.
fn is_beginning(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.iter().zip(mark).all(|(a, b)| a == b)
}

fn read_binary(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    let Some((fixed, rest)) = bytes.split_first_chunk::<FIXED_BYTES>() else { return Ok(None) };
    let [.., command, family, high, low] = *fixed;
    let is_proxied = match command {
        0x20 => false,
        0x21 => true,
        _ => return Err(ProxyHeaderFault::Malformed),
    };
    let len = usize::from(u16::from_be_bytes([high, low]));
    if FIXED_BYTES + len > PROXY_HEADER_BYTES_MAX {
        return Err(ProxyHeaderFault::TooLong);
    }
    let Some(addresses) = rest.get(..len) else { return Ok(None) };
    let header = match (is_proxied, family) {
        (true, 0x11) => {
            let Some(([a, b, c, d, e, f, g, h, ports @ ..], _)) = addresses.split_first_chunk::<12>() else {
                return Err(ProxyHeaderFault::Malformed);
            };
            let (source, destination) = (Ipv4Addr::new(*a, *b, *c, *d), Ipv4Addr::new(*e, *f, *g, *h));
            proxied(source.into(), destination.into(), *ports)
        }
        (true, 0x21) => {
            let Some((chunk, _)) = addresses.split_first_chunk::<36>() else {
                return Err(ProxyHeaderFault::Malformed);
            };
            let (source, rest) = chunk.split_first_chunk::<16>().ok_or(ProxyHeaderFault::Malformed)?;
            let (destination, ports) = rest.split_first_chunk::<16>().ok_or(ProxyHeaderFault::Malformed)?;
            let ports = ports.first_chunk::<4>().ok_or(ProxyHeaderFault::Malformed)?;
            proxied(Ipv6Addr::from(*source).into(), Ipv6Addr::from(*destination).into(), *ports)
        }
        // Datagrams, Unix sockets and unspecified families have no address that is of use here.
        (true, 0x00 | 0x12 | 0x22 | 0x31 | 0x32) | (false, _) => ProxyHeader::Local,
        (true, _) => return Err(ProxyHeaderFault::Malformed),
    };
    Ok(Some((header, FIXED_BYTES + len)))
}

fn proxied(source: IpAddr, destination: IpAddr, ports: [u8; 4]) -> ProxyHeader {
    let [a, b, c, d] = ports;
    ProxyHeader::Proxied {
        source: SocketAddr::new(source, u16::from_be_bytes([a, b])),
        destination: SocketAddr::new(destination, u16::from_be_bytes([c, d])),
    }
}

fn read_line(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    let seen = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
    let Some(end) = seen.iter().position(|byte| *byte == b'\n') else {
        return if seen.len() < LINE_BYTES_MAX { Ok(None) } else { Err(ProxyHeaderFault::TooLong) };
    };
    let line =
        bytes.get(..end).and_then(|line| line.strip_suffix(b"\r")).ok_or(ProxyHeaderFault::Malformed)?;
    let line = std::str::from_utf8(line).map_err(|_| ProxyHeaderFault::Malformed)?;
    let mut words = line.split(' ').skip(1);
    let header = match words.next() {
        // The rest of the line is to be ignored.
        Some("UNKNOWN") => ProxyHeader::Local,
        Some(family @ ("TCP4" | "TCP6")) => {
            let mut address = || -> Option<IpAddr> {
                let text = words.next()?;
                match family {
                    "TCP4" => text.parse::<Ipv4Addr>().ok().map(IpAddr::from),
                    _ => text.parse::<Ipv6Addr>().ok().map(IpAddr::from),
                }
            };
            let (source, destination) = (address(), address());
            let mut port = || words.next().and_then(port_of);
            let (from, to) = (port(), port());
            match (source, destination, from, to, words.next()) {
                (Some(source), Some(destination), Some(from), Some(to), None) => ProxyHeader::Proxied {
                    source: SocketAddr::new(source, from),
                    destination: SocketAddr::new(destination, to),
                },
                _ => return Err(ProxyHeaderFault::Malformed),
            }
        }
        _ => return Err(ProxyHeaderFault::Malformed),
    };
    Ok(Some((header, end + 1)))
}

/// Parses a decimal port without sign or leading zeros.
fn port_of(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

/// Writes the header of a connection from `source` to `destination`; addresses of different families are written as
/// IPv6.
pub fn write_proxy_header(
    out: &mut Vec<u8>,
    version: ProxyHeaderVersion,
    source: SocketAddr,
    destination: SocketAddr,
) {
    let (from, to) = one_family(source.ip(), destination.ip());
    match version {
        ProxyHeaderVersion::V1 => {
            let family = if from.is_ipv4() { "TCP4" } else { "TCP6" };
            let mut line = String::with_capacity(LINE_BYTES_MAX);
            // Writing to a string never fails.
            let _ = write!(line, "PROXY {family} {from} {to} {} {}\r\n", source.port(), destination.port());
            out.extend_from_slice(line.as_bytes());
        }
        ProxyHeaderVersion::V2 => {
            out.extend_from_slice(SIGNATURE);
            match (from, to) {
                (IpAddr::V4(from), IpAddr::V4(to)) => {
                    out.extend_from_slice(&[0x21, 0x11, 0, 12]);
                    out.extend_from_slice(&from.octets());
                    out.extend_from_slice(&to.octets());
                }
                (from, to) => {
                    out.extend_from_slice(&[0x21, 0x21, 0, 36]);
                    out.extend_from_slice(&wide(from).octets());
                    out.extend_from_slice(&wide(to).octets());
                }
            }
            out.extend_from_slice(&source.port().to_be_bytes());
            out.extend_from_slice(&destination.port().to_be_bytes());
        }
    }
}

/// Writes the header of a connection without known addresses, such as one through a Unix socket.
pub fn write_proxy_header_local(out: &mut Vec<u8>, version: ProxyHeaderVersion) {
    match version {
        ProxyHeaderVersion::V1 => out.extend_from_slice(b"PROXY UNKNOWN\r\n"),
        ProxyHeaderVersion::V2 => {
            out.extend_from_slice(SIGNATURE);
            out.extend_from_slice(&[0x20, 0, 0, 0]);
        }
    }
}

fn one_family(a: IpAddr, b: IpAddr) -> (IpAddr, IpAddr) {
    match (a.to_canonical(), b.to_canonical()) {
        (a @ IpAddr::V4(_), b @ IpAddr::V4(_)) => (a, b),
        (a, b) => (wide(a).into(), wide(b).into()),
    }
}

fn wide(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxied(source: &str, destination: &str) -> ProxyHeader {
        ProxyHeader::Proxied { source: source.parse().unwrap(), destination: destination.parse().unwrap() }
    }

    /// Parses `bytes` one byte at a time: the header is known only with its last byte.
    fn read(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
        for len in 0..bytes.len() {
            match read_proxy_header(&bytes[..len])? {
                None => {}
                Some((header, used)) => {
                    assert!(used <= len);
                    return Ok(Some((header, used)));
                }
            }
        }
        read_proxy_header(bytes)
    }

    #[test]
    fn a_line_is_read() {
        for (line, expected) in [
            (
                "PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n",
                proxied("192.0.2.1:56324", "198.51.100.7:443"),
            ),
            ("PROXY TCP6 2001:db8::1 ::1 1 65535\r\n", proxied("[2001:db8::1]:1", "[::1]:65535")),
            ("PROXY UNKNOWN\r\n", ProxyHeader::Local),
            ("PROXY UNKNOWN ff:: ff:: 1 1\r\n", ProxyHeader::Local),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(Some((expected, line.len()))), "{line}");
            let more = format!("{line}GET / HTTP/1.1\r\n");
            assert_eq!(read_proxy_header(more.as_bytes()), Ok(Some((expected, line.len()))), "{line}");
        }
    }

    #[test]
    fn an_invalid_line_is_refused() {
        use ProxyHeaderFault::{Malformed, Missing, TooLong};
        for (line, fault) in [
            ("GET / HTTP/1.1\r\n", Missing),
            ("PROXYTCP4 1.2.3.4 1.2.3.4 1 1\r\n", Missing),
            ("proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n", Missing),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n", Malformed),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", Malformed),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n", Malformed),
            ("PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n", Malformed),
            ("PROXY TCP4 1.2.3.4 ::1 1 1\r\n", Malformed),
            ("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n", Malformed),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", Malformed),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n", Malformed),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n", Malformed),
            ("PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n", Malformed),
            ("PROXY \u{1f}\u{80}\r\n", Malformed),
        ] {
            assert_eq!(read(line.as_bytes()), Err(fault), "{line:?}");
        }
        let long = format!("PROXY UNKNOWN {}", "x".repeat(200));
        assert_eq!(read(long.as_bytes()), Err(TooLong));
        let longest = format!("PROXY UNKNOWN {}\r\n", "x".repeat(LINE_BYTES_MAX - 16));
        assert_eq!(longest.len(), LINE_BYTES_MAX);
        assert_eq!(read(longest.as_bytes()), Ok(Some((ProxyHeader::Local, LINE_BYTES_MAX))));
    }

    #[test]
    fn written_values_are_parsed_back() {
        for version in [ProxyHeaderVersion::V1, ProxyHeaderVersion::V2] {
            for (source, destination, expected) in [
                ("192.0.2.1:56324", "198.51.100.7:443", proxied("192.0.2.1:56324", "198.51.100.7:443")),
                ("[2001:db8::1]:1", "[::1]:65535", proxied("[2001:db8::1]:1", "[::1]:65535")),
                ("[::ffff:192.0.2.1]:5", "198.51.100.7:443", proxied("192.0.2.1:5", "198.51.100.7:443")),
                ("[2001:db8::1]:1", "192.0.2.1:2", proxied("[2001:db8::1]:1", "[::ffff:192.0.2.1]:2")),
            ] {
                let mut out = Vec::new();
                write_proxy_header(&mut out, version, source.parse().unwrap(), destination.parse().unwrap());
                assert_eq!(read(&out), Ok(Some((expected, out.len()))), "{version:?} {source}");
            }
            let mut out = Vec::new();
            write_proxy_header_local(&mut out, version);
            assert_eq!(read(&out), Ok(Some((ProxyHeader::Local, out.len()))), "{version:?}");
        }
    }

    #[test]
    fn a_binary_header_may_have_bytes_after_its_addresses_but_not_fewer() {
        let mut out = Vec::new();
        let address = "192.0.2.1:80".parse().unwrap();
        write_proxy_header(&mut out, ProxyHeaderVersion::V2, address, address);
        let (fixed, addresses) = out.split_at(FIXED_BYTES);
        let with = |command: u8, family: u8, body: &[u8]| {
            let mut bytes = fixed.to_vec();
            bytes[12] = command;
            bytes[13] = family;
            bytes[14..].copy_from_slice(&u16::try_from(body.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(body);
            bytes
        };
        let longer = with(0x21, 0x11, &[addresses, b"\x04\x00\x01x"].concat());
        assert_eq!(read(&longer), Ok(Some((proxied("192.0.2.1:80", "192.0.2.1:80"), longer.len()))));
        assert_eq!(read(&with(0x21, 0x11, &addresses[1..])), Err(ProxyHeaderFault::Malformed));
        assert_eq!(read(&with(0x21, 0x21, addresses)), Err(ProxyHeaderFault::Malformed));
        assert_eq!(read(&with(0x21, 0x41, addresses)), Err(ProxyHeaderFault::Malformed));
        assert_eq!(read(&with(0x22, 0x11, addresses)), Err(ProxyHeaderFault::Malformed));
        assert_eq!(read(&with(0x11, 0x11, addresses)), Err(ProxyHeaderFault::Malformed));
        for local in [with(0x20, 0x11, addresses), with(0x21, 0x00, b"any"), with(0x21, 0x31, &[0; 216])] {
            assert_eq!(read(&local), Ok(Some((ProxyHeader::Local, local.len()))));
        }
        assert_eq!(read(&with(0x21, 0x11, &[0; PROXY_HEADER_BYTES_MAX])), Err(ProxyHeaderFault::TooLong));
    }
}
