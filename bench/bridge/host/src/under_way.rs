//! Asynchronous calls: one at a time, and many in flight.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};

use eddy_bench_bridge::Reader;

use crate::measure::{Row, least};
use crate::{ANSWERED, SAMPLE, TEXT32, bytes, texts};

/// Returns a row per argument with many calls in flight, on one thread and on two, and a row for calls one at a time.
pub(crate) fn rows(reader: &Reader, repeats: u32) -> Vec<Row> {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bytes = bytes();
    let calls: [(&str, &(dyn Fn() -> BoxedCall + Sync)); 5] = [
        ("empty-rust-go-async", &|| later(reader.empty_later())),
        ("text-rust-go-async", &|| later(reader.text_later(TEXT32))),
        ("struct-rust-go-async", &|| later(reader.order_later(&SAMPLE))),
        ("batch-rust-go-async", &|| later(reader.batch_later(&texts))),
        ("bytes-rust-go-async", &|| later(reader.bytes_later(&bytes))),
    ];
    let mut rows = Vec::new();
    for (id, call) in calls {
        rows.push(Row::new(id, a_call(repeats, call)));
        let two = thread::scope(|scope| {
            let other = scope.spawn(|| a_call(repeats, call));
            a_call(repeats, call).max(other.join().expect(ANSWERED))
        });
        rows.push(Row::new(format!("{id}-two"), two));
    }
    let (_, empty) = calls[0];
    rows.push(Row::new("empty-rust-go-async-single", least(repeats, &mut || drive(empty, 1, 1))));
    rows
}

type BoxedCall = Pin<Box<dyn Future<Output = ()>>>;

fn later<T>(call: impl Future<Output = Result<T, eddy_bridge::BridgeError>> + 'static) -> BoxedCall {
    Box::pin(async {
        call.await.expect(ANSWERED);
    })
}

/// Returns the time in ns that one call costs a thread with many calls in flight.
fn a_call(repeats: u32, call: &dyn Fn() -> BoxedCall) -> f64 {
    least(repeats, &mut || drive(call, BATCH, UNDER_WAY)) / BATCH as f64
}

/// Makes `count` calls with at most `under_way` in flight, and awaits them in order.
fn drive(call: &dyn Fn() -> BoxedCall, count: usize, under_way: usize) {
    let waker = Waker::from(Arc::new(ThreadUnparker(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut calls = VecDeque::with_capacity(under_way);
    let mut begun = 0;
    while begun < count || !calls.is_empty() {
        while calls.len() < under_way && begun < count {
            calls.push_back(call());
            begun += 1;
        }
        let Some(mut oldest) = calls.pop_front() else { return };
        while oldest.as_mut().poll(&mut context).is_pending() {
            thread::park();
        }
    }
}

struct ThreadUnparker(Thread);

impl Wake for ThreadUnparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Calls per measurement.
const BATCH: usize = 2048;
/// Maximum number of calls in flight.
const UNDER_WAY: usize = 256;
