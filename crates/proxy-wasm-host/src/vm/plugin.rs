//! Plugin configuration and start.

use std::sync::Arc;

use thiserror::Error;

use crate::fault::ModuleFault;
use crate::host::Host;
use crate::ids::ContextId;

use super::machine::Vm;

/// Configuration of a plugin; cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plugin {
    /// VM configuration, passed to `on_vm_start`.
    pub vm_configuration: Arc<[u8]>,
    /// Plugin configuration, passed to `on_configure`.
    pub configuration: Arc<[u8]>,
}

/// Error of starting a plugin.
#[derive(Debug, Clone, Error)]
pub enum PluginStartError {
    /// The module refused the VM configuration.
    #[error("the module refuses its VM configuration")]
    VmStart,
    /// The module refused the plugin configuration.
    #[error("the module refuses its configuration")]
    Configure,
    /// The module failed.
    #[error(transparent)]
    Fault(#[from] ModuleFault),
}

impl<H: Host> Vm<H> {
    /// Creates a plugin and configures it: `on_context_create`, `on_vm_start` and `on_configure`.
    ///
    /// # Errors
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
