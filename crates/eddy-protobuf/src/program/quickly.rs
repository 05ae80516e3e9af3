//! The short way: items that are whole and of which little is asked.

use super::engine::WalkEngine;
use super::node::{ProgramNode, Quick};
use super::store::Cell;
use super::take::check_utf8;
use crate::fault::ProtobufError;
use crate::wire::{FIXED64, LENGTH, VARINT, WireRead, read_varint};

impl WalkEngine {
    /// Reads items from a place of the window on that are passed over or only put into a slot; answers with the place of the
    /// first that asks for more or is not whole, which the long way finds out again.
    #[inline]
    pub(super) fn run_quick(
        &mut self,
        node: &ProgramNode,
        window: &[u8],
        base: u64,
        mut at: usize,
    ) -> Result<usize, ProtobufError> {
        while let Some((quick, wire_type, behind_tag)) = tag(node, window, at) {
            if wire_type == LENGTH {
                let Some((bytes, end)) = sized(window, behind_tag) else { break };
                if let Quick::Put { slot, holds, checks_utf8 } = quick {
                    let offset = base + (end - bytes.len()) as u64;
                    if checks_utf8 && !bytes.is_ascii() {
                        check_utf8(bytes, offset)?;
                    }
                    let put = self.store.put(slot, Cell::bytes(offset, bytes.len()), holds, &self.limits);
                    put.map_err(|kind| ProtobufError::new(offset, kind))?;
                }
                at = end;
            } else {
                let Some((value, end)) = number(window, behind_tag, wire_type) else { break };
                if let Quick::Put { slot, holds, .. } = quick {
                    let offset = base + behind_tag as u64;
                    let put = self.store.put(slot, Cell::number(value, offset), holds, &self.limits);
                    put.map_err(|kind| ProtobufError::new(offset, kind))?;
                }
                at = end;
            }
        }
        Ok(at)
    }
}

/// The tag at a place: what is done with it, its wire type, and the place behind it; none if more is asked of it.
#[inline]
fn tag(node: &ProgramNode, window: &[u8], at: usize) -> Option<(Quick, u8, usize)> {
    let (quick, wire_type, behind) = match window.get(at..)? {
        [tag, ..] if *tag < 0x80 => (*node.quick.get(usize::from(*tag))?, tag & 7, at + 1),
        [first, second, ..] if *second < 0x80 => {
            let tag = u16::from(first & 0x7f) | u16::from(*second) << 7;
            (node.quick_of(tag), first & 7, at + 2)
        }
        _ => return None,
    };
    (quick != Quick::More).then_some((quick, wire_type, behind))
}

/// The bytes at a place with their length before them, and the place behind them.
#[inline]
fn sized(window: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (rest, length) = match window.get(at..)? {
        // Most have one byte: measured, this is faster than leaving it to what reads numbers.
        [length, rest @ ..] if *length < 0x80 => (rest, usize::from(*length)),
        body => match read_varint(body) {
            Ok(WireRead::Done(length, bytes)) => (body.get(bytes..)?, usize::try_from(length).ok()?),
            _ => return None,
        },
    };
    let bytes = rest.get(..length)?;
    Some((bytes, window.len() - rest.len() + length))
}

/// The number at a place, and the place behind it.
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
