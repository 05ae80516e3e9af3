use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use eddy_filter::Phase;
use proptest::prelude::*;

use super::support::TestExchange;
use crate::{ClientAddress, ClientConfig, IpBlock};

fn block(text: &str) -> IpBlock {
    let (address, bits) = text.split_once('/').unwrap();
    IpBlock::new(address.parse().unwrap(), bits.parse().unwrap())
}

#[test]
fn address_blocks_contain_their_addresses() {
    let check = |text: &str, address: &str, expected: bool| {
        assert_eq!(block(text).contains(address.parse().unwrap()), expected, "{text} {address}");
    };
    check("10.0.0.0/8", "10.255.0.1", true);
    check("10.0.0.0/8", "11.0.0.1", false);
    check("10.0.0.0/8", "::ffff:10.1.2.3", true);
    check("0.0.0.0/0", "203.0.113.9", true);
    check("0.0.0.0/0", "2001:db8::1", false);
    check("::/0", "2001:db8::1", true);
    check("::/0", "203.0.113.9", false);
    check("fd00::/8", "fdff::1", true);
    check("::ffff:10.0.0.0/104", "10.9.9.9", true);
    check("127.0.0.1/32", "127.0.0.2", false);
    check("::1/128", "::1", true);
}

proptest! {
    #[test]
    fn an_ipv4_block_contains_addresses_with_its_prefix(a: u32, b: u32, bits in 0..=32_u8) {
        let block = IpBlock::new(Ipv4Addr::from(a).into(), bits);
        let expected = u32::from(bits) <= (a ^ b).leading_zeros();
        prop_assert_eq!(block.contains(Ipv4Addr::from(b).into()), expected);
    }

    #[test]
    fn an_ipv6_block_contains_addresses_with_its_prefix(a: u128, b: u128, bits in 0..=128_u8) {
        let (a, b) = (a | 1 << 127, b | 1 << 127);
        let block = IpBlock::new(Ipv6Addr::from(a).into(), bits);
        let expected = u32::from(bits) <= (a ^ b).leading_zeros();
        prop_assert_eq!(block.contains(Ipv6Addr::from(b).into()), expected);
    }
}

fn check_client(peer: &str, forwarded: &str, position: u8, expected: ClientAddress) {
    let config =
        ClientConfig { forwarded_position: position, trusted: vec![block("10.0.0.0/8"), block("::1/128")] };
    let stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{forwarded}")).from(peer);
    assert_eq!(config.client(&stage.view(Phase::RequestHead)), expected, "{peer} {forwarded} {position}");
}

#[test]
fn a_trusted_peer_supplies_the_client_address() {
    let ip = |text: &str| ClientAddress::Ip(text.parse::<IpAddr>().unwrap());
    let three = "x-forwarded-for: 1.1.1.1, 2.2.2.2\nX-Forwarded-For:3.3.3.3";
    check_client("10.0.0.1", three, 1, ip("3.3.3.3"));
    check_client("10.0.0.1", three, 2, ip("2.2.2.2"));
    check_client("10.0.0.1", three, 3, ip("1.1.1.1"));
    check_client("10.0.0.1", three, 4, ip("10.0.0.1"));
    check_client("10.0.0.1", "", 1, ip("10.0.0.1"));
    check_client("192.0.2.7", three, 1, ip("192.0.2.7"));
    check_client("::1", "x-forwarded-for: [2001:db8::1]:4711", 1, ip("2001:db8::1"));
    check_client("::1", "x-forwarded-for: 3.3.3.3:80", 1, ip("3.3.3.3"));
    check_client("unix", three, 1, ip("3.3.3.3"));
    check_client("unix", "", 1, ClientAddress::Unix);
    for text in ["unknown", "", "1.1.1", "[::1]x", "3.3.3.3:x", "a, "] {
        check_client("10.0.0.1", &format!("x-forwarded-for: {text}"), 1, ClientAddress::Unreadable);
    }
    check_client("::ffff:192.0.2.7", three, 0, ip("192.0.2.7"));
}
