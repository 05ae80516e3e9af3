//! Links between processes, in Rust and in Go: calls, killed, stopped and restarted processes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod peers;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use eddy_bridge_ring::{
    CallError, CallFailure, Incoming, LinkEndReason, LinkLimits, LinkListener, NoCalls, ProcessLink, Redial,
    connect,
};

use crate::peers::{Caller, PeerLanguage, PeerProcess, SOON, path, remove};

fn echo(call: Incoming) {
    let bytes = call.bytes().to_vec();
    call.answer(bytes);
}

/// Calls method 1 with messages of many lengths, one after the other.
fn exchange(link: &ProcessLink, count: usize) {
    for number in 0..count {
        let bytes = vec![number.to_le_bytes()[0]; number * number % 3001];
        assert!(link.call(1, &bytes, SOON).unwrap() == bytes, "call {number}");
    }
}

#[test]
fn another_process_responds() {
    for tongue in PeerLanguage::ALL {
        let peer = PeerProcess::start("answers", tongue);
        let link = connect(&peer.path, LinkLimits::default(), echo).unwrap();
        exchange(&link, 5000);
        let long = vec![7; 10_000_000];
        assert!(link.call(1, &long, SOON).unwrap() == long);
        let back = vec![8; 700_000];
        assert!(link.call(4, &back, SOON).unwrap() == back, "the other process calls back");
        let failed = CallFailure::new(CallFailure::FIRST_OWN, "as it was asked to");
        assert_eq!(link.call(3, b"", SOON), Err(CallError::Failed(failed)));
        let limit = Duration::from_millis(20);
        assert_eq!(link.call(2, b"", limit), Err(CallError::Timeout(limit)));
    }
}

#[test]
fn another_process_calls() {
    for tongue in PeerLanguage::ALL {
        let path = path("calls", tongue);
        let listener = LinkListener::bind(&path, LinkLimits::default()).unwrap();
        let mut command = Command::new(tongue.program());
        let mut child = command.arg("call").arg(&path).arg("5000").spawn().unwrap();
        let link = listener.accept(|call: Incoming| match call.method() {
            1 => echo(call),
            _ => call.fail(CallFailure::new(CallFailure::FIRST_OWN, "as it was asked to")),
        });
        assert!(child.wait().unwrap().success(), "{tongue:?}");
        drop(link.unwrap());
        remove(&path);
    }
}

#[test]
fn several_threads_call() {
    for tongue in PeerLanguage::ALL {
        several_call("threads", tongue, 4, 2000);
    }
}

#[test]
#[ignore = "a million calls take a minute: `cargo xtask soak` makes them"]
fn a_million_calls_are_answered() {
    for tongue in PeerLanguage::ALL {
        several_call("million", tongue, 2, 500_000);
    }
}

fn several_call(name: &str, tongue: PeerLanguage, threads: usize, calls: usize) {
    let peer = PeerProcess::start(name, tongue);
    let link = connect(&peer.path, LinkLimits::default(), NoCalls).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| exchange(&link, calls));
        }
    });
}

#[test]
fn a_killed_process_is_noticed_immediately() {
    for round in 0..20 {
        let tongue = PeerLanguage::ALL[round / 2 % 2];
        let mut peer = PeerProcess::start("killed", tongue);
        let link = connect(&peer.path, LinkLimits::default(), NoCalls).unwrap();
        let calls: Vec<_> = (0..4).map(|_| link.call_async(2, vec![1; 1000], SOON).unwrap()).collect();
        let begun = std::thread::scope(|scope| {
            // Some die during a long message, some while they are waited for.
            let long =
                scope.spawn(|| link.call(if round % 2 == 0 { 1 } else { 2 }, &vec![2; 8_000_000], SOON));
            let waiting = scope.spawn(|| link.call(2, b"", SOON));
            std::thread::yield_now();
            peer.child.kill().unwrap();
            let begun = Instant::now();
            assert_eq!(waiting.join().unwrap(), Err(CallError::Ended(LinkEndReason::Gone)));
            let answer = long.join().unwrap();
            assert!(answer.is_ok() || answer == Err(CallError::Ended(LinkEndReason::Gone)));
            begun
        });
        assert!(begun.elapsed() < SOON / 2, "that is not at once");
        assert_eq!(link.fault(), Some(LinkEndReason::Gone));
        drop(calls);
    }
}

/// The surviving side reports the reason, in either language: with a call in flight, without one, and when the other
/// side hangs.
#[test]
fn the_surviving_process_reports_the_reason() {
    for called in PeerLanguage::ALL {
        for manner in ["wait", "idle", "flood"] {
            let mut peer = PeerProcess::start(&format!("survived-{manner}"), called);
            let mut callers = PeerLanguage::ALL.map(|tongue| Caller::start(tongue, manner, &peer.path));
            let begun = Instant::now();
            let expected = if manner == "flood" {
                peer.stop();
                "the other process has not read a full ring for 5s: it hangs or is stopped"
            } else {
                peer.child.kill().unwrap();
                "the other process ended or closed the link"
            };
            // A flooding caller begins when no more messages are read: a call that was read completely is only waited
            // for.
            callers.iter_mut().for_each(Caller::end_input);
            for caller in callers {
                let said = caller.stderr_tail();
                assert!(said.contains(expected), "{manner} of {called:?}: {said}");
            }
            assert!(begun.elapsed() < SOON, "it is known before the calls' deadline");
        }
    }
}

/// A peer with another version of the protocol, as connecting and as accepting side.
#[test]
fn another_version_is_refused_with_its_reason() {
    for tongue in PeerLanguage::ALL {
        let peer = PeerProcess::start("version", tongue);
        let mut stream = UnixStream::connect(&peer.path).unwrap();
        stream.write_all(&later_version()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert_eq!(answer.len(), 40);
        assert_ne!(answer[12..16], 0_u32.to_ne_bytes(), "it is told that it is refused");
        let link = connect(&peer.path, LinkLimits::default(), NoCalls).unwrap();
        assert_eq!(link.call(1, b"others are served", SOON).unwrap(), b"others are served");

        let path = path("version-of-listener", tongue);
        let listener = UnixListener::bind(&path).unwrap();
        let mut command = Command::new(tongue.program());
        let child = command.arg("call").arg(&path).arg("1").stderr(Stdio::piped()).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&later_version()).unwrap();
        let output = child.wait_with_output().unwrap();
        remove(&path);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("another protocol version")
                && said.contains("build both sides from the same release"),
            "{said}"
        );
    }
}

/// Returns the handshake message of a later version, whose status is no rejection.
fn later_version() -> [u8; 40] {
    let mut said = [0; 40];
    said[..8].copy_from_slice(b"eddyring");
    said[8] = 2;
    said
}

#[test]
fn a_stopped_process_costs_no_more_than_the_deadline() {
    for tongue in PeerLanguage::ALL {
        let peer = PeerProcess::start("stopped", tongue);
        let limits = LinkLimits { stall: Duration::from_millis(500), ..LinkLimits::default() };
        let link = connect(&peer.path, limits, NoCalls).unwrap();
        exchange(&link, 10);
        peer.stop();
        let limit = Duration::from_millis(50);
        assert_eq!(link.call(1, b"", limit), Err(CallError::Timeout(limit)));
        peer.go_on();
        exchange(&link, 10);
        peer.stop();
        let stalled = Err(CallError::Ended(LinkEndReason::Stalled(limits.stall)));
        assert_eq!(link.call(1, &vec![0; 2_000_000], SOON), stalled);
        peer.go_on();
    }
}

#[test]
fn a_restarted_process_is_redialed() {
    let mut peer = PeerProcess::start("again", PeerLanguage::Rust);
    let path = peer.path.clone();
    let redial = Redial::new(&path, LinkLimits::default(), NoCalls);
    assert_eq!(redial.call(1, b"first", SOON).unwrap(), b"first");
    for tongue in [PeerLanguage::Go, PeerLanguage::Rust, PeerLanguage::Go] {
        let link = redial.link(SOON).unwrap();
        drop(peer);
        let begun = Instant::now();
        while link.fault().is_none() {
            assert!(begun.elapsed() < SOON);
            std::thread::yield_now();
        }
        let error = redial.call(1, b"nobody there", SOON).unwrap_err();
        assert!(matches!(error, CallError::NoLink(_)), "{error}");
        peer = PeerProcess::start_at(path.clone(), tongue);
        while redial.call(1, b"again", SOON).is_err() {
            assert!(begun.elapsed() < SOON);
            std::thread::yield_now();
        }
    }
}
