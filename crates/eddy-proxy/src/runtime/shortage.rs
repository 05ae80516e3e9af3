//! Shortage of descriptors or kernel memory.

use std::io;

use rustix::io::Errno;

/// Whether an error of a new socket will recur at once unless a resource is freed.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
