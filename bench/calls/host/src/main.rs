//! Loads a Go library as a gateway does, calls it in several ways, and prints the time of each as one line of JSON.
//!
//! `eddy-bench-calls-host LIBRARY [REPEATS]`

mod gaps;
mod layout;
mod library;
mod measure;
mod request;

use std::io::Write;
use std::thread;

use layout::Hook;
use library::Library;
use measure::{Row, least};
use request::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().ok_or("usage: eddy-bench-calls-host LIBRARY [REPEATS]")?;
    let repeats = match arguments.next() {
        Some(text) => text.to_string_lossy().parse()?,
        None => 10,
    };
    let library = Library::open(&path)?;
    eprintln!("{}", library.status());
    let mut output = std::io::stdout().lock();
    for row in rows(&library, repeats) {
        writeln!(output, "{}", row.to_json())?;
    }
    for row in gaps::rows(&library, repeats) {
        writeln!(output, "{}", row.to_json())?;
    }
    Ok(())
}

/// Returns the rows of all calls that are measured in a loop.
fn rows(library: &Library, repeats: u32) -> Vec<Row> {
    let mut rows = vec![first_of_a_thread(library, repeats)];
    rows.push(measured(library, repeats, "c-go-empty", || library.empty()));
    let mut message = Message::new();
    rows.push(measured(library, repeats, "c-go-arguments", || library.arguments(message.request())));
    rows.push(measured(library, repeats, "c-go-barrier", || {
        assert_eq!(library.barrier(message.request()), 20, "the guest sees the fields");
    }));
    rows.push(measured(library, repeats, "c-go-panic", || {
        assert_eq!(library.panic(message.request()), -1, "the guest panics and recovers");
    }));
    rows.push(two_threads(library, repeats));
    rows.push(inside(repeats, "go-host-cgo", |count| library.inside_cgo(count)));
    rows.push(inside(repeats, "go-host-fast", |count| library.inside_fast(count)));
    for (id, hook, expected) in library.hooks() {
        rows.push(hooked(library, repeats, id, hook, expected));
    }
    rows
}

/// Measures a row, with the allocations of the guest.
fn measured(library: &Library, repeats: u32, id: &'static str, mut work: impl FnMut()) -> Row {
    let ns = least(repeats, &mut work);
    let before = library.allocated();
    for _ in 0..ALLOCATION_CALLS {
        work();
    }
    let after = library.allocated();
    Row::new(id, ns).with_allocations(before, after, ALLOCATION_CALLS)
}

/// Measures a whole hook: an empty edit list, the crossing, and applying the edits.
fn hooked(library: &Library, repeats: u32, id: &'static str, hook: Hook, expected: Expected) -> Row {
    let mut message = Message::new();
    let answer = message.enter(hook);
    match expected {
        Expected::Allowed => assert_eq!(answer, 1, "{id} lets the credential pass"),
        Expected::TwoSet => {
            assert_eq!((answer, message.applied()), (message.visited(), 2), "{id} sees all and sets two")
        }
    }
    measured(library, repeats, id, || {
        message.enter(hook);
    })
}

/// Required result of a hook: a hook that does not do its work must not be timed.
#[derive(Clone, Copy)]
enum Expected {
    Allowed,
    TwoSet,
}

/// Measures the first call into Go on each of several threads, which registers the thread with the Go runtime.
fn first_of_a_thread(library: &Library, repeats: u32) -> Row {
    library.empty();
    let times = (0..repeats.max(5)).map(|_| {
        thread::scope(|scope| {
            let first = scope.spawn(|| measure::once(|| library.empty()));
            first.join().expect("a call doesn't panic")
        })
    });
    Row::new("c-go-first", times.fold(f64::INFINITY, f64::min))
}

/// Measures two threads that call at the same time; the row is the time of the slower one.
fn two_threads(library: &Library, repeats: u32) -> Row {
    let ns = thread::scope(|scope| {
        let other = scope.spawn(|| least(repeats * 3, &mut || library.empty()));
        let own = least(repeats * 3, &mut || library.empty());
        own.max(other.join().expect("a call doesn't panic"))
    });
    Row::new("c-go-two-threads", ns)
}

/// Returns the time of a call from Go to the host, made inside a call from the host to Go.
fn inside(repeats: u32, id: &'static str, many: impl Fn(usize)) -> Row {
    Row::new(id, least(repeats, &mut || many(INSIDE_CALLS)) / INSIDE_CALLS as f64)
}

impl Library {
    /// Returns the hooks with the ids of their rows.
    fn hooks(&self) -> Vec<(&'static str, Hook, Expected)> {
        vec![
            ("auth-flat", self.hook("hook_auth_flat"), Expected::Allowed),
            ("auth-decoded", self.hook("hook_auth_decoded"), Expected::Allowed),
            ("auth-fast", self.hook("hook_auth_fast"), Expected::Allowed),
            ("auth-cgo", self.hook("hook_auth_cgo"), Expected::Allowed),
            ("headers-flat", self.hook("hook_headers_flat"), Expected::TwoSet),
            ("headers-copied", self.hook("hook_headers_copied"), Expected::TwoSet),
            ("headers-fast", self.hook("hook_headers_fast"), Expected::TwoSet),
            ("headers-cgo", self.hook("hook_headers_cgo"), Expected::TwoSet),
            ("headers-map", self.hook("hook_headers_map"), Expected::TwoSet),
        ]
    }
}

/// Number of calls over which allocations are counted.
const ALLOCATION_CALLS: u32 = 20_000;

/// Calls made inside one crossing, so that the crossing itself is a ten-thousandth of the time.
const INSIDE_CALLS: usize = 10_000;
