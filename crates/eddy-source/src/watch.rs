//! Says when files changed: written to, replaced by a rename, or reached over another link.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use crate::file::{CompanionsLook, FileSource};
use crate::stamp::Stamp;

/// Watches the files of a source by looking at them twice a second.
///
/// Looking is slower to notice than being told by the kernel, but it sees every way a file can change, on every file
/// system: a link that is swapped (as Kubernetes does), a directory that is replaced, a network file system.
#[derive(Debug)]
pub struct Watcher {
    source: FileSource,
    seen: Look,
}

/// What all files look like.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    /// Each with its look; no look when it isn't there.
    files: Vec<(PathBuf, Option<Stamp>)>,
    companions: CompanionsLook,
}

impl Watcher {
    pub(crate) fn new(source: FileSource) -> Self {
        let seen = look(&source);
        Self { source, seen }
    }

    /// Waits until a file changed, appeared or vanished, or others accompany the configuration, and no further change came
    /// for a tenth of a second.
    ///
    /// Nothing is lost when the future is dropped: the next call sees the change.
    ///
    /// # Cost
    /// One `stat` a file and one listing a directory twice a second.
    pub async fn changed(&mut self) {
        loop {
            sleep(LOOK_INTERVAL).await;
            let now = look(&self.source);
            if now != self.seen {
                self.seen = self.settled(now).await;
                return;
            }
        }
    }

    /// The look when nothing has changed for a while, or when the wait for that took too long.
    async fn settled(&self, mut last: Look) -> Look {
        for _ in 0..SETTLE_LOOKS_MAX {
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

fn look(source: &FileSource) -> Look {
    // What is wrong with a directory is told by the load that follows a change.
    let files = source.files(&mut Vec::new());
    Look {
        files: files.into_iter().map(|path| (path.clone(), Stamp::of_path(&path))).collect(),
        companions: source.look_at_companions(),
    }
}

/// How often the files are looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// How long nothing may change before a change counts as finished.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// How often a change is waited for to finish.
const SETTLE_LOOKS_MAX: usize = 20;
