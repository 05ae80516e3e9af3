//! Rust implementation of the service that Go calls.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use crate::{Echo, Every, Mirror, Narrow, Refusal, View, Viewed};

/// Implementation that returns its arguments.
#[derive(Debug, Default)]
pub struct Looking {
    dropped: Arc<AtomicU64>,
    /// Go service that it calls in turn.
    echo: Option<Echo>,
}

impl Looking {
    /// Creates an implementation that calls Go as well.
    pub fn with(echo: Echo) -> Self {
        Self { echo: Some(echo), ..Self::default() }
    }
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

    fn narrow(&self, value: &Narrow) -> Narrow {
        *value
    }

    fn narrow_short(&self, value: &Narrow) -> Narrow {
        *value
    }

    fn join(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String {
        format!("{}{numbers:?}{flag}{single}{byte}", names.concat())
    }

    fn join_short(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String {
        self.join(names, numbers, flag, single, byte)
    }

    fn back(&self, text: &str, depth: u32) -> Result<String, String> {
        let echo = self.echo.as_ref().ok_or("there is no Go to call")?;
        echo.deep(depth).map_err(|fault| fault.to_string())?;
        Ok(text.to_owned())
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
        let _counted = DropCounter(Arc::clone(&self.dropped));
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

/// Counts when it is dropped.
struct DropCounter(Arc<AtomicU64>);

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
