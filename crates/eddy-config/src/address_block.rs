//! Blocks of IP addresses.

use std::net::IpAddr;

/// An address block such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock {
    /// Any address within the block.
    pub address: IpAddr,
    /// Length of the common prefix in bits.
    pub prefix_bits: u8,
}

impl AddressBlock {
    /// Returns the first address of the block: all bits behind the prefix are zero.
    pub fn first_address(&self) -> IpAddr {
        let bits = u32::from(self.prefix_bits);
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                IpAddr::V4((address.to_bits() & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                IpAddr::V6((address.to_bits() & mask).into())
            }
        }
    }

    /// Whether `address` is in the block; an IPv4-mapped IPv6 address counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(block), IpAddr::V4(address)) => {
                shared_prefix_bits(block.to_bits().into(), address.to_bits().into(), 32)
                    >= self.prefix_bits.into()
            }
            (IpAddr::V6(block), IpAddr::V6(address)) => {
                shared_prefix_bits(block.to_bits(), address.to_bits(), 128) >= self.prefix_bits.into()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn shared_prefix_bits(a: u128, b: u128, width: u32) -> u32 {
    (a ^ b).leading_zeros() - (128 - width)
}
