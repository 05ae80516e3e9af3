//! Tests of `channel`.

use std::io;
use std::os::fd::AsFd;

use super::channel::*;

#[test]
fn a_message_carries_descriptors() {
    let (ours, theirs) = Channel::pair().unwrap();
    let theirs = Channel::from_fd(theirs);
    let file = memory_file("test", b"hello").unwrap();
    ours.send(&"here", &[file.as_fd()]).unwrap();
    let Received::Message(text, descriptors) = theirs.receive::<String>().unwrap() else {
        panic!("no message")
    };
    assert_eq!(text, "here");
    assert_eq!(descriptors.len(), 1);
    assert_eq!(read_memory_file(&descriptors[0]).unwrap(), b"hello");
}

#[test]
fn silence_unknown_messages_and_closed_channels_are_distinguished() {
    let (ours, theirs) = Channel::pair().unwrap();
    let theirs = Channel::from_fd(theirs);
    assert!(matches!(theirs.receive::<u8>().unwrap(), Received::Nothing));
    ours.send(&"not a number", &[]).unwrap();
    drop(ours);
    assert!(matches!(theirs.receive::<u8>().unwrap(), Received::Unknown(_)));
    assert!(matches!(theirs.receive::<u8>().unwrap(), Received::Closed));
}

#[test]
fn a_sent_message_outlives_its_sender() {
    let (ours, theirs) = Channel::pair().unwrap();
    let file = memory_file("test", b"kept").unwrap();
    ours.send(&1_u8, &[file.as_fd()]).unwrap();
    drop((ours, file));
    let Received::Message(_, descriptors) = Channel::from_fd(theirs).receive::<u8>().unwrap() else {
        panic!("no message")
    };
    assert_eq!(read_memory_file(&descriptors[0]).unwrap(), b"kept");
}

#[test]
fn a_too_long_message_is_refused() {
    let (ours, _theirs) = Channel::pair().unwrap();
    let long = "x".repeat(MESSAGE_BYTES_MAX);
    assert_eq!(ours.send(&long, &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}
