//! What a module asks of its system: the time, randomness, and a place to print to. There are no files, no sockets and
//! no environment.

use std::fs::File;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use eddy_filter::Level;
use wasmtime::{Caller, Linker};

use super::inside::Inside;

/// Defines the functions of `wasi_snapshot_preview1` that Go's runtime calls.
///
/// # Errors
/// When the linker takes a name twice, which would be a mistake of ours.
pub(super) fn define(linker: &mut Linker<Inside>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "sched_yield", || OK)?;
    linker.func_wrap(MODULE, "proc_exit", |code: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::msg(format!("the module ended itself with code {code}")))
    })?;
    // No arguments and no environment: none of them, and none of their bytes.
    for name in ["args_sizes_get", "environ_sizes_get"] {
        linker.func_wrap(MODULE, name, |mut inside: Caller<'_, Inside>, count: u32, bytes: u32| {
            both(write(&mut inside, count, &[0; 4]), write(&mut inside, bytes, &[0; 4]))
        })?;
    }
    for name in ["args_get", "environ_get"] {
        linker.func_wrap(MODULE, name, |_: u32, _: u32| OK)?;
    }
    linker.func_wrap(
        MODULE,
        "clock_time_get",
        |mut inside: Caller<'_, Inside>, clock: u32, _: u64, to: u32| {
            let now = now(&inside, clock);
            write(&mut inside, to, &now.to_le_bytes())
        },
    )?;
    linker.func_wrap(MODULE, "random_get", |mut inside: Caller<'_, Inside>, at: u32, len: u32| {
        let (memory, _) = Inside::split(&mut inside);
        let to = memory.get_mut(at as usize..(at as usize).saturating_add(len as usize));
        let filled = to.map(|to| File::open("/dev/urandom").and_then(|mut source| source.read_exact(to)));
        if matches!(filled, Some(Ok(()))) { OK } else { FAULT }
    })?;
    linker.func_wrap(MODULE, "fd_write", print)?;
    linker.func_wrap(MODULE, "poll_oneoff", poll)?;
    Ok(())
}

/// The time of a clock, nanoseconds.
fn now(inside: &Caller<'_, Inside>, clock: u32) -> u64 {
    let since = if clock == 0 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    } else {
        inside.data().begun.elapsed()
    };
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Prints to the log, a record a call; Go prints there what ends it.
fn print(mut inside: Caller<'_, Inside>, file: u32, vectors: u32, count: u32, written: u32) -> i32 {
    if !(1..=2).contains(&file) {
        return BAD_FILE;
    }
    let (memory, inside_of) = Inside::split(&mut inside);
    let read =
        |at: usize| Some(u32::from_le_bytes(memory.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize);
    let mut text = Vec::new();
    for index in 0..(count as usize).min(VECTORS_MAX) {
        let at = (vectors as usize).saturating_add(8 * index);
        let piece = read(at)
            .zip(read(at.saturating_add(4)))
            .and_then(|(start, len)| memory.get(start..start.checked_add(len)?));
        let Some(piece) = piece else { return FAULT };
        text.extend_from_slice(piece);
    }
    let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
    inside_of.print(if file == 2 { Level::Error } else { Level::Info }, &text);
    write(&mut inside, written, &len.to_le_bytes())
}

/// Waits for clocks without waiting: a module on a worker never sleeps. It is told that its time has come, looks at
/// the clock, and asks again; the limit of a call's time is the end of that.
fn poll(mut inside: Caller<'_, Inside>, events: u32, out: u32, count: u32, written: u32) -> i32 {
    let count = (count as usize).min(VECTORS_MAX);
    let (memory, _) = Inside::split(&mut inside);
    for index in 0..count {
        let from = (events as usize).saturating_add(48 * index);
        let Some(user) = memory.get(from..from.saturating_add(8)).map(<[u8]>::to_vec) else { return FAULT };
        let at = (out as usize).saturating_add(32 * index);
        let Some(event) = memory.get_mut(at..at.saturating_add(32)) else { return FAULT };
        event.fill(0);
        if let Some(slot) = event.get_mut(..8) {
            slot.copy_from_slice(&user);
        }
    }
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    write(&mut inside, written, &count.to_le_bytes())
}

fn write(inside: &mut Caller<'_, Inside>, at: u32, bytes: &[u8]) -> i32 {
    let (memory, _) = Inside::split(inside);
    let at = at as usize;
    match memory.get_mut(at..at.saturating_add(bytes.len())) {
        Some(to) => {
            to.copy_from_slice(bytes);
            OK
        }
        None => FAULT,
    }
}

/// What the system says to a function that it does not have: there are no files that could be asked about.
pub(super) fn otherwise(name: &str) -> i32 {
    if name.starts_with("fd_") { BAD_FILE } else { NOT_THERE }
}

fn both(one: i32, other: i32) -> i32 {
    if one == OK { other } else { one }
}

/// The name of the system.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";
/// What the system says where it has no such function.
const NOT_THERE: i32 = 52;
const OK: i32 = 0;
const BAD_FILE: i32 = 8;
const FAULT: i32 = 21;
/// Pieces of a text, or clocks, that are looked at in one call.
const VECTORS_MAX: usize = 64;

/// The functions that there are.
pub(super) const HAS: [&str; 10] = [
    "sched_yield",
    "proc_exit",
    "args_sizes_get",
    "environ_sizes_get",
    "args_get",
    "environ_get",
    "clock_time_get",
    "random_get",
    "fd_write",
    "poll_oneoff",
];
