//! The thread that orders certificates while any are configured.

use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eddy_tls::Challenges;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::error::StoreError;
use crate::issuer::Issuer;
use crate::renewal::RenewalTask;
use crate::settings::AcmeSettings;
use crate::status::Status;
use crate::store::{AcmeStore, StoreLock};

/// Orders certificates on a background thread, which starts with the first settings.
#[derive(Debug, Default)]
pub struct Agent {
    challenges: Arc<Challenges>,
    status: Arc<Status>,
    /// Sends the current settings to the thread; dropping the sender ends the thread.
    line: Mutex<Option<watch::Sender<DesiredSettings>>>,
}

/// Current settings; `None` when no certificates are to be ordered.
type DesiredSettings = Option<Arc<AcmeSettings>>;

impl Agent {
    /// Returns the pending challenge responses, which listeners present to the authority.
    pub fn challenges(&self) -> &Arc<Challenges> {
        &self.challenges
    }

    /// Returns the state of all orders.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Applies new settings. Unchanged settings have no effect; changed settings cancel orders in progress. With
    /// `None`, nothing is ordered and the store lock is released, so that another process may order.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn follow(&self, settings: Option<AcmeSettings>) -> io::Result<()> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = &*line {
            line.send_if_modified(|wish| {
                let is_same = match (&*wish, &settings) {
                    (None, None) => true,
                    (Some(one), Some(other)) => one.is_same(other),
                    (None, Some(_)) | (Some(_), None) => false,
                };
                if !is_same {
                    *wish = settings.map(Arc::new);
                }
                !is_same
            });
        } else if settings.is_some() {
            *line = Some(start(settings.map(Arc::new), &self.challenges, &self.status)?);
        }
        Ok(())
    }
}

fn start(
    wish: DesiredSettings,
    challenges: &Arc<Challenges>,
    status: &Arc<Status>,
) -> io::Result<watch::Sender<DesiredSettings>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (line, wishes) = watch::channel(wish);
    let (challenges, status) = (Arc::clone(challenges), Arc::clone(status));
    std::thread::Builder::new()
        .name("eddy-acme".to_owned())
        .spawn(move || runtime.block_on(serve(wishes, challenges, status)))?;
    Ok(line)
}

async fn serve(
    mut wishes: watch::Receiver<DesiredSettings>,
    challenges: Arc<Challenges>,
    status: Arc<Status>,
) {
    loop {
        let wish = wishes.borrow_and_update().clone();
        status.handle_settings(wish.as_deref());
        let keeping = async {
            match wish {
                Some(settings) => keep(settings, &challenges, &status).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = keeping => {}
            changed = wishes.changed() => if changed.is_err() { return },
        }
    }
}

/// Keeps all certificates current; never returns. Its tasks end when the future is dropped.
async fn keep(settings: Arc<AcmeSettings>, challenges: &Arc<Challenges>, status: &Arc<Status>) {
    let (store, _lock) = hold(&settings, status).await;
    let issuer =
        Arc::new(Issuer::new(Arc::clone(&settings), Arc::clone(status), store, Arc::clone(challenges)));
    let mut keepers = JoinSet::new();
    for wanted in &settings.certificates {
        keepers.spawn(RenewalTask::new(Arc::clone(&issuer), wanted.clone()).run());
    }
    while let Some(ended) = keepers.join_next().await {
        if let Err(error) = ended {
            tracing::error!("a certificate is no longer renewed: {error}");
        }
    }
    pending().await
}

/// Waits for the store lock, which only one process at a time may hold.
async fn hold(settings: &AcmeSettings, status: &Status) -> (AcmeStore, StoreLock) {
    let mut is_in_response = false;
    loop {
        let held = AcmeStore::open(&settings.folder)
            .and_then(|store| Ok(store.try_lock()?.map(|lock| (store, lock))));
        let interval = match held {
            Ok(Some(held)) => return held,
            Ok(None) => {
                if !std::mem::replace(&mut is_in_response, true) {
                    let folder = settings.folder.display();
                    tracing::info!(
                        "another process orders the certificates in `{folder}`; this process takes over when it ends"
                    );
                }
                LOCK_INTERVAL
            }
            Err(error) => {
                tell(&error, settings, status);
                BROKEN_INTERVAL
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the store is looked at again after an interval")]
        sleep(interval).await;
    }
}

fn tell(error: &StoreError, settings: &AcmeSettings, status: &Status) {
    tracing::error!("certificates cannot be ordered: {error}");
    for wanted in &settings.certificates {
        status.handle_failed(wanted.name(), &error.to_string(), None);
    }
}

/// Interval between attempts to lock the store.
const LOCK_INTERVAL: Duration = Duration::from_millis(500);
/// Interval between attempts to open an unusable store folder.
const BROKEN_INTERVAL: Duration = Duration::from_secs(60);
