//! Fast path: complete items that are skipped or stored without further checks.

use super::engine::WalkEngine;
use super::node::{FastOp, ProgramNode};
use super::store::Cell;
use super::take::check_utf8;
use crate::fault::{ProtobufError, ProtobufResult};
use crate::wire::{FIXED64, LENGTH, VARINT, WireRead, read_varint};

impl WalkEngine {
    /// Reads items from an offset of the window that are skipped or only stored in a slot. Returns the offset of the
    /// first item that needs more or is incomplete, which the slow path parses again.
    #[inline]
    pub(super) fn run_fast_path(
        &mut self,
        node: &ProgramNode,
        window: &[u8],
        base: u64,
        mut at: usize,
    ) -> ProtobufResult<usize> {
        while let Some((quick, wire_type, after_tag)) = tag(node, window, at) {
            if wire_type == LENGTH {
                let Some((bytes, end)) = sized(window, after_tag) else { break };
                if let FastOp::Put { slot, holds, checks_utf8 } = quick {
                    let offset = base + (end - bytes.len()) as u64;
                    if checks_utf8 && !bytes.is_ascii() {
                        check_utf8(bytes, offset)?;
                    }
                    let put = self.store.put(slot, Cell::bytes(offset, bytes.len()), holds, &self.limits);
                    put.map_err(|kind| ProtobufError::new(offset, kind))?;
                }
                at = end;
            } else {
                let Some((value, end)) = number(window, after_tag, wire_type) else { break };
                if let FastOp::Put { slot, holds, .. } = quick {
                    let offset = base + after_tag as u64;
                    let put = self.store.put(slot, Cell::number(value, offset), holds, &self.limits);
                    put.map_err(|kind| ProtobufError::new(offset, kind))?;
                }
                at = end;
            }
        }
        Ok(at)
    }
}

/// Returns the fast path operation of the tag at an offset, its wire type, and the offset after it; `None` if the
/// fast path does not handle it.
#[inline]
fn tag(node: &ProgramNode, window: &[u8], at: usize) -> Option<(FastOp, u8, usize)> {
    let (quick, wire_type, behind) = match window.get(at..)? {
        [tag, ..] if *tag < 0x80 => (*node.quick.get(usize::from(*tag))?, tag & 7, at + 1),
        [first, second, ..] if *second < 0x80 => {
            let tag = u16::from(first & 0x7f) | u16::from(*second) << 7;
            (node.fast_op(tag), first & 7, at + 2)
        }
        _ => return None,
    };
    (quick != FastOp::More).then_some((quick, wire_type, behind))
}

/// Returns the length-prefixed bytes at an offset, and the offset after them.
#[inline]
fn sized(window: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (rest, length) = match window.get(at..)? {
        // Most lengths have one byte: measured, this is faster than calling the varint decoder.
        [length, rest @ ..] if *length < 0x80 => (rest, usize::from(*length)),
        body => match read_varint(body) {
            Ok(WireRead::Done(length, bytes)) => (body.get(bytes..)?, usize::try_from(length).ok()?),
            _ => return None,
        },
    };
    let bytes = rest.get(..length)?;
    Some((bytes, window.len() - rest.len() + length))
}

/// Returns the number at an offset, and the offset after it.
#[inline]
fn number(window: &[u8], at: usize, wire_type: u8) -> Option<(u64, usize)> {
    let body = window.get(at..)?;
    match wire_type {
        VARINT => match read_varint(body) {
            Ok(WireRead::Done(value, bytes)) => Some((value, at + bytes)),
            _ => None,
        },
        FIXED64 => Some((u64::from_le_bytes(*body.first_chunk()?), at + 8)),
        _ => Some((u64::from(u32::from_le_bytes(*body.first_chunk()?)), at + 4)),
    }
}
