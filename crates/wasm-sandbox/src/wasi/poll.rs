//! `poll_oneoff`, which never blocks: every event is ready at once.
//!
//! The host cannot spare a thread for a module that sleeps. A module that waits for a point in time gets the event
//! immediately, reads the clock, and polls again until the time has come or the deadline of the call is over.

use wasmtime::{Caller, Linker};

use crate::region::Region;
use crate::store::{Confined, memory_of};

use super::descriptors;
use super::errno::{Errno, WasiResult, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "poll_oneoff",
        |mut caller: Caller<'_, T>, asked: u32, events: u32, count: u32, count_place: u32| {
            wire(poll(memory_of(&mut caller), asked, events, count, count_place))
        },
    )?;
    Ok(())
}

fn poll(memory: &mut [u8], asked: u32, events: u32, count: u32, count_place: u32) -> WasiResult {
    if count == 0 || count > SUBSCRIPTIONS_MAX {
        return Err(Errno::Invalid);
    }
    Region::new(events, count * EVENT_BYTES).of(memory)?;
    Region::new(count_place, 4).of(memory)?;
    let asked = Region::new(asked, count * SUBSCRIPTION_BYTES).of(memory)?.to_vec();
    let (asked, _) = asked.as_chunks::<{ SUBSCRIPTION_BYTES as usize }>();
    let answers: Vec<u8> = asked.iter().flat_map(answer).collect();
    let room = Region::new(events, count * EVENT_BYTES).of_mut(memory)?;
    room.copy_from_slice(&answers);
    let room = Region::new(count_place, 4).of_mut(memory)?;
    room.copy_from_slice(&count.to_le_bytes());
    Ok(())
}

/// Returns the event for a subscription: user data, error number and type.
fn answer(asked: &[u8; SUBSCRIPTION_BYTES as usize]) -> [u8; EVENT_BYTES as usize] {
    let mut event = [0; EVENT_BYTES as usize];
    let [n0, n1, n2, n3, n4, n5, n6, n7, kind, _, _, _, _, _, _, _, d0, d1, d2, d3, ..] = *asked;
    let descriptor = u32::from_le_bytes([d0, d1, d2, d3]);
    let errno = match kind {
        CLOCK => Ok(()),
        READ | WRITE => descriptors::check(descriptor),
        _ => Err(Errno::Invalid),
    };
    let [e0, e1, ..] = wire(errno).to_le_bytes();
    let head = [n0, n1, n2, n3, n4, n5, n6, n7, e0, e1, kind];
    for (to, from) in event.iter_mut().zip(head) {
        *to = from;
    }
    event
}

const SUBSCRIPTIONS_MAX: u32 = 64;
const SUBSCRIPTION_BYTES: u32 = 48;
const EVENT_BYTES: u32 = 32;
const CLOCK: u8 = 0;
const READ: u8 = 1;
const WRITE: u8 = 2;
