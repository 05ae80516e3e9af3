//! Establishing links, and rejected handshakes.

use std::fs::File;
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::cmsg_space;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::fixture::small;
use crate::ring::memory_bytes;
use crate::{LinkError, LinkLimits, LinkListener, NoCalls, accept_stream, connect, connect_stream};

/// Returns the first message of a connecting peer.
fn offer(version: u32, ring_bytes: u64) -> Vec<u8> {
    let mut words = b"eddyring".to_vec();
    words.extend(version.to_ne_bytes());
    words.extend(0_u32.to_ne_bytes());
    for number in [ring_bytes, 1 << 20, 16] {
        words.extend(number.to_ne_bytes());
    }
    words
}

/// Returns the error and the answer to an offer with such memory.
fn offered(words: &[u8], memory: Option<OwnedFd>) -> (LinkError, Vec<u8>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<_> = memory.iter().map(AsFd::as_fd).collect();
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    sendmsg(&ours, &[IoSlice::new(words)], &mut control, SendFlags::empty()).unwrap();
    let is_whole = words.len() == 40;
    let handshake = if is_whole { small().handshake } else { Duration::from_millis(200) };
    let limits = LinkLimits { handshake, ..small() };
    let error = accept_stream(theirs, limits, NoCalls).unwrap_err();
    let mut answer = Vec::new();
    (&ours).read_to_end(&mut answer).unwrap();
    (error, answer)
}

fn memory(bytes: u64, seals: SealFlags) -> Option<OwnedFd> {
    let fd = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, bytes).unwrap();
    fcntl_add_seals(&fd, seals).unwrap();
    Some(fd)
}

#[test]
fn memory_that_can_shrink_is_refused() {
    let bytes = memory_bytes(4096) as u64;
    let all = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    for (bytes, seals, said) in [
        (bytes, SealFlags::empty(), "not sealed"),
        (bytes, SealFlags::GROW | SealFlags::SEAL, "not sealed"),
        (bytes, SealFlags::SHRINK | SealFlags::GROW, "not sealed"),
        (bytes - 1, all, "the size of the shared memory differs"),
        (0, all, "the size of the shared memory differs"),
    ] {
        let (error, answer) = offered(&offer(1, 4096), memory(bytes, seals));
        let LinkError::Memory(source) = &error else { panic!("{error}") };
        assert!(source.to_string().contains(said), "{source}");
        assert_eq!(answer[12..16], 2_u32.to_ne_bytes(), "it is told why");
    }
    let file = File::open("/proc/self/status").unwrap();
    assert!(matches!(offered(&offer(1, 4096), Some(file.into())).0, LinkError::Memory(_)));
}

#[test]
fn read_only_memory_is_refused() {
    let all = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL | SealFlags::WRITE;
    let (error, _) = offered(&offer(1, 4096), memory(memory_bytes(4096) as u64, all));
    assert!(matches!(error, LinkError::Memory(_)), "{error}");
}

#[test]
fn invalid_offers_are_refused() {
    for (words, said) in [
        (offer(2, 4096), "another protocol version"),
        (offer(1, 8192), "the offered ring size is not allowed"),
        (offer(1, 5000), "the offered ring size is not allowed"),
        (offer(1, 0), "the offered ring size is not allowed"),
        (offer(1, u64::MAX), "the offered ring size is not allowed"),
        (vec![b'G'; 40], "not an eddy ring handshake"),
        (offer(1, 4096), "no shared memory"),
    ] {
        let (error, _) = offered(&words, None);
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn an_incomplete_offer_times_out() {
    let (error, _) = offered(&offer(1, 4096)[..39], None);
    assert!(matches!(error, LinkError::Late(_)), "{error}");
}

#[test]
fn a_peer_that_disconnects_is_noticed() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(ours);
    assert!(matches!(accept_stream(theirs, small(), NoCalls), Err(LinkError::Gone)));
}

#[test]
fn the_reply_to_an_offer_is_validated() {
    for (status, ring_bytes, said) in
        [(1_u32, 4096_u64, "rejected"), (99, 4096, "rejected"), (0, 8192, "the ring size differs")]
    {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut words = offer(1, ring_bytes);
        words[12..16].copy_from_slice(&status.to_ne_bytes());
        theirs.write_all(&words).unwrap();
        let error = connect_stream(ours, small(), NoCalls).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn impossible_limits_are_refused() {
    let limits = LinkLimits::default();
    for limits in [
        LinkLimits { ring_bytes: 5000, ..limits },
        LinkLimits { ring_bytes: 2048, ..limits },
        LinkLimits { ring_bytes: 1 << 27, ..limits },
        LinkLimits { message_bytes_max: (1 << 30) + 1, ..limits },
        LinkLimits { calls_max: 0, ..limits },
        LinkLimits { calls_max: (1 << 20) + 1, ..limits },
    ] {
        let (stream, _other) = UnixStream::pair().unwrap();
        assert!(connect_stream(stream, limits, NoCalls).is_err(), "{limits:?}");
    }
}

#[test]
fn only_the_same_user_can_connect() {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::temp_dir().join(format!("eddy-ring-hello-{}.sock", std::process::id()));
    let listener = LinkListener::bind(&path, small()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o177, 0);
    let taken = LinkListener::bind(&path, small()).unwrap_err();
    assert!(matches!(taken, LinkError::Path { .. }), "{taken}");
    drop(listener);
    let error = connect(&path, small(), NoCalls).unwrap_err();
    assert!(matches!(error, LinkError::Path { .. }), "{error}");
    std::fs::remove_file(&path).unwrap();
}
