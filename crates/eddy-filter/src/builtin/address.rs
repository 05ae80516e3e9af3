//! Blocks of addresses, and whose address a request counts as.

use std::net::{IpAddr, Ipv6Addr};

use eddy_http::FieldId;

use crate::view::ExchangeView;

/// A block of addresses, as in `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpBlock {
    /// The addresses' common bits, as IPv6; IPv4 addresses as IPv4-mapped ones.
    bits: u128,
    mask: u128,
}

/// Where the address is read that a request counts as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig {
    /// Which address of `X-Forwarded-For` is the client's, counted from the end; 0 to look at the connection only.
    pub forwarded_position: u8,
    /// Peers whose `X-Forwarded-For` is believed.
    pub trusted: Vec<IpBlock>,
}

/// The address that a request counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddress {
    /// An address; an IPv4-mapped one counts as IPv4.
    Ip(IpAddr),
    /// The peer came by a Unix socket and nobody told another address.
    Unix,
    /// A trusted peer told something that is no address.
    Unreadable,
}

impl IpBlock {
    /// The block of all addresses that share the first `prefix_bits` bits with `address`; more bits than the address
    /// has count as all.
    pub fn new(address: IpAddr, prefix_bits: u8) -> Self {
        let prefix_bits = match address {
            IpAddr::V4(_) => u32::from(prefix_bits.min(32)) + 96,
            IpAddr::V6(_) => u32::from(prefix_bits.min(128)),
        };
        let mask = u128::MAX.checked_shl(128 - prefix_bits).unwrap_or(0);
        Self { bits: wide(address) & mask, mask }
    }

    /// Whether `address` lies in the block. A block of IPv6 addresses that is longer than 96 bits, or not of the
    /// IPv4-mapped ones, holds no IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_of_ipv6 = self.mask.count_ones() < 96;
        let is_ipv4 = address.to_canonical().is_ipv4();
        !(is_of_ipv6 && is_ipv4) && wide(address) & self.mask == self.bits
    }
}

impl ClientConfig {
    /// The address that the request counts as.
    ///
    /// Without a trusted peer that is the peer's. A trusted peer that sends fewer addresses than the position asks for
    /// did not pass on anybody's request, so that it counts as the client itself.
    pub fn client(&self, view: &ExchangeView<'_>) -> ClientAddress {
        let peer = view.about.peer_ip.map_or(ClientAddress::Unix, |ip| ClientAddress::Ip(ip.to_canonical()));
        if self.forwarded_position == 0 {
            return peer;
        }
        let is_trusted = match peer {
            ClientAddress::Ip(ip) => self.trusted.iter().any(|block| block.contains(ip)),
            // Who may write to the socket is decided by the file system.
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

/// The element of all `X-Forwarded-For` fields at this position, counted from the end.
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

/// An address, perhaps with brackets and a port, as proxies write it.
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
