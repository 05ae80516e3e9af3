//! A peer that tests may need, and the check whether it is installed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::notice::{MissingPeer, skip, skip_optional, skip_part, use_recorded};

/// A program, or a feature of one, that some tests need.
///
/// A program without the feature counts as missing.
#[derive(Clone, Copy, Debug)]
pub struct TestDependency {
    /// Name in notices.
    pub name: &'static str,
    /// Command that installs it.
    pub remedy: &'static str,
    pub(crate) probe: fn() -> Result<(), String>,
}

impl TestDependency {
    /// Returns why the peer counts as missing, or `None` when it is present. Each process probes a program once.
    pub fn missing(&self) -> Option<String> {
        static ASKED: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
        let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = || (self.probe)().err().map(|why| format!("{} is missing: {why}", self.name));
        asked.entry(self.name).or_insert_with(ask).clone()
    }

    /// Whether the peer is present with the feature that its name mentions.
    pub fn is_present(&self) -> bool {
        self.missing().is_none()
    }
}

/// Whether all of these peers are present. The first missing one is announced as the reason to skip the test.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, when one is missing.
pub fn all_present(peers: &[TestDependency]) -> Result<bool, MissingPeer> {
    for peer in peers {
        if let Some(missing) = peer.missing() {
            skip(&missing, peer.remedy)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all of these peers are present. For a missing one, the notice says that a part of the test is left out.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, when one is missing.
pub fn present_or_partial(peers: &[TestDependency]) -> Result<bool, MissingPeer> {
    for peer in peers {
        if let Some(missing) = peer.missing() {
            skip_part(&missing, peer.remedy)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether this peer is present. When it is missing, the test is skipped, whether or not peers are required.
pub fn present_or_optional(peer: &TestDependency) -> bool {
    let missing = peer.missing();
    if let Some(missing) = &missing {
        skip_optional(missing, peer.remedy);
    }
    missing.is_none()
}

/// Whether this peer is present. When it is missing, the notice says that recorded answers replace it.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, when it is missing.
pub fn present_or_recorded(peer: &TestDependency) -> Result<bool, MissingPeer> {
    match peer.missing() {
        Some(missing) => use_recorded(&missing, peer.remedy).map(|()| false),
        None => Ok(true),
    }
}
