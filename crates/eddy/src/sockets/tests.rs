//! Tests of `store`.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};

use super::bind::SocketBindError;
use super::store::*;
use crate::control::{SocketKey, SocketPlace, SocketRole};

fn tcp(address: &str) -> SocketKey {
    SocketKey { role: SocketRole::Listener, place: SocketPlace::Tcp(address.parse().unwrap()) }
}

fn udp(address: &str) -> SocketKey {
    SocketKey { role: SocketRole::Listener, place: SocketPlace::Udp(address.parse().unwrap()) }
}

fn unix(path: &Path) -> SocketKey {
    SocketKey { role: SocketRole::Listener, place: SocketPlace::Unix(path.to_owned()) }
}

fn bound(held: &HeldSockets) -> SocketAddr {
    match held.bound {
        SocketPlace::Tcp(address) | SocketPlace::Udp(address) => address,
        SocketPlace::Unix(_) => panic!("a Unix socket"),
    }
}

/// Returns an address at which no other test uses ports. Tests run in parallel, so a port that one of them releases, or
/// uses with one protocol only, may be taken by another test at the same address.
fn own_address(test: u8) -> String {
    format!("127.83.79.{test}:0")
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("eddy-store-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn sockets_of_an_address_only_grow() {
    let mut store = SocketStore::default();
    let key = tcp("127.0.0.1:0");
    let address = bound(store.acquire(&key, 2).unwrap());
    assert_ne!(address.port(), 0);
    assert_eq!(store.acquire(&key, 1).unwrap().sockets.len(), 2);
    let grown = store.acquire(&key, 3).unwrap();
    assert_eq!((grown.sockets.len(), bound(grown)), (3, address));
    store.shrink(&key, 2);
    assert_eq!(store.acquire(&key, 1).unwrap().sockets.len(), 2);
}

#[test]
fn a_port_of_another_program_is_not_shared() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let mut store = SocketStore::default();
    let error = store.acquire(&tcp(&address.to_string()), 2).unwrap_err();
    assert!(matches!(error, SocketBindError::InUse { .. }), "{error}");
    assert_eq!(store.iter().count(), 0);
}

#[test]
fn udp_sockets_are_held_like_others() {
    let mut store = SocketStore::default();
    let key = udp(&own_address(1));
    let address = bound(store.acquire(&key, 2).unwrap());
    let grown = store.acquire(&key, 3).unwrap();
    assert_eq!((grown.sockets.len(), bound(grown)), (3, address));
    // TCP and UDP ports don't conflict.
    assert!(store.acquire(&tcp(&address.to_string()), 1).is_ok());
    assert!(UdpSocket::bind(address).is_err());
    assert_eq!(store.retain(|key| *key != udp(&own_address(1))), [SocketPlace::Udp(address)]);
    let other = UdpSocket::bind(address).unwrap();
    let error = store.acquire(&udp(&address.to_string()), 2).unwrap_err();
    assert!(matches!(error, SocketBindError::InUse { .. }), "{error}");
    drop(other);
}

#[test]
fn our_own_port_at_another_address_is_allowed() {
    let mut store = SocketStore::default();
    let address = bound(store.acquire(&tcp(&own_address(2)), 1).unwrap());
    let second = tcp(&format!("127.83.80.2:{}", address.port()));
    assert_eq!(store.acquire(&second, 2).unwrap().sockets.len(), 2);
}

#[test]
fn unused_sockets_are_closed() {
    let mut store = SocketStore::default();
    let key = tcp(&own_address(3));
    let address = bound(store.acquire(&key, 1).unwrap());
    assert!(TcpListener::bind(address).is_err());
    assert_eq!(store.retain(|_| false), [SocketPlace::Tcp(address)]);
    assert!(TcpListener::bind(address).is_ok());
}

#[test]
fn a_stale_unix_socket_is_replaced_and_a_live_one_is_not() {
    let path = scratch("stale");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut store = SocketStore::default();
    assert_eq!(store.acquire(&unix(&path), 4).unwrap().sockets.len(), 1);
    let mut second = SocketStore::default();
    assert!(matches!(second.acquire(&unix(&path), 1), Err(SocketBindError::UnixInUse { .. })));
    store.release(&unix(&path));
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_not_a_socket_is_not_removed() {
    let path = scratch("file");
    std::fs::write(&path, "text").unwrap();
    let mut store = SocketStore::default();
    assert!(matches!(store.acquire(&unix(&path), 1), Err(SocketBindError::NotASocket { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"text");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn inherited_sockets_are_held_like_others() {
    let mut before = SocketStore::default();
    let key = tcp("127.0.0.1:0");
    let held = before.acquire(&key, 3).unwrap();
    let place = held.bound.clone();
    let copies = || held.sockets.iter().map(|socket| eddy_io::duplicate(socket).unwrap());
    let mut store = SocketStore::default();
    // In two messages, as for many sockets.
    store.inherit(key.clone(), place.clone(), copies().take(2).collect());
    store.inherit(key.clone(), place.clone(), copies().skip(2).collect());
    let held = store.acquire(&key, 2).unwrap();
    assert_eq!((held.sockets.len(), &held.bound), (3, &place));
    drop(before);
    assert_eq!(store.acquire(&key, 4).unwrap().sockets.len(), 4);
}

#[test]
fn the_file_of_an_inherited_socket_is_not_removed_before_it_is_adopted() {
    let path = scratch("inherited");
    let mut before = SocketStore::default();
    let held = before.acquire(&unix(&path), 1).unwrap();
    let copy = || vec![eddy_io::duplicate(&held.sockets[0]).unwrap()];
    for (is_kept, exists) in [(false, true), (true, false)] {
        let mut store = SocketStore::default();
        store.inherit(unix(&path), SocketPlace::Unix(path.clone()), copy());
        assert_eq!(store.acquire(&unix(&path), 2).unwrap().sockets.len(), 1);
        if is_kept {
            store.keep_inherited();
        }
        store.release(&unix(&path));
        assert_eq!(path.exists(), exists);
    }
}
