//! The second process of the tests and benchmarks.
//!
//! ```text
//! eddy-bridge-ring-peer listen PATH        answers at a path, one link after the other
//! eddy-bridge-ring-peer call PATH COUNT    makes COUNT calls to the process that listens at PATH, of many lengths
//! eddy-bridge-ring-peer wait PATH          makes a call that is never answered
//! eddy-bridge-ring-peer idle PATH          makes a call when the link has ended
//! eddy-bridge-ring-peer flood PATH         makes long calls once its input has ended
//! ```
//!
//! The last three print "linked" first, and at the end why a call failed.
//!
//! Method 1 returns its argument, method 2 never answers, method 3 fails, method 4 calls method 1 back, method 6
//! returns the length of its argument, and method 7 does so on another thread.

use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use eddy_bridge_ring::{
    CallError, CallFailure, CallHandler, Incoming, LinkError, LinkLimits, LinkListener, NoCalls, ProcessLink,
    Workers, connect,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["listen", path] => listen(path),
        ["call", path, count] => call(path, count.parse().unwrap_or(1)),
        ["wait", path] => until_end(path, |link| link.call(2, b"", LONG)),
        ["idle", path] => until_end(path, |link| {
            while link.fault().is_none() {
                thread::park_timeout(Duration::from_millis(1));
            }
            link.call(1, b"", LONG)
        }),
        ["flood", path] => until_end(path, |link| {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            link.call(1, &vec![0; 4 << 20], LONG)
        }),
        _ => Err("usage: eddy-bridge-ring-peer listen PATH | call PATH COUNT | wait, idle or flood PATH"
            .to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            let _ = writeln!(std::io::stderr(), "eddy-bridge-ring-peer: {text}");
            ExitCode::FAILURE
        }
    }
}

fn listen(path: &str) -> Result<(), String> {
    let listener = LinkListener::bind(path, LinkLimits::default()).map_err(|error| error.to_string())?;
    let _ = writeln!(std::io::stdout(), "listening");
    let workers = Workers::start(2, 1024, |call| Ok(length(call))).map_err(|error| error.to_string())?;
    let workers = Arc::new(workers);
    loop {
        let workers = Arc::clone(&workers);
        let own: Arc<OnceLock<ProcessLink>> = Arc::default();
        let known = Arc::clone(&own);
        match listener.accept(move |call| answer(call, &known, &workers)) {
            // The link ends with its process, which the test ends.
            Ok(link) => drop(own.set(link)),
            Err(error @ LinkError::Path { .. }) => return Err(error.to_string()),
            Err(_) => {}
        }
    }
}

fn answer(call: Incoming, link: &Arc<OnceLock<ProcessLink>>, workers: &Workers) {
    match call.method() {
        1 => {
            let bytes = call.bytes().to_vec();
            call.answer(bytes);
        }
        2 => drop(thread::spawn(move || {
            while !call.cancellation().is_cancelled() {
                thread::park_timeout(Duration::from_millis(1));
            }
        })),
        3 => call.fail(CallFailure::new(CallFailure::FIRST_OWN, "as it was asked to")),
        4 => {
            let link = Arc::clone(link);
            drop(thread::spawn(move || call.answer_with(|call| call_back(&link, call.bytes()))));
        }
        6 => {
            let length = length(&call);
            call.answer(length);
        }
        7 => workers.handle(call),
        other => {
            call.fail(CallFailure::new(CallFailure::UNKNOWN_METHOD, format!("there is no method {other}")))
        }
    }
}

fn length(call: &Incoming) -> Vec<u8> {
    (call.bytes().len() as u64).to_ne_bytes().to_vec()
}

fn call_back(link: &OnceLock<ProcessLink>, bytes: &[u8]) -> Result<Vec<u8>, CallFailure> {
    let failed = |text: String| CallFailure::new(CallFailure::FAILED, text);
    let link = link.get().ok_or_else(|| failed("the link is not there yet".to_owned()))?;
    link.call(1, bytes, LONG).map_err(|error| failed(error.to_string()))
}

fn call(path: &str, count: u64) -> Result<(), String> {
    let link = connect(path, LinkLimits::default(), NoCalls).map_err(|error| error.to_string())?;
    for number in 0..count {
        let length = usize::try_from(number * number % 3001).unwrap_or_default();
        let bytes = vec![number.to_le_bytes()[0]; length];
        let answer = link.call(1, &bytes, LONG).map_err(|error| error.to_string())?;
        if answer != bytes {
            return Err(format!("call {number} of {length} bytes came back otherwise"));
        }
    }
    match link.call(3, b"", LONG) {
        Err(CallError::Failed(failure)) if failure.code == CallFailure::FIRST_OWN => Ok(()),
        other => Err(format!("method 3 did not fail as it should: {other:?}")),
    }
}

/// Calls until a call fails.
fn until_end(path: &str, call: impl Fn(&ProcessLink) -> Result<Vec<u8>, CallError>) -> Result<(), String> {
    let link = connect(path, LinkLimits::default(), NoCalls).map_err(|error| error.to_string())?;
    let _ = writeln!(std::io::stdout(), "linked");
    loop {
        call(&link).map_err(|error| error.to_string())?;
    }
}

const LONG: Duration = Duration::from_secs(60);
