//! Tests of the UDP sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket as Plain};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::sockets::*;
use crate::socket::{PortSharing, listen_udp};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn listener(address: &str) -> DatagramListener {
    DatagramListener::new(listen_udp(address.parse().unwrap(), PortSharing::ReusePort).unwrap()).unwrap()
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(10), what).await.unwrap()
}

async fn receive(listener: &DatagramListener, room: &mut [u8]) -> (usize, Flow) {
    loop {
        in_time(listener.readable()).await.unwrap();
        match listener.try_receive(room) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            received => return received.unwrap(),
        }
    }
}

fn client(at: &str) -> Plain {
    let client = Plain::bind(at).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    client
}

/// A client that sends to one of several addresses gets its response from that address.
#[test]
fn replies_are_sent_from_the_address_that_the_client_used() {
    runtime().block_on(async {
        let mut room = vec![0; DATAGRAM_BYTES_MAX];
        for (bound, asked, from) in [
            ("127.0.0.1:0", "127.0.0.1", "127.0.0.1:0"),
            ("0.0.0.0:0", "127.0.0.1", "127.0.0.1:0"),
            ("0.0.0.0:0", "127.0.0.2", "127.0.0.3:0"),
            ("[::]:0", "::1", "[::1]:0"),
        ] {
            let listener = listener(bound);
            let asked = SocketAddr::new(asked.parse().unwrap(), listener.bound().port());
            let client = client(from);
            // A connected socket accepts responses from that address only.
            client.connect(asked).unwrap();
            for length in [0, 1, 65_507] {
                client.send(&vec![7; length]).unwrap();
                let (count, flow) = receive(&listener, &mut room).await;
                assert_eq!((count, flow.client), (length, client.local_addr().unwrap()), "{bound}");
                assert_eq!(listener.local_of(&flow), asked, "{bound}");
                listener.try_send(room.get(..count).unwrap(), &flow).unwrap();
                let mut back = vec![0; DATAGRAM_BYTES_MAX];
                assert_eq!(client.recv(&mut back).unwrap(), length, "{bound}");
            }
        }
    });
}

#[test]
fn an_unreachable_endpoint_is_reported() {
    runtime().block_on(async {
        let gone = Plain::bind("127.83.82.1:0").unwrap().local_addr().unwrap();
        let link = DatagramLink::connect(gone).unwrap();
        link.try_send(b"anybody?").unwrap();
        in_time(link.ready()).await.unwrap();
        let error = link.try_receive(&mut [0; 16]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        // The error is reported once.
        let error = link.try_receive(&mut [0; 16]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    });
}

#[test]
fn a_link_receives_only_from_its_endpoint() {
    runtime().block_on(async {
        let (endpoint, stranger) = (client("127.0.0.1:0"), client("127.0.0.1:0"));
        let link = DatagramLink::connect(endpoint.local_addr().unwrap()).unwrap();
        link.try_send(b"hello").unwrap();
        let mut room = [0; 16];
        let (_, own) = endpoint.recv_from(&mut room).unwrap();
        stranger.send_to(b"strange", own).unwrap();
        endpoint.send_to(b"right", own).unwrap();
        in_time(link.ready()).await.unwrap();
        assert_eq!(link.try_receive(&mut room).unwrap(), 5);
        assert_eq!(room.get(..5), Some(&b"right"[..]));
    });
}

#[test]
fn control_messages_of_the_kernel_are_validated() {
    for local in ["192.0.2.7", "2001:db8::7"] {
        let local: IpAddr = local.parse().unwrap();
        let (control, len) = control_of(local);
        // Both directions have the same format, except for the field of the source address in IPv4.
        assert_eq!(local_in(control.get(..len).unwrap()), Some(local));
        for cut in 0..len.saturating_sub(8) {
            let cut = control.get(..cut).unwrap();
            assert!(matches!(local_in(cut), None | Some(IpAddr::V4(_))), "{cut:?}");
        }
    }
    assert_eq!(local_in(&[0; CONTROL_BYTES]), None);
    assert_eq!(local_in(&[0xff; CONTROL_BYTES]), None);
}
