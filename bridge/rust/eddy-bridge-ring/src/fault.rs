//! Errors: a link can't be established, a link ended, or a call has no answer.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a link could not be established.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The limits request a ring of an unsupported size.
    #[error("invalid ring size of {0} bytes: use a power of two from 4096 to 67108864")]
    RingBytes(usize),
    /// The limits allow messages that are too long.
    #[error("invalid message limit of {0} bytes: the maximum is 1073741824")]
    MessageBytes(usize),
    /// The limits allow no calls or too many.
    #[error("invalid limit of {0} concurrent calls: use 1 to 1048576")]
    Calls(usize),
    /// The socket's path can't be used.
    #[error("the socket \"{path}\" can't be used")]
    Path {
        /// Path of the socket.
        path: PathBuf,
        /// System error.
        #[source]
        source: io::Error,
    },
    /// The shared memory could not be made or mapped.
    #[error("shared memory can't be created")]
    Memory(#[source] io::Error),
    /// The socket failed during the handshake.
    #[error("the socket failed before the link was established")]
    Socket(#[source] io::Error),
    /// The other side closed the socket during the handshake.
    #[error("the other process closed the socket before the link was established")]
    Gone,
    /// The other side did not complete the handshake in time.
    #[error("the other process did not complete the handshake within {0:?}")]
    Late(Duration),
    /// The first bytes of the other side are not of this protocol.
    #[error("the handshake of the other process is invalid: {0}")]
    Hello(&'static str),
    /// The other side rejected the link.
    #[error("the other process rejected the link: {0}")]
    Refused(&'static str),
    /// No thread could be started.
    #[error("a thread for the link can't be started")]
    Thread(#[source] io::Error),
}

/// Why a link ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkEndReason {
    /// The other process died or closed the link.
    #[error("the other process ended or closed the link")]
    Gone,
    /// The other process lives, but did not read a full ring: it hangs, or is stopped.
    #[error("the other process has not read a full ring for {0:?}: it hangs or is stopped")]
    Stalled(Duration),
    /// The other process violated the protocol.
    #[error("the other process violated the ring protocol: {0}")]
    Misconduct(#[from] Misconduct),
    /// The link was closed on this side.
    #[error("the link was closed on this side")]
    Closed,
    /// The socket failed.
    #[error("the socket of the link failed: {0}")]
    Socket(io::ErrorKind),
}

/// Protocol violation by the other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misconduct {
    /// A position is outside the range of the ring.
    #[error("a ring position is off by {used} words; the ring has {capacity}")]
    Position {
        /// Distance between the positions, in words of 8 bytes.
        used: u64,
        /// Capacity of the ring in words.
        capacity: u64,
    },
    /// A frame is incomplete.
    #[error("a frame announced {words} words, but {used} were written")]
    Truncated {
        /// Words of the frame.
        words: u64,
        /// Words that were written.
        used: u64,
    },
    /// A frame has an unknown kind.
    #[error("a frame has the unknown kind {0}")]
    Kind(u8),
    /// Reserved bits are not zero.
    #[error("reserved bits of a frame are set")]
    Reserved,
    /// A message is longer than this side accepts.
    #[error("a message announced {bytes} bytes; the limit is {limit}")]
    Length {
        /// Announced length.
        bytes: u64,
        /// Accepted length.
        limit: u64,
    },
    /// A piece has another length than its position in the message requires.
    #[error("a piece of a message has {bytes} bytes instead of {expected}")]
    Piece {
        /// Actual length.
        bytes: u64,
        /// Required length.
        expected: u64,
    },
    /// A piece continues a message that was not begun.
    #[error("a piece belongs to no message")]
    Stray,
    /// A call has the number of a call that is still pending.
    #[error("call {0} was made twice")]
    Twice(u64),
    /// The other side keeps calling while it reads no answers.
    #[error("it keeps calling without reading answers")]
    Flood,
    /// An answer to a call that was never made.
    #[error("it answered call {0}, which was never made")]
    NeverCalled(u64),
}

/// Failure that the callee reports instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} (code {code})")]
pub struct CallFailure {
    /// Kind of failure: below 16 one of the constants here, from 16 on defined by the callee.
    pub code: u32,
    /// Human-readable text, at most 4 KiB.
    pub text: String,
}

impl CallFailure {
    /// The handler panicked.
    pub const PANICKED: u32 = 1;
    /// The method does not exist.
    pub const UNKNOWN_METHOD: u32 = 2;
    /// The callee already has its maximum number of concurrent calls.
    pub const BUSY: u32 = 3;
    /// The handler dropped the call without an answer.
    pub const UNANSWERED: u32 = 4;
    /// The answer is longer than the caller accepts.
    pub const ANSWER_TOO_LONG: u32 = 5;
    /// The handler reported a failure without details.
    pub const FAILED: u32 = 6;
    /// First code that the callee may define itself.
    pub const FIRST_OWN: u32 = 16;

    /// Creates a failure with a code and a text, which is cut to 4 KiB.
    pub fn new(code: u32, text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        Self { code, text }
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The deadline passed. The callee was notified that the call is cancelled.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The callee answered with a failure.
    #[error("the call failed in the other process: {0}")]
    Failed(#[from] CallFailure),
    /// The message is longer than the other side accepts.
    #[error("a message has {bytes} bytes; the other process accepts at most {limit}")]
    TooLong {
        /// Length of the message.
        bytes: usize,
        /// Length that the other side accepts.
        limit: usize,
    },
    /// The maximum number of pending calls that both sides allow is reached.
    #[error("the limit of {0} concurrent calls is reached")]
    Busy(usize),
    /// The link has ended.
    #[error("the link has ended: {0}")]
    Ended(#[from] LinkEndReason),
    /// The call was made by a handler on the thread that would have to read its answer.
    #[error(
        "a handler on the thread of the link can't wait for an answer on the same link: call from another \
         thread, such as one of `Workers`"
    )]
    OnReader,
    /// No new link could be established.
    #[error("no link: {0}")]
    NoLink(String),
}

/// Maximum bytes of a failure's text.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;
