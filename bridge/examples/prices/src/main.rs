//! A Rust program that uses a Go library: `prices LIBRARY`.

#![forbid(unsafe_code)]

mod prices;

use std::error::Error;
use std::future::Future;
use std::io::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use eddy_bridge::Go;

use crate::prices::{Order, Prices};

fn main() -> Result<(), Box<dyn Error>> {
    let library = std::env::args().nth(1).ok_or("usage: prices LIBRARY")?;
    let prices = Prices::bind(&Go::open(library)?)?;
    let mut out = std::io::stdout().lock();
    for (article, count) in [("apple", 3), ("pear", 2), ("melon", 1)] {
        match prices.price(&Order { article, count }) {
            Ok(price) => writeln!(out, "{count} x {article}: {} ({} cents)", price.text, price.cents)?,
            Err(failure) => writeln!(out, "{count} x {article}: {failure}")?,
        }
    }
    writeln!(out, "asked: {} cents", wait(prices.ask("apple"))?)?;
    Ok(())
}

/// Blocks this thread on a future; a program with an async runtime awaits it instead.
fn wait<F: Future>(future: F) -> F::Output {
    struct UnparkWaker(Thread);
    impl Wake for UnparkWaker {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(UnparkWaker(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
