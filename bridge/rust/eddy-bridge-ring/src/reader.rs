//! The link's own thread: handles calls, notices the death of the other process, and abandons expired calls.

use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::fault::{LinkEndReason, Misconduct};
use crate::frame::RingFrameKind;
use crate::inbound::{InboundPoll, ReaderRole};
use crate::shared::LinkState;

/// Main loop of the link's own thread.
pub(crate) fn run(shared: &Arc<LinkState>) {
    let fault = match serve(shared) {
        Ok(never) => match never {},
        Err(fault) => fault,
    };
    shared.end(fault);
}

fn serve(shared: &Arc<LinkState>) -> Result<std::convert::Infallible, LinkEndReason> {
    let mut pause = SleepLimit::None;
    let mut rounds_after_end = 0;
    loop {
        let has_hung_up = wait(shared, pause)?;
        if let Some(fault) = shared.fault.get() {
            return Err(fault.clone());
        }
        shared.outbox.wake_blocked_writers();
        let is_all = read(shared)?;
        // Messages written before the hangup are still read, but no more than a ring holds.
        rounds_after_end += u32::from(has_hung_up);
        if has_hung_up && (is_all || rounds_after_end > ROUNDS_AFTER_END_MAX) {
            return Err(LinkEndReason::Gone);
        }
        let expired = shared.calls.expire(Instant::now());
        expired.calls.into_iter().for_each(|call| shared.cancel(call));
        pause = match expired.next {
            _ if !is_all => SleepLimit::None,
            Some(deadline) => SleepLimit::Until(deadline),
            None => SleepLimit::Long,
        };
    }
}

/// Maximum sleep of the thread.
#[derive(Clone, Copy)]
enum SleepLimit {
    None,
    Until(Instant),
    Long,
}

/// Sleeps until there is something to do, and returns whether the other side has hung up.
fn wait(shared: &LinkState, pause: SleepLimit) -> Result<bool, LinkEndReason> {
    let left = match pause {
        SleepLimit::None => Some(Duration::ZERO),
        // Slightly later rather than slightly earlier, to wake only once.
        SleepLimit::Until(deadline) => {
            Some(deadline.saturating_duration_since(Instant::now()) + Duration::from_micros(100))
        }
        SleepLimit::Long => None,
    };
    let timeout = left.and_then(|left| Timespec::try_from(left).ok());
    let mut fds = [PollFd::new(&*shared.socket, PollFlags::IN), PollFd::new(&shared.wake, PollFlags::IN)];
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(LinkEndReason::Socket(io::Error::from(error).kind())),
    }
    if !fds[1].revents().is_empty() {
        // Only this thread reads it, and poll reported that it is readable.
        let _ = rustix::io::read(&shared.wake, &mut [0; 8]);
    }
    if fds[0].revents().is_empty() { Ok(false) } else { drain_wakes(shared) }
}

/// Reads the other side's wakes from the socket, and returns whether it has hung up.
fn drain_wakes(shared: &LinkState) -> Result<bool, LinkEndReason> {
    match recv(&*shared.socket, &mut [0; RINGS_MAX], RecvFlags::DONTWAIT) {
        Ok((0, _)) | Err(Errno::CONNRESET) => Ok(true),
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(error) => Err(LinkEndReason::Socket(io::Error::from(error).kind())),
    }
}

/// Reads the available messages, and those that arrive while it polls for a while. Returns whether that was all: if
/// so, the other side wakes this thread for more.
fn read(shared: &Arc<LinkState>) -> Result<bool, Misconduct> {
    let mut inbound = shared.lock_inbound();
    inbound.consumer.watch();
    let mut watch_until = None;
    for _ in 0..MESSAGES_MAX {
        let message = match inbound.next(ReaderRole::Link)? {
            InboundPoll::Message(message) => message,
            InboundPoll::Nothing | InboundPoll::ForLink => {
                while watch_until.is_some_and(|until| Instant::now() < until) && !inbound.consumer.has_more()
                {
                    if shared.served.is_idle() {
                        (0..SPINS_PER_POLL).for_each(|_| spin_loop());
                    } else {
                        // The thread that answers may need this processor.
                        yield_now();
                    }
                }
                watch_until = None;
                if inbound.consumer.has_more() || !inbound.consumer.rest() {
                    inbound.consumer.watch();
                    continue;
                }
                return Ok(true);
            }
        };
        if message.kind != RingFrameKind::Call {
            shared.handle_answer(message)?;
            continue;
        }
        // The handler runs without the lock: other threads may read answers meanwhile.
        drop(inbound);
        shared.handle_call(message)?;
        inbound = shared.lock_inbound();
        inbound.consumer.watch();
        // A caller is likely to call again soon.
        watch_until = Some(Instant::now() + shared.spin);
    }
    Ok(false)
}

/// Wakes that are read at a time.
const RINGS_MAX: usize = 64;
/// Messages that are read before the thread checks the socket and the clock again.
const MESSAGES_MAX: usize = 256;
/// Rounds of that many messages after the other side has hung up: the largest ring of the shortest messages.
const ROUNDS_AFTER_END_MAX: u32 = 64 * 1024 * 1024 / 32 / 256;
/// Spin iterations between two polls of the ring.
const SPINS_PER_POLL: usize = 8;
