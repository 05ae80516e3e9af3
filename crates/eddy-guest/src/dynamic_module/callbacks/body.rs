//! Callbacks for bodies: the part that a hook has just received, and the part that its filter has buffered before.

use std::ops::Range;

use eddy_filter::{Direction, Phase};

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, EnvoyPtr, Out};
use crate::dynamic_module::stream::{self, Stream};

/// Part of a body.
#[derive(Clone, Copy, Debug)]
struct BodyPart {
    direction: Direction,
    phase: Phase,
    is_buffered: bool,
}

impl BodyPart {
    fn of(kind: u32) -> Option<Self> {
        let (direction, phase) = match kind {
            0 | 1 => (Direction::Request, Phase::RequestBody),
            2 | 3 => (Direction::Response, Phase::ResponseBody),
            _ => return None,
        };
        Some(Self { direction, phase, is_buffered: kind % 2 == 1 })
    }

    /// Returns the range of this part in the body; `None` if there is none now.
    fn range(self, stream: &Stream) -> Option<Range<usize>> {
        let body = stream.view_of(self.direction)?.body(self.phase).ok()?;
        let (buffered, received) = stream.body_parts(self.direction, self.phase, body.len());
        match self.is_buffered {
            // A body that an earlier filter has buffered is both.
            true if is_of_earlier_filter(stream, self.direction) => Some(0..body.len()),
            true => (buffered > 0).then_some(0..buffered),
            false if stream.phase == Some(self.phase) => Some(buffered..buffered + received),
            false => None,
        }
    }
}

/// Whether the body in this crossing was buffered by an earlier filter.
fn is_of_earlier_filter(stream: &Stream, direction: Direction) -> bool {
    let at = direction as usize;
    let is_whole =
        stream.view_of(direction).and_then(|view| view.view()).is_some_and(|view| view.is_buffered);
    stream.phase.is_some() && is_whole && !stream.is_buffering[at]
}

/// Changes a part of the body; `false` if there is none now.
fn change(
    filter: EnvoyPtr,
    kind: u32,
    range_of: impl FnOnce(Range<usize>) -> Range<usize>,
    bytes: &[u8],
) -> bool {
    let changed = stream::of(filter, |stream| {
        let part = BodyPart::of(kind)?;
        let whole = part.range(stream).or_else(|| empty_part(stream, part))?;
        let range = range_of(whole);
        let removed = range.len();
        stream.view_of_mut(part.direction)?.replace_body(part.phase, range, bytes).ok()?;
        let at = part.direction as usize;
        if part.is_buffered && stream.phase == Some(part.phase) && stream.is_buffering[at] {
            stream.seen[at] = stream.seen[at] - removed.min(stream.seen[at]) + bytes.len();
        }
        Some(())
    });
    changed.flatten().is_some()
}

/// Returns the place of a buffered part without bytes, to which bytes can be added.
fn empty_part(stream: &Stream, part: BodyPart) -> Option<Range<usize>> {
    let has_body = stream.view_of(part.direction)?.body(part.phase).is_ok();
    (part.is_buffered && has_body && stream.is_buffering[part.direction as usize]).then_some(0..0)
}

callbacks! {
    fn envoy_dynamic_module_callback_http_get_body_size(filter: EnvoyPtr, kind: u32) -> usize {
        let range = stream::of(filter, |stream| BodyPart::of(kind)?.range(stream));
        range.flatten().map_or(0, |range| range.len())
    }

    fn envoy_dynamic_module_callback_http_get_body_chunks_size(filter: EnvoyPtr, kind: u32) -> usize {
        let range = stream::of(filter, |stream| BodyPart::of(kind)?.range(stream));
        usize::from(range.flatten().is_some_and(|range| !range.is_empty()))
    }

    fn envoy_dynamic_module_callback_http_get_body_chunks(filter: EnvoyPtr, kind: u32, out: Out<AbiBuffer>) -> bool {
        let found = stream::of(filter, |stream| {
            let part = BodyPart::of(kind)?;
            let range = part.range(stream)?;
            let body = stream.view_of(part.direction)?.body(part.phase).ok()?;
            let bytes = body.get(range)?;
            // In place: by the ABI the bytes are valid until the hook returns or the body is changed.
            if !bytes.is_empty() {
                out.set(AbiBuffer::of(bytes));
            }
            Some(())
        });
        found.flatten().is_some()
    }

    fn envoy_dynamic_module_callback_http_append_body(filter: EnvoyPtr, kind: u32, data: AbiBuffer) -> bool {
        change(filter, kind, |part| part.end..part.end, data.bytes())
    }

    fn envoy_dynamic_module_callback_http_drain_body(filter: EnvoyPtr, kind: u32, count: usize) -> bool {
        change(filter, kind, |part| part.start..part.start + count.min(part.len()), b"")
    }

    fn envoy_dynamic_module_callback_http_received_buffered_request_body(filter: EnvoyPtr) -> bool {
        stream::of(filter, |stream| is_of_earlier_filter(stream, Direction::Request)).unwrap_or(false)
    }

    fn envoy_dynamic_module_callback_http_received_buffered_response_body(filter: EnvoyPtr) -> bool {
        stream::of(filter, |stream| is_of_earlier_filter(stream, Direction::Response)).unwrap_or(false)
    }

    fn envoy_dynamic_module_callback_http_get_buffer_limit(filter: EnvoyPtr) -> u64 {
        stream::of(filter, |stream| stream.buffer_limit).flatten().unwrap_or(BUFFER_LIMIT)
    }

    // The configuration of the filter limits what eddy buffers (`body_bytes_max`); a module reads back what it has set.
    fn envoy_dynamic_module_callback_http_set_buffer_limit(filter: EnvoyPtr, limit: u64) {
        stream::of(filter, |stream| stream.buffer_limit = Some(limit));
    }
}

/// AbiBuffer limit that a module sees before it sets one: the default of `body_bytes_max`.
const BUFFER_LIMIT: u64 = 1 << 20;
