//! Exchange handles: slot and generation, so that a stale handle refers to nothing.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::host_error::HostError;

/// Handle of an exchange; never reused for another one.
///
/// The generation counts to 2^32 in each slot. At a hundred thousand exchanges per second, using each of a worker's
/// slots in turn, it wraps around after years.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(u64);

/// Message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    Request = 0,
    /// To the client.
    Response = 1,
}

/// Crossing that each exchange waits for, visible to all threads.
///
/// A worker opens and closes its own slots and announces each crossing. Any thread may claim an announced crossing; if
/// several try, exactly one succeeds.
#[derive(Debug)]
pub struct HandleTable {
    lanes: Box<[HandleBlocks]>,
}

#[derive(Debug)]
struct HandleBlocks {
    blocks: Box<[OnceLock<Box<[HandleSlot]>>]>,
}

/// For each direction: generation in the upper half, turn that may be resumed (or 0) in the lower half.
#[derive(Debug, Default)]
struct HandleSlot {
    waits: [AtomicU64; 2],
}

/// Announced crossing, which can be withdrawn.
#[derive(Clone, Copy, Debug)]
pub struct Announced<'a> {
    wait: Option<&'a AtomicU64>,
    /// Generation of the exchange, shifted to the upper half.
    generation: u64,
}

impl Handle {
    /// Creates the handle with this number.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number that represents the handle in the filter ABI.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the worker that owns the exchange.
    pub fn worker(self) -> usize {
        (self.0 >> 56) as usize
    }

    /// Returns the slot of the exchange in its worker.
    pub fn slot(self) -> usize {
        (self.0 >> 32 & 0xff_ffff) as usize
    }

    fn generation(self) -> u64 {
        self.0 & 0xffff_ffff
    }
}

impl HandleTable {
    /// Creates a table for a number of workers with a number of slots each; at most 256 workers and 2^24 slots.
    ///
    /// # Cost
    /// Memory is allocated when slots are first used, 16 KiB at a time.
    pub fn new(workers: usize, slots_max: usize) -> Self {
        let blocks = slots_max.clamp(1, SLOTS_MAX).div_ceil(BLOCK_SLOTS);
        let lane = || HandleBlocks { blocks: (0..blocks).map(|_| OnceLock::new()).collect() };
        Self { lanes: (0..workers.clamp(1, WORKERS_MAX)).map(|_| lane()).collect() }
    }

    /// Returns the number of slots per worker.
    pub fn slots_max(&self) -> usize {
        self.lanes.first().map_or(0, |lane| lane.blocks.len() * BLOCK_SLOTS)
    }

    /// Opens an exchange in a free slot; only on the worker's own thread.
    pub fn open(&self, worker: usize, slot: usize) -> Option<Handle> {
        let waits = &self.make_slot(worker, slot)?.waits;
        let generation = ((waits[0].load(Acquire) >> 32) + 1) & 0xffff_ffff;
        waits.iter().for_each(|wait| wait.store(generation << 32, Release));
        Some(Handle((worker as u64) << 56 | (slot as u64) << 32 | generation))
    }

    /// Ends an exchange: its handle becomes stale. If the exchange has ended already, nothing changes, also not for the
    /// exchange that uses its slot now.
    pub fn close(&self, handle: Handle) {
        if let Some(slot) = self.slot(handle).filter(|_| self.is_open(handle)) {
            let next = (handle.generation() + 1) & 0xffff_ffff;
            slot.waits.iter().for_each(|wait| wait.store(next << 32, Release));
        }
    }

    /// Announces a crossing: if it pauses, it can be resumed, even before it has returned.
    #[inline]
    pub fn announce(&self, handle: Handle, direction: Direction, turn: u32) -> Announced<'_> {
        let wait = self.slot(handle).map(|slot| &slot.waits[direction as usize]);
        let announced = Announced { wait, generation: handle.generation() << 32 };
        if let Some(wait) = announced.wait {
            wait.store(announced.generation | u64::from(turn), Release);
        }
        announced
    }

    /// Withdraws an announcement; returns whether it had not been claimed.
    pub fn withdraw(&self, handle: Handle, direction: Direction) -> bool {
        let wait = self.slot(handle).map(|slot| &slot.waits[direction as usize]);
        wait.is_some_and(|wait| wait.swap(handle.generation() << 32, AcqRel) & 0xffff_ffff != 0)
    }

    /// Claims the right to resume a turn; on any thread.
    ///
    /// # Errors
    /// [`HostError::Gone`] when the exchange has ended, [`HostError::Stale`] when it does not wait for this turn, and
    /// [`HostError::Full`] while data that was sent in this turn has not left.
    pub fn claim(&self, handle: Handle, turn: u32) -> Result<Direction, HostError> {
        self.claim_leaving(handle, turn, 0)
    }

    /// Claims the right to send data while a turn stays paused; on any thread. Until the turn is announced again, other
    /// claims of it find [`HostError::Full`].
    ///
    /// # Errors
    /// As [`Self::claim`].
    pub fn claim_to_send(&self, handle: Handle, turn: u32) -> Result<Direction, HostError> {
        self.claim_leaving(handle, turn, u64::from(turn | SENDING))
    }

    /// Claims a turn, and leaves this number in its place.
    fn claim_leaving(&self, handle: Handle, turn: u32, left: u64) -> Result<Direction, HostError> {
        let slot = self.slot(handle).ok_or(HostError::Gone)?;
        let expected = handle.generation() << 32 | u64::from(turn);
        let left = handle.generation() << 32 | left;
        let mut error = HostError::Stale;
        for direction in [Direction::Request, Direction::Response] {
            let wait = &slot.waits[direction as usize];
            if turn == 0 || turn & SENDING != 0 {
                break;
            }
            match wait.compare_exchange(expected, left, AcqRel, Acquire) {
                Ok(_) => return Ok(direction),
                Err(found) if found == expected | u64::from(SENDING) => error = HostError::Full,
                Err(_) => {}
            }
        }
        if self.is_open(handle) { Err(error) } else { Err(HostError::Gone) }
    }

    /// Whether the exchange has not ended.
    pub fn is_open(&self, handle: Handle) -> bool {
        self.slot(handle).is_some_and(|slot| slot.waits[0].load(Acquire) >> 32 == handle.generation())
    }

    #[inline]
    fn slot(&self, handle: Handle) -> Option<&HandleSlot> {
        let slot = handle.slot();
        let blocks = &self.lanes.get(handle.worker())?.blocks;
        blocks.get(slot / BLOCK_SLOTS)?.get()?.get(slot % BLOCK_SLOTS)
    }

    fn make_slot(&self, worker: usize, slot: usize) -> Option<&HandleSlot> {
        let block = self.lanes.get(worker)?.blocks.get(slot / BLOCK_SLOTS)?;
        block
            .get_or_init(|| (0..BLOCK_SLOTS).map(|_| HandleSlot::default()).collect())
            .get(slot % BLOCK_SLOTS)
    }
}

impl Announced<'_> {
    /// Withdraws the announcement, claimed or not.
    ///
    /// # Cost
    /// A store: a claim writes the same number, so none can be lost.
    #[inline]
    pub fn withdraw(&self) {
        if let Some(wait) = self.wait {
            wait.store(self.generation, Release);
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({}/{}#{})", self.worker(), self.slot(), self.generation())
    }
}

/// Largest number of a turn; the next one is 1.
pub const TURN_MAX: u32 = SENDING - 1;

/// Bit of a turn in which data has been sent and not left yet.
const SENDING: u32 = 1 << 31;
const BLOCK_SLOTS: usize = 1024;
const SLOTS_MAX: usize = 1 << 24;
const WORKERS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announced_handle_is_claimed_once() {
        let table = HandleTable::new(2, 2000);
        let handle = table.open(1, 1500).unwrap();
        assert_eq!((handle.worker(), handle.slot()), (1, 1500));
        assert_eq!(table.claim(handle, 1), Err(HostError::Stale));
        table.announce(handle, Direction::Request, 1);
        table.announce(handle, Direction::Response, 2);
        assert_eq!(table.claim(handle, 0), Err(HostError::Stale));
        assert_eq!(table.claim(handle, 2), Ok(Direction::Response));
        assert_eq!(table.claim(handle, 2), Err(HostError::Stale));
        assert!(!table.withdraw(handle, Direction::Response));
        assert!(table.withdraw(handle, Direction::Request));
        assert_eq!(table.claim(handle, 1), Err(HostError::Stale));
    }

    #[test]
    fn data_is_sent_when_the_data_before_it_has_left() {
        let table = HandleTable::new(1, 1);
        let handle = table.open(0, 0).unwrap();
        assert_eq!(table.claim_to_send(handle, 7), Err(HostError::Stale));
        table.announce(handle, Direction::Response, 7);
        assert_eq!(table.claim_to_send(handle, 7), Ok(Direction::Response));
        assert_eq!(table.claim_to_send(handle, 7), Err(HostError::Full));
        assert_eq!(table.claim(handle, 7), Err(HostError::Full));
        assert_eq!(table.claim(handle, 6), Err(HostError::Stale));
        table.announce(handle, Direction::Response, 7);
        assert_eq!(table.claim_to_send(handle, 7), Ok(Direction::Response));
        table.announce(handle, Direction::Response, 7);
        assert_eq!(table.claim(handle, 7), Ok(Direction::Response));
        assert_eq!(table.claim_to_send(handle, 7), Err(HostError::Stale));
        table.announce(handle, Direction::Response, TURN_MAX);
        assert_eq!(table.claim(handle, TURN_MAX | SENDING), Err(HostError::Stale));
        table.close(handle);
        assert_eq!(table.claim_to_send(handle, 7), Err(HostError::Gone));
    }

    #[test]
    fn a_stale_handle_finds_nothing() {
        let table = HandleTable::new(1, 1);
        let first = table.open(0, 0).unwrap();
        table.announce(first, Direction::Request, 1);
        table.close(first);
        assert_eq!(table.claim(first, 1), Err(HostError::Gone));
        let second = table.open(0, 0).unwrap();
        table.announce(second, Direction::Request, 1);
        assert_ne!(first, second);
        assert_eq!(table.claim(first, 1), Err(HostError::Gone));
        assert!(!table.is_open(first) && table.is_open(second));
        assert_eq!(table.claim(second, 1), Ok(Direction::Request));
        for number in [0, 1, u64::MAX, 1 << 56, 5000 << 32] {
            assert_eq!(table.claim(Handle::from_number(number), 1), Err(HostError::Gone), "{number:x}");
        }
        assert_eq!(table.open(1, 0), None);
        assert_eq!(table.open(0, 1 << 20), None);
    }

    #[test]
    fn one_of_many_claims_succeeds() {
        let table = HandleTable::new(1, 1);
        for _ in 0..200 {
            let handle = table.open(0, 0).unwrap();
            table.announce(handle, Direction::Request, 7);
            let claims = std::thread::scope(|scope| {
                let tasks: Vec<_> = (0..4).map(|_| scope.spawn(|| table.claim(handle, 7).is_ok())).collect();
                tasks.into_iter().filter(|_| true).map(|task| task.join().unwrap()).filter(|ok| *ok).count()
            });
            assert_eq!(claims, 1);
            table.close(handle);
        }
    }
}
