//! A link that reconnects after the other process was replaced.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::calls::CallResult;
use crate::fault::CallError;
use crate::handler::CallHandler;
use crate::limits::LinkLimits;
use crate::link::ProcessLink;
use crate::socket::connect_shared;

/// Connects to a path, and reconnects on the next call after a link has ended.
///
/// Calls in flight when a link ended fail with its error and are not repeated: it is unknown whether they were
/// executed.
pub struct Redial {
    path: PathBuf,
    limits: LinkLimits,
    handler: Arc<dyn CallHandler>,
    state: Mutex<RedialState>,
}

#[derive(Default)]
struct RedialState {
    link: Option<ProcessLink>,
    /// Time and error of the last failed attempt.
    failed: Option<(Instant, String)>,
}

impl Redial {
    /// Creates a client that connects on the first call.
    pub fn new(path: impl Into<PathBuf>, limits: LinkLimits, handler: impl CallHandler) -> Self {
        Self { path: path.into(), limits, handler: Arc::new(handler), state: Mutex::default() }
    }

    /// Calls the other process, as [`ProcessLink::call`] does.
    ///
    /// # Errors
    /// Those of [`ProcessLink::call`], and `NoLink` if the process can't be reached: the next attempt is made no
    /// sooner than after 50 ms.
    pub fn call(&self, method: u32, bytes: &[u8], timeout: Duration) -> CallResult {
        let begun = Instant::now();
        let link = self.link(timeout)?;
        link.call(method, bytes, timeout.saturating_sub(begun.elapsed()))
    }

    /// Returns the current link, or a new one. It takes at most the timeout or [`LinkLimits::handshake`]; other
    /// threads wait for it meanwhile.
    ///
    /// # Errors
    /// `NoLink`, as described at [`Redial::call`].
    pub fn link(&self, timeout: Duration) -> Result<ProcessLink, CallError> {
        let mut state = self.state.lock().expect("nothing panics while a link is made");
        if let Some(link) = &state.link
            && link.fault().is_none()
        {
            return Ok(link.clone());
        }
        if let Some((since, reason)) = &state.failed
            && since.elapsed() < RETRY_PAUSE
        {
            return Err(CallError::NoLink(reason.clone()));
        }
        let limits = LinkLimits { handshake: self.limits.handshake.min(timeout), ..self.limits };
        match connect_shared(&self.path, limits, Arc::clone(&self.handler)) {
            Ok(link) => {
                *state = RedialState { link: Some(link.clone()), failed: None };
                Ok(link)
            }
            Err(error) => {
                let reason = error_text(&error);
                *state = RedialState { link: None, failed: Some((Instant::now(), reason.clone())) };
                Err(CallError::NoLink(reason))
            }
        }
    }
}

impl std::fmt::Debug for Redial {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redial").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Returns an error with its cause.
fn error_text(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

const RETRY_PAUSE: Duration = Duration::from_millis(50);
