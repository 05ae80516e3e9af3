//! TLS streams, tested end to end.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use eddy_io::{
    Buffer, Fill, FirstRead, HandshakeFault, HandshakeFaultKind, PortSharing, Stream, StreamListener,
    TlsStream, listen_tcp, peer_alert,
};
use rcgen::KeyPair;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Both ends of a connection, before the handshake.
struct Ends {
    server: TlsStream,
    client: TlsStream,
}

fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let key = KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
    let chain = CertificateDer::from_pem_slice(params.self_signed(&key).unwrap().pem().as_bytes()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(chain.clone()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![chain],
            PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap(),
        );
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server.unwrap()), Arc::new(client))
}

async fn streams() -> (Stream, Stream) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let socket = listen_tcp(address, 16, PortSharing::Exclusive).unwrap();
    let address = std::net::TcpListener::from(socket.try_clone().unwrap()).local_addr().unwrap();
    let listener = StreamListener::tcp(socket).unwrap();
    let (client, accepted) =
        tokio::join!(Stream::connect_tcp(address), poll_fn(|cx| listener.poll_accept(cx)));
    (accepted.unwrap().0, client.unwrap())
}

async fn ends(name: &'static str) -> Ends {
    let (server, client) = configs();
    let (accepted, connected) = streams().await;
    Ends {
        server: TlsStream::accept(accepted, &server).unwrap(),
        client: TlsStream::connect(connected, &client, ServerName::try_from(name).unwrap()).unwrap(),
    }
}

async fn shake(stream: &mut TlsStream) -> Result<(), HandshakeFault> {
    poll_fn(|cx| stream.poll_handshake(cx)).await
}

/// Returns both ends of a connection after the handshake.
async fn connected() -> (Stream, Stream) {
    let Ends { mut server, mut client } = ends("a.test").await;
    let (one, other) = tokio::join!(shake(&mut server), shake(&mut client));
    one.unwrap();
    other.unwrap();
    (Stream::Tls(Box::new(server)), Stream::Tls(Box::new(client)))
}

async fn write_all(stream: &mut Stream, bytes: &[u8], second: &[u8]) -> io::Result<()> {
    let (mut bytes, mut second) = (bytes, second);
    while !bytes.is_empty() || !second.is_empty() {
        let written = poll_fn(|cx| stream.poll_write_two(cx, bytes, second)).await?;
        let first = written.min(bytes.len());
        bytes = &bytes[first..];
        second = &second[written - first..];
    }
    Ok(())
}

async fn read_some(stream: &mut Stream, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = Buffer::with_capacity(1000);
    match poll_fn(|cx| stream.poll_fill(cx, &mut buffer)).await? {
        Fill::End => Ok(false),
        Fill::Bytes(count) => {
            assert_eq!(count, buffer.len());
            into.extend_from_slice(buffer.held());
            Ok(true)
        }
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let deadline = std::time::Duration::from_secs(20);
    runtime.block_on(async { tokio::time::timeout(deadline, test).await.expect("in time") });
}

#[test]
fn data_round_trips_through_tls() {
    run(async {
        let (mut server, mut client) = connected().await;
        let facts = server.tls_facts().unwrap();
        assert_eq!((facts.version, facts.server_name.as_deref()), ("TLSv1.3", Some("a.test")));
        assert!(facts.suite.starts_with("TLS13_"), "{}", facts.suite);
        // More than the socket buffers hold, so that writes wait, in both directions at once.
        let sent: Vec<u8> =
            (0..8_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let (head, body) = sent.split_at(70_001);
        let mut received = Vec::new();
        let (written, ()) = tokio::join!(write_all(&mut server, head, body), async {
            while received.len() < sent.len() {
                assert!(read_some(&mut client, &mut received).await.unwrap());
            }
        });
        written.unwrap();
        assert!(received == sent);
        server.shutdown_write().unwrap();
        assert!(!read_some(&mut client, &mut received).await.unwrap(), "a clean end");
    });
}

#[test]
fn decrypted_bytes_make_a_stream_readable() {
    run(async {
        let (mut server, mut client) = connected().await;
        write_all(&mut client, &[7; 3000], &[]).await.unwrap();
        let mut received = Vec::new();
        assert!(read_some(&mut server, &mut received).await.unwrap());
        assert_eq!(received.len(), 1000);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(server.poll_readable(&mut cx).is_ready());
        assert!(!server.is_quiet());
        while received.len() < 3000 {
            assert!(read_some(&mut server, &mut received).await.unwrap());
        }
        let mut buffer = Buffer::with_capacity(10);
        assert!(server.poll_fill(&mut cx, &mut buffer).is_pending());
        assert!(server.is_quiet());
    });
}

#[test]
fn a_close_notify_received_with_the_last_bytes_makes_a_stream_readable() {
    run(async {
        let (mut server, mut client) = connected().await;
        write_all(&mut client, b"bye", &[]).await.unwrap();
        client.send_tls_close();
        let mut received = Vec::new();
        // Data and `close_notify` are read from the socket at once, and nothing more arrives there.
        let ready = poll_fn(|cx| server.poll_readable(cx)).await;
        ready.unwrap();
        while received.len() < 3 {
            assert!(read_some(&mut server, &mut received).await.unwrap());
        }
        poll_fn(|cx| server.poll_readable(cx)).await.unwrap();
        assert!(!read_some(&mut server, &mut received).await.unwrap(), "a clean end");
    });
}

#[test]
fn session_tickets_leave_a_stream_quiet() {
    run(async {
        for looks_now in [false, true] {
            let (mut server, mut client) = connected().await;
            let is_quiet =
                |stream: &mut Stream| if looks_now { stream.is_quiet_now() } else { stream.is_quiet() };
            // The server's session tickets have arrived and are unread.
            poll_fn(|cx| client.poll_readable(cx)).await.unwrap();
            assert!(is_quiet(&mut client));
            assert!(is_quiet(&mut client), "once they are taken in as well");
            // Data sent afterwards is received, in both directions.
            let mut received = Vec::new();
            for (from, to) in [(0, 1), (1, 0)] {
                let pair = [&mut server, &mut client];
                write_all(pair[from], b"hello", &[]).await.unwrap();
                poll_fn(|cx| pair[to].poll_readable(cx)).await.unwrap();
                assert!(!is_quiet(pair[to]));
                read_some(pair[to], &mut received).await.unwrap();
                assert!(is_quiet(pair[to]));
            }
            assert_eq!(received, b"hellohello");
            // An end is not quiet, with or without `close_notify`.
            server.shutdown_write().unwrap();
            poll_fn(|cx| client.poll_readable(cx)).await.unwrap();
            assert!(!is_quiet(&mut client));
            assert!(!is_quiet(&mut client));
            socket2::SockRef::from(&client).shutdown(std::net::Shutdown::Write).unwrap();
            poll_fn(|cx| server.poll_readable(cx)).await.unwrap();
            assert!(!is_quiet(&mut server));
        }
    });
}

#[test]
fn a_close_disturbs_an_idle_stream_and_a_session_ticket_does_not() {
    run(async {
        for says_so in [true, false] {
            let (mut server, mut client) = connected().await;
            poll_fn(|cx| client.poll_readable(cx)).await.unwrap();
            let mut disturbed =
                tokio::spawn(async move { poll_fn(|cx| client.poll_input_or_close(cx)).await });
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            assert!(!disturbed.is_finished(), "nothing but tickets has come");
            if says_so {
                server.send_tls_close();
            } else {
                socket2::SockRef::from(&server).shutdown(std::net::Shutdown::Write).unwrap();
            }
            let limit = std::time::Duration::from_secs(20);
            tokio::time::timeout(limit, &mut disturbed).await.expect("the end wakes").unwrap();
        }
    });
}

#[test]
fn a_truncated_stream_ends_with_an_error() {
    run(async {
        let (mut server, client) = connected().await;
        socket2::SockRef::from(&client).shutdown(std::net::Shutdown::Write).unwrap();
        let error = read_some(&mut server, &mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    });
}

#[test]
fn a_client_that_does_not_trust_the_server_sends_an_alert() {
    run(async {
        let Ends { mut server, mut client } = ends("b.test").await;
        let (one, other) = tokio::join!(shake(&mut server), shake(&mut client));
        let (one, other) = (one.unwrap_err(), other.unwrap_err());
        assert!(matches!(&one, HandshakeFault::Protocol(rustls::Error::AlertReceived(_))), "{one}");
        assert!(matches!(&other, HandshakeFault::Protocol(rustls::Error::InvalidCertificate(_))), "{other}");
        assert_eq!((one.kind(), other.kind()), (HandshakeFaultKind::Alert, HandshakeFaultKind::Name));
        assert!(peer_alert(&one.into()).is_some() && peer_alert(&other.into()).is_none());
    });
}

/// Returns the outcome of the client's first read, which `on_first_read` reports.
fn first_read(client: &mut TlsStream) -> Arc<Mutex<Option<FirstRead>>> {
    let outcome = Arc::new(Mutex::new(None));
    let told = Arc::clone(&outcome);
    client.on_first_read(move |read| assert_eq!(told.lock().unwrap().replace(read), None));
    outcome
}

#[test]
fn the_first_read_tells_whether_the_server_refuses_the_client() {
    run(async {
        let (plain, client_config) = configs();
        let mut roots = RootCertStore::empty();
        let key = KeyPair::generate().unwrap();
        let authority = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let asking = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.unwrap())
            .with_cert_resolver(Arc::clone(&plain.cert_resolver));
        for (config, expected) in [(plain, FirstRead::Data), (Arc::new(asking), FirstRead::Refused)] {
            let (accepted, connected) = streams().await;
            let mut server = TlsStream::accept(accepted, &config).unwrap();
            let name = ServerName::try_from("a.test").unwrap();
            let mut client = TlsStream::connect(connected, &client_config, name).unwrap();
            let (accepted, shaken) = tokio::join!(shake(&mut server), shake(&mut client));
            // In TLS 1.3 the client is done before the server looks for a certificate.
            shaken.unwrap();
            assert!(client.is_confirmed_later());
            let outcome = first_read(&mut client);
            let mut client = Stream::Tls(Box::new(client));
            if accepted.is_ok() {
                write_all(&mut Stream::Tls(Box::new(server)), b"x", b"").await.unwrap();
            }
            assert_eq!(*outcome.lock().unwrap(), None);
            let read = read_some(&mut client, &mut Vec::new()).await;
            assert_eq!(*outcome.lock().unwrap(), Some(expected));
            if expected == FirstRead::Refused {
                let alert = peer_alert(&read.unwrap_err()).unwrap();
                assert!(alert.ends_handshake && alert.to_string().contains("CertificateRequired"), "{alert}");
            }
        }
        let mut client = ends("a.test").await.client;
        let outcome = first_read(&mut client);
        drop(client);
        assert_eq!(*outcome.lock().unwrap(), Some(FirstRead::Nothing));
    });
}

#[test]
fn bytes_that_are_not_a_tls_handshake_are_refused() {
    run(async {
        let (server, _) = configs();
        let (accepted, mut client) = streams().await;
        let mut server = TlsStream::accept(accepted, &server).unwrap();
        write_all(&mut client, b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n", &[]).await.unwrap();
        let fault = shake(&mut server).await.unwrap_err();
        assert!(matches!(&fault, HandshakeFault::Protocol(rustls::Error::InvalidMessage(_))), "{fault}");
        // The alert comes before the end.
        drop(server);
        let mut received = Vec::new();
        assert!(read_some(&mut client, &mut received).await.unwrap());
        assert_eq!(received.first(), Some(&21));
    });
}

#[test]
fn a_handshake_that_ends_early_is_a_fault() {
    run(async {
        let (server, _) = configs();
        let (accepted, client) = streams().await;
        let mut server = TlsStream::accept(accepted, &server).unwrap();
        drop(client);
        let fault = shake(&mut server).await.unwrap_err();
        assert!(
            matches!(&fault, HandshakeFault::Stream(error) if error.kind() == io::ErrorKind::UnexpectedEof)
        );
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(server.poll_handshake(&mut cx), Poll::Ready(Err(_))));
    });
}
