//! The Rust side that Go calls.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use crate::{Every, Mirror, Refusal, View, Viewed};

/// Gives back what it gets.
#[derive(Debug, Default)]
pub struct Looking {
    dropped: Arc<AtomicU64>,
}

impl Mirror for Looking {
    fn every(&self, value: &Every) -> Every {
        value.clone()
    }

    fn every_short(&self, value: &Every) -> Every {
        value.clone()
    }

    fn view(&self, view: View<'_>) -> Viewed {
        Viewed {
            name: view.name.to_owned(),
            body: view.body.to_vec(),
            numbers: view.numbers.to_vec(),
            maybe: view.maybe.map(str::to_owned),
            count: view.count,
        }
    }

    fn add(&self, one: u64, other: u64) -> u64 {
        one.wrapping_add(other)
    }

    fn letters(&self, text: &str) -> Result<u64, String> {
        if text.is_empty() { Err("there is no text".to_owned()) } else { Ok(text.chars().count() as u64) }
    }

    #[expect(clippy::panic, reason = "panics are what this is about")]
    fn explode(&self, text: &str) -> Result<u32, Refusal> {
        match text {
            "" => Err(Refusal { code: 4, reason: "there is no text".to_owned() }),
            text => panic!("{text}"),
        }
    }

    async fn later(&self, text: &str, turns: u32) -> String {
        for _ in 0..turns {
            yield_once().await;
        }
        text.to_owned()
    }

    async fn never(&self) {
        let _counted = Counted(Arc::clone(&self.dropped));
        std::future::pending::<()>().await;
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::SeqCst)
    }
}

async fn yield_once() {
    let mut is_back = false;
    poll_fn(|context| {
        if is_back {
            return Poll::Ready(());
        }
        is_back = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Counts that it was dropped.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
