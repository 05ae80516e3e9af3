//! New connections to endpoints.

use std::io;

use eddy_io::Stream;
use eddy_upstream::ResolvedAddress;
use rustix::io::Errno;

use crate::worker::state::Worker;

impl Worker {
    /// Connects; where descriptors have run out, once more after an idle connection has given its own up.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) async fn connect(&self, address: &ResolvedAddress) -> io::Result<Stream> {
        match connect_to(address).await {
            Err(error) if is_out_of_descriptors(&error) => {
                self.free_descriptors(1);
                // The session that is told to end needs a turn for it.
                tokio::task::yield_now().await;
                connect_to(address).await
            }
            connected => connected,
        }
    }
}

async fn connect_to(address: &ResolvedAddress) -> io::Result<Stream> {
    match address {
        ResolvedAddress::Tcp(address) => Stream::connect_tcp(*address).await,
        ResolvedAddress::Unix(path) => Stream::connect_unix(path).await,
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
