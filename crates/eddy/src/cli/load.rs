//! Configurations and routers for commands on routes.

use std::path::PathBuf;

use anyhow::anyhow;
use eddy_config::{GatewayConfig, ListenerConfig};
use eddy_route::Router;
use eddy_source::FileSource;
use eddy_spec::Leniency;

use super::error::CommandError;
use crate::terminal::print_problems;

/// Loads a valid configuration, or prints its errors.
///
/// # Errors
/// [`CommandError::Reported`].
pub(super) fn load(paths: &[PathBuf], leniency: Leniency) -> Result<GatewayConfig, CommandError> {
    match FileSource::new(paths.to_vec()).with_leniency(leniency).load() {
        Ok(loaded) => Ok(loaded.checked.config),
        Err(rejected) => {
            print_problems(&rejected.problems, &rejected.sources);
            Err(CommandError::Reported)
        }
    }
}

/// Compiles the router of a listener, if it serves routes.
///
/// # Errors
/// When its rules do not compile, although the check found no error in them.
pub(super) fn router_of(config: &GatewayConfig, listener: &ListenerConfig) -> anyhow::Result<Option<Router>> {
    config.router(listener).map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow!("{}", texts.join("\n"))
    })
}
