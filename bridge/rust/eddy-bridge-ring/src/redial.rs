//! A link that is made again after the other process was replaced.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::calls::CallResult;
use crate::fault::CallError;
use crate::handler::CallHandler;
use crate::limits::LinkLimits;
use crate::link::ProcessLink;
use crate::socket::connect_shared;

/// Connects to a path, and again with the next call after a link has ended.
///
/// Calls that were under way when a link ended get its fault and are not made again: nobody knows whether they were served.
pub struct Redial {
    path: PathBuf,
    limits: LinkLimits,
    handler: Arc<dyn CallHandler>,
    state: Mutex<RedialState>,
}

#[derive(Default)]
struct RedialState {
    link: Option<ProcessLink>,
    /// Why there was no link the last time, and when that was.
    failed: Option<(Instant, String)>,
}

impl Redial {
    /// Connects with the first call.
    pub fn new(path: impl Into<PathBuf>, limits: LinkLimits, handler: impl CallHandler) -> Self {
        Self { path: path.into(), limits, handler: Arc::new(handler), state: Mutex::default() }
    }

    /// Calls the other process, as [`Link::call`] does.
    ///
    /// # Errors
    /// Those of [`Link::call`], and `NoLink` when nobody can be reached: then it is tried again no sooner than after 50 ms.
    pub fn call(&self, method: u32, bytes: &[u8], timeout: Duration) -> CallResult {
        let begun = Instant::now();
        let link = self.link(timeout)?;
        link.call(method, bytes, timeout.saturating_sub(begun.elapsed()))
    }

    /// The link that there is, or a new one. It takes no longer than the timeout or [`Limits::handshake`], and others
    /// wait for it.
    ///
    /// # Errors
    /// `NoLink`, as [`Redial::call`] says.
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

/// An error with what caused it.
fn error_text(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

const RETRY_PAUSE: Duration = Duration::from_millis(50);
