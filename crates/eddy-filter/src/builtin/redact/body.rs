//! A body whose messages are redacted as it passes.

use std::sync::Arc;

use eddy_protobuf::{
    Compressed, Frames, MessageWalk, ProtobufError, ProtobufErrorKind, ProtobufLimits, WalkProgram,
};

use crate::builtin::protobuf::{MessageEvent, MessageReader};

/// A body on its way, message by message.
///
/// # Cost
/// One walk a message. Where an edit can change lengths, a message is held until it is complete.
#[derive(Debug)]
pub(super) struct RedactedBody {
    reader: MessageReader,
    walk: MessageWalk,
    /// Whether lengths stay, so that messages pass as they come.
    is_streamable: bool,
    /// Whether the message that is read is compressed, and goes on as it is.
    is_passed: bool,
    /// Messages redacted so far.
    pub(super) redacted: u64,
    /// Compressed messages that went on as they were.
    pub(super) passed: u64,
}

impl RedactedBody {
    /// For a body in frames, or a body that is one message.
    pub(super) fn new(
        program: &Arc<WalkProgram>,
        is_framed: bool,
        compressed: Compressed,
        message_bytes_max: usize,
    ) -> Self {
        let is_streamable = program.is_streamable();
        let limits = ProtobufLimits {
            // What passes as it comes needs no limit.
            message_bytes_max: if is_streamable { usize::MAX } else { message_bytes_max },
            items_max: EDITS_MAX,
            ..ProtobufLimits::default()
        };
        let reader = if is_framed {
            MessageReader::framed(compressed, &limits)
        } else {
            MessageReader::whole(&limits)
        };
        let walk = MessageWalk::new(Arc::clone(program), limits);
        Self { reader, walk, is_streamable, is_passed: false, redacted: 0, passed: 0 }
    }

    /// Takes the next piece, and appends what goes on.
    ///
    /// # Errors
    /// [`Fault`] where messages can't be read. What was appended is whole messages, or a part of one that is masked.
    pub(super) fn push(
        &mut self,
        mut piece: &[u8],
        is_last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), ProtobufError> {
        while let Some(event) = self.reader.next(&mut piece, is_last)? {
            match event {
                MessageEvent::Start { length, is_compressed } => {
                    self.walk.reset();
                    self.is_passed = is_compressed;
                    if let Some(length) = length
                        && (self.is_streamable || is_compressed)
                    {
                        out.extend_from_slice(&Frames::head(length, is_compressed));
                    }
                }
                MessageEvent::Data(data) if self.is_passed => out.extend_from_slice(data),
                MessageEvent::Data(data) if self.is_streamable => self.walk.push_masked(data, out)?,
                MessageEvent::Data(data) => self.walk.push(data)?,
                MessageEvent::End if self.is_passed => self.passed += 1,
                MessageEvent::End => self.end_message(out)?,
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) -> Result<(), ProtobufError> {
        self.walk.finish()?;
        self.redacted += 1;
        if self.is_streamable {
            return Ok(());
        }
        if !self.reader.is_framed() {
            self.walk.write(out);
            return Ok(());
        }
        let start = out.len();
        out.extend_from_slice(&Frames::head(0, false));
        let begin = out.len();
        self.walk.write(out);
        let length = u32::try_from(out.len() - begin).map_err(|_| ProtobufError {
            offset: 0,
            kind: ProtobufErrorKind::MessageTooLarge,
            field: None,
        })?;
        if let Some(head) = out.get_mut(start..begin) {
            head.copy_from_slice(&Frames::head(length, false));
        }
        Ok(())
    }
}

/// Most edits of one message. With the longest text of a mask, a message grows by 4.25 MiB at most.
const EDITS_MAX: usize = 128 * 1024;
