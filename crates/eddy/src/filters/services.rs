//! Services for built-in filters, which do no I/O themselves.

use std::fs;
use std::path::Path;
use std::thread;

use eddy_builtin::Services;
use rustix::rand::{GetRandomFlags, getrandom};

/// Files, threads and random numbers of this process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessServices;

impl Services for ProcessServices {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
        if length > FILE_BYTES_MAX {
            return Err(format!("it has {length} bytes, more than {FILE_BYTES_MAX}"));
        }
        fs::read(path).map_err(|error| error.to_string())
    }

    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>) -> Result<(), String> {
        thread::Builder::new().name(name.to_owned()).spawn(task).map(drop).map_err(|error| error.to_string())
    }
}

/// Returns four unpredictable random numbers.
///
/// # Errors
/// Error of the kernel, as a message for people.
pub(super) fn seed() -> Result<[u64; 4], String> {
    let mut bytes = [0; 32];
    let filled = getrandom(&mut bytes[..], GetRandomFlags::empty()).map_err(|error| error.to_string())?;
    if filled != 32 {
        return Err("the kernel returned too few random bytes".to_owned());
    }
    let mut seed = [0; 4];
    for (number, bytes) in seed.iter_mut().zip(bytes.as_chunks().0) {
        *number = u64::from_ne_bytes(*bytes);
    }
    Ok(seed)
}

/// Maximum size of a file that a built-in filter reads, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
