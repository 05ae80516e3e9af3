//! Waiting in tests: for a state, looked at again until a deadline, or for a time that is itself part of the test.

use std::time::Duration;

use anyhow::Result;

use crate::wire::within;

/// Pauses between two looks at a state that a loop waits for; the loop has a deadline of its own, such as [`within`].
pub async fn next_look() {
    pause(POLL_INTERVAL).await;
}

/// Waits until `look` has returned the same value for a while, and returns it.
///
/// For states that end with nothing more happening, such as full buffers, where no event tells that they are full.
///
/// # Errors
/// When `look` fails, or when its value still changes after [`crate::wire::DEADLINE`].
pub async fn until_steady<T: PartialEq>(what: &str, mut look: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let steady = async {
        let (mut last, mut looks) = (look().await?, 0);
        while looks < STEADY_POLLS {
            next_look().await;
            let next = look().await?;
            looks = if next == last { looks + 1 } else { 0 };
            last = next;
        }
        Ok(last)
    };
    within(what, steady).await?
}

/// Lets `time` pass, because its passing is part of the test: a pace, a timeout, or a time that is measured.
///
/// A test that waits for something to happen uses [`next_look`] or an event instead. `why` says what the time is for.
pub async fn elapse(time: Duration, why: &str) {
    debug_assert!(!why.is_empty(), "a wait of {time:?} without a reason");
    pause(time).await;
}

#[expect(clippy::disallowed_methods, reason = "the one place where tests let time pass")]
async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Looks without a change after which a value is steady.
const STEADY_POLLS: u32 = 10;

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_value_is_steady_when_it_has_stopped_changing() {
        let begun = Instant::now();
        let mut looks = 0;
        let steady = until_steady("a steady number", async || {
            looks += 1;
            Ok(looks.min(5))
        });
        assert_eq!(steady.await.unwrap(), 5);
        assert_eq!(looks, 5 + STEADY_POLLS);
        assert!(begun.elapsed() >= POLL_INTERVAL * STEADY_POLLS);
    }
}
