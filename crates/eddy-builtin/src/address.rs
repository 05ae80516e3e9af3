//! IP address blocks, and the client address of a request.

use std::net::{IpAddr, Ipv6Addr};

use eddy_filter::ExchangeView;
use eddy_http::FieldId;

/// IP address block in CIDR notation, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpBlock {
    /// Network bits, as IPv6; IPv4 addresses are stored as IPv4-mapped ones.
    bits: u128,
    mask: u128,
}

/// Source of a request's client address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig {
    /// Position of the client address in `X-Forwarded-For`, counted from the end; 0 uses the connection's peer address.
    pub forwarded_position: u8,
    /// Trusted proxies, whose `X-Forwarded-For` is believed.
    pub trusted: Vec<IpBlock>,
}

/// Client address of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddress {
    /// IP address; an IPv4-mapped one counts as IPv4.
    Ip(IpAddr),
    /// The peer connected by a Unix socket and no other address was forwarded.
    Unix,
    /// A trusted peer sent an invalid address.
    Unreadable,
}

impl IpBlock {
    /// Creates the block of all addresses that share the first `prefix_bits` bits with `address`. A prefix longer than
    /// the address is treated as the full length.
    pub fn new(address: IpAddr, prefix_bits: u8) -> Self {
        let prefix_bits = match address {
            IpAddr::V4(_) => u32::from(prefix_bits.min(32)) + 96,
            IpAddr::V6(_) => u32::from(prefix_bits.min(128)),
        };
        let mask = u128::MAX.checked_shl(128 - prefix_bits).unwrap_or(0);
        Self { bits: wide(address) & mask, mask }
    }

    /// Whether the block contains `address`. An IPv6 block with a prefix shorter than 96 bits, or outside the
    /// IPv4-mapped range, contains no IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_of_ipv6 = self.mask.count_ones() < 96;
        let is_ipv4 = address.to_canonical().is_ipv4();
        !(is_of_ipv6 && is_ipv4) && wide(address) & self.mask == self.bits
    }
}

impl ClientConfig {
    /// Returns the client address of a request.
    ///
    /// Without a trusted peer it is the peer address. If a trusted peer sends fewer addresses than the position
    /// requires, it did not forward a request, so the peer itself is the client.
    pub fn client(&self, view: &ExchangeView<'_>) -> ClientAddress {
        let peer =
            view.about().peer_ip.map_or(ClientAddress::Unix, |ip| ClientAddress::Ip(ip.to_canonical()));
        if self.forwarded_position == 0 {
            return peer;
        }
        let is_trusted = match peer {
            ClientAddress::Ip(ip) => self.trusted.iter().any(|block| block.contains(ip)),
            // The file system decides who may write to the socket.
            ClientAddress::Unix => true,
            ClientAddress::Unreadable => false,
        };
        if !is_trusted {
            return peer;
        }
        match forwarded(view, self.forwarded_position) {
            None => peer,
            Some(text) => parse_address(text).map_or(ClientAddress::Unreadable, ClientAddress::Ip),
        }
    }
}

/// Returns the element of all `X-Forwarded-For` headers at this position, counted from the end.
fn forwarded<'a>(view: &ExchangeView<'a>, position: u8) -> Option<&'a [u8]> {
    let count = |value: &[u8]| value.iter().filter(|byte| **byte == b',').count() + 1;
    let fields = view.request.fields;
    let total: usize = fields.all(FieldId::XForwardedFor).map(count).sum();
    let mut index = total.checked_sub(usize::from(position))?;
    for value in fields.all(FieldId::XForwardedFor) {
        let here = count(value);
        if index < here {
            return value.split(|byte| *byte == b',').nth(index).map(<[u8]>::trim_ascii);
        }
        index -= here;
    }
    None
}

/// Parses an address, optionally with brackets and a port, as proxies write it.
fn parse_address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let has_port =
            port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
        return address.parse::<Ipv6Addr>().ok().filter(|_| has_port).map(|ip| IpAddr::V6(ip).to_canonical());
    }
    let (address, port) = text.split_once(':')?;
    port.parse::<u16>().ok()?;
    address.parse::<IpAddr>().ok()
}

fn wide(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}
