//! Detects changes of files: writes, replacement by a rename, and changed symbolic links.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use crate::file::{CompanionsSnapshot, FileSource};
use crate::stamp::Stamp;

/// Watches the files of a source by polling them twice a second.
///
/// Polling is slower than notification by the kernel, but detects every kind of change on every file system: a swapped
/// symbolic link (as in Kubernetes), a replaced directory, a network file system.
#[derive(Debug)]
pub struct Watcher {
    source: FileSource,
    seen: FilesSnapshot,
}

/// State of all watched files.
#[derive(Debug, PartialEq, Eq)]
struct FilesSnapshot {
    /// Files with their stamps; `None` for a missing file.
    files: Vec<(PathBuf, Option<Stamp>)>,
    companions: CompanionsSnapshot,
}

impl FileSource {
    /// Starts watching the files.
    ///
    /// A watcher created before [`FileSource::load`] misses no change between the two.
    pub fn watch(&self) -> Watcher {
        Watcher { source: self.clone(), seen: look(self) }
    }
}

impl Watcher {
    /// Waits until a file has changed, appeared or vanished, or the list of companion files has changed, and no further
    /// change follows for a tenth of a second.
    ///
    /// Nothing is lost when the future is dropped: the next call sees the change.
    ///
    /// # Cost
    /// Twice a second, one `stat` per file and one listing per directory.
    pub async fn changed(&mut self) {
        loop {
            #[expect(
                clippy::disallowed_methods,
                reason = "files are polled, because not every file system reports changes"
            )]
            sleep(POLL_INTERVAL).await;
            let now = look(&self.source);
            if now != self.seen {
                self.seen = self.settled(now).await;
                return;
            }
        }
    }

    /// Returns the state once nothing changes any more, or when waiting for that took too long.
    async fn settled(&self, mut last: FilesSnapshot) -> FilesSnapshot {
        for _ in 0..SETTLE_POLLS_MAX {
            #[expect(
                clippy::disallowed_methods,
                reason = "a change is complete when none follows for this time"
            )]
            sleep(SETTLE_TIME).await;
            let now = look(&self.source);
            if now == last {
                break;
            }
            last = now;
        }
        last
    }
}

fn look(source: &FileSource) -> FilesSnapshot {
    // Errors of a directory are reported by the load that follows a change.
    let files = source.files(&mut Vec::new());
    FilesSnapshot {
        files: files.into_iter().map(|path| (path.clone(), Stamp::of_path(&path))).collect(),
        companions: source.snapshot_companions(),
    }
}

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time without further changes after which a change counts as finished.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// Maximum checks whether a change has finished.
const SETTLE_POLLS_MAX: usize = 20;
