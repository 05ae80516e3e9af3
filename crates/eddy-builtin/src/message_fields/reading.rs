//! Extraction of fields from a body while it passes.

use std::sync::Arc;

use eddy_protobuf::{Compressed, MessageWalk, ProtobufError, ProtobufLimits, Values};

use super::plan::Extraction;
use crate::protobuf::{MessageEvent, MessageReader};

/// Extraction state of a body.
#[derive(Debug)]
pub(super) struct BodyExtraction {
    pub(super) extraction: Arc<Extraction>,
    reader: MessageReader,
    walk: MessageWalk,
    /// Offset of the current message in the body.
    begin: u64,
    /// Number of messages read.
    pub(super) messages: u64,
}

impl BodyExtraction {
    /// Creates the state for a body of frames, or for a body that is one message.
    pub(super) fn new(extraction: &Arc<Extraction>, is_framed: bool, message_bytes_max: usize) -> Self {
        let limits = ProtobufLimits {
            message_bytes_max,
            held_bytes_max: message_bytes_max,
            ..ProtobufLimits::default()
        };
        let reader = if is_framed {
            MessageReader::framed(Compressed::Refuse, &limits)
        } else {
            MessageReader::whole(&limits)
        };
        let walk = MessageWalk::new(Arc::clone(&extraction.program), limits);
        Self { extraction: Arc::clone(extraction), reader, walk, begin: 0, messages: 0 }
    }

    /// Reads a piece up to the end of the next message; calls `shown` with that message's values and its offset in the
    /// body.
    ///
    /// # Errors
    /// [`ProtobufError`] when a message cannot be read; nothing of the body can be read afterwards.
    pub(super) fn next(
        &mut self,
        piece: &mut &[u8],
        is_last: bool,
        shown: impl FnOnce(&Extraction, &Values<'_>, u64),
    ) -> Result<bool, ProtobufError> {
        while let Some(event) = self.reader.next(piece, is_last)? {
            match event {
                MessageEvent::Start { .. } => {
                    self.walk.reset();
                    self.begin = self.reader.offset();
                }
                MessageEvent::Data(data) => self.walk.push(data)?,
                MessageEvent::End => {
                    self.messages += 1;
                    shown(&self.extraction, &self.walk.finish()?, self.begin);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
