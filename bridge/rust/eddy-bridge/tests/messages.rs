//! Messages of another process are not trusted, and services can be called over any transport.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddy_bridge::{
    BoundService, BridgeError, BridgeErrorKind, BridgeMessage, Malformed, MessageWriter, MethodError, Record,
    ReplyFuture, ServiceImplementation, ServiceTransport, reply,
};

#[derive(Clone, Debug, PartialEq, Record)]
struct Sample {
    texts: Vec<String>,
    numbers: Vec<u32>,
    by_name: BTreeMap<String, Option<bool>>,
    outcome: Result<u8, String>,
}

fn sample() -> Sample {
    Sample {
        texts: vec!["one".to_owned(), String::new()],
        numbers: vec![1, 2, 3],
        by_name: BTreeMap::from([("a".to_owned(), None), ("b".to_owned(), Some(true))]),
        outcome: Err("no".to_owned()),
    }
}

#[test]
fn written_values_are_read_back() {
    assert_eq!(BridgeMessage::flat(&reply(&sample())).read::<Sample>(), Ok(sample()));
}

#[test]
fn any_corrupted_word_is_handled_safely() {
    let words = reply(&sample());
    for index in 0..words.len() {
        for wrong in [0, 1, 7, 8, 64, 4096, 1 << 32, 1 << 62, 1 << 63, 1 << 63 | 1, u64::MAX] {
            let mut words = words.clone();
            words[index] = wrong;
            // Whatever the result: a value or an error.
            let _ = BridgeMessage::flat(&words).read::<Sample>();
        }
        assert!(BridgeMessage::flat(&words[..index]).read::<Sample>().is_err(), "cut at {index}");
    }
}

#[test]
fn lists_outside_the_message_are_refused() {
    let read = |words: &[u64]| BridgeMessage::flat(words).read::<Vec<u16>>().unwrap_err().to_string();
    assert_eq!(read(&[16]), "the message ends within its record");
    assert_eq!(read(&[16, PLACE | 5, 0]), "a list is outside the message");
    assert_eq!(read(&[u64::MAX, PLACE | 1]), "a list is outside the message");
    assert_eq!(read(&[16, u64::MAX, 0]), "a list is outside the message");
    assert_eq!(read(&[17, PLACE | 1, 0]), "a list is not aligned for its type");
    assert_eq!(read(&[4096, 1]), "a message of another process contains an address");
    assert_eq!(read(&[4096, (1 << 63) - 1]), "a message of another process contains an address");
    let records = |words: &[u64]| BridgeMessage::flat(words).read::<Vec<String>>().unwrap_err();
    assert_eq!(records(&[12, PLACE | 1, 0, 0]).to_string(), "a list is not aligned for its type");
    assert_eq!(records(&[16, PLACE | (u64::MAX / 4), 0, 0]).to_string(), "a list is outside the message");
    assert_eq!(records(&[16, PLACE | 2, 0, 0]).to_string(), "a list is outside the message");
    assert_eq!(records(&[4096, 1]).to_string(), "a message of another process contains an address");
}

/// Set in the length of a list that is in the message itself.
const PLACE: u64 = 1 << 63;

#[test]
fn tags_other_than_0_and_1_are_refused() {
    let wrong: Malformed = BridgeMessage::flat(&[2, 0]).read::<Option<u8>>().unwrap_err();
    assert_eq!(wrong.to_string(), "a tag is neither 0 nor 1");
}

#[test]
fn a_message_may_outgrow_its_buffer() {
    for room in 0..40 {
        let mut room = vec![u64::MAX; room];
        let mut writer = MessageWriter::flat(&mut room);
        writer.write(&sample());
        assert_eq!(writer.into_words(), reply(&sample()));
    }
}

/// Sums, on the calling side.
#[eddy_bridge::go]
trait Sums {
    /// Returns the sum of numbers, or an error text.
    fn sum(&self, numbers: &[u64], text: &str) -> Result<u64, String>;
}

mod callee {
    //! Called side of the same trait.

    /// Sums.
    #[eddy_bridge::rust]
    pub(super) trait Sums {
        /// Returns the sum of numbers, or an error text.
        fn sum(&self, numbers: &[u64], text: &str) -> Result<u64, String>;
    }
}

struct Adding;

impl callee::Sums for Adding {
    fn sum(&self, numbers: &[u64], text: &str) -> Result<u64, String> {
        assert!(text != "panic", "the text is {text}");
        if numbers.is_empty() { Err(text.to_owned()) } else { Ok(numbers.iter().sum()) }
    }
}

/// Transport from one side to the other without a process in between.
struct Direct(ServiceImplementation);

impl ServiceTransport for Direct {
    fn call(&self, service: u32, method: u32, request: &[u64]) -> Result<Vec<u64>, BridgeError> {
        assert_eq!(service, 7);
        self.0.dispatch(method, request)
    }

    fn start(&self, service: u32, method: u32, request: &[u64]) -> ReplyFuture {
        assert_eq!(service, 7);
        self.0.start(method, request)
    }
}

#[test]
fn a_service_is_called_over_a_transport() {
    let served = callee::serve_sums(Adding);
    assert_eq!((served.name(), served.shape()), ("Sums", Sums::SHAPE));
    let sums = Sums::with(BoundService::over(Arc::new(Direct(served)), 7));
    assert_eq!(sums.sum(&[1, 2, 3], ""), Ok(6));
    assert_eq!(sums.sum(&[], "none"), Err(MethodError::Said("none".to_owned())));
    let fault = BridgeError::new(BridgeErrorKind::Panic, "the text is panic");
    assert_eq!(sums.sum(&[], "panic"), Err(MethodError::Fault(fault)));
}
