//! Everything needed to create a VM for a script.

use std::ffi::CString;
use std::sync::Arc;

use eddy_filter::HostApi;

use super::context::Contexts;
use super::mentions::Mentions;
use super::running::LuaInstance;
use super::shared::SharedStores;
use super::stage::LuaHookContext;
use super::vm::{VmFault, VmLimits};

/// Everything needed to create a VM for the script.
pub(super) struct Recipe {
    pub(super) host: Arc<dyn HostApi>,
    pub(super) stores: Arc<SharedStores>,
    pub(super) contexts: Arc<Contexts>,
    pub(super) limits: VmLimits,
    pub(super) chunk: CString,
    pub(super) text: Box<[u8]>,
    pub(super) mentions: Mentions,
}

impl Recipe {
    /// Creates a VM.
    ///
    /// # Errors
    /// The script is invalid.
    pub(super) fn make(&self) -> Result<LuaInstance, VmFault> {
        let stage =
            LuaHookContext::new(Arc::clone(&self.host), Arc::clone(&self.stores), Arc::clone(&self.contexts));
        LuaInstance::new(&self.limits, &self.chunk, &self.text, stage, self.mentions.is_of_bodies())
    }
}
