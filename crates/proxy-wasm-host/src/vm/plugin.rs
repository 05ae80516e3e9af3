//! A plugin's way from its configuration to its streams.

use std::sync::Arc;

use thiserror::Error;

use crate::fault::ModuleFault;
use crate::host::Host;
use crate::ids::ContextId;

use super::machine::Vm;

/// What a plugin is configured with; cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plugin {
    /// What its machine is told.
    pub vm_configuration: Arc<[u8]>,
    /// What itself is told.
    pub configuration: Arc<[u8]>,
}

/// Why a plugin does not run.
#[derive(Debug, Clone, Error)]
pub enum PluginStartError {
    /// It said no to the machine's configuration.
    #[error("the module refuses the configuration of its machine")]
    VmStart,
    /// It said no to its own.
    #[error("the module refuses its configuration")]
    Configure,
    /// It failed.
    #[error(transparent)]
    Fault(#[from] ModuleFault),
}

impl<H: Host> Vm<H> {
    /// Makes a plugin and configures it: `on_context_create`, `on_vm_start` and `on_configure`.
    ///
    /// # Errors
    ///
    /// The module refuses a configuration, or fails.
    pub fn start_plugin(&mut self, plugin: &Plugin) -> Result<ContextId, PluginStartError> {
        let context = self.create_plugin()?;
        if !self.on_vm_start(context, Arc::clone(&plugin.vm_configuration))? {
            return Err(PluginStartError::VmStart);
        }
        if !self.on_configure(context, Arc::clone(&plugin.configuration))? {
            return Err(PluginStartError::Configure);
        }
        Ok(context)
    }
}
