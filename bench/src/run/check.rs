//! Check before a measurement that every target responds alike.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::load::{Generator, ScenarioRequest};
use crate::peers::TargetInstance;

/// Sends requests through `instance` for a moment and checks every response in the same way as under load.
///
/// # Errors
/// Returns an error if a response differs from the origin's (status, length or body); the message names `scenario`.
pub(super) fn check(instance: &TargetInstance, request: &ScenarioRequest, scenario: &str) -> Result<()> {
    check_scenario_response(instance.address, request)
        .with_context(|| format!("{scenario}, {}", instance.target.name))
}

/// Checks one listener in the same way.
pub(super) fn check_scenario_response(address: SocketAddr, request: &ScenarioRequest) -> Result<()> {
    let exchange = request.exchange(address);
    // The first response on a connection is compared in full whatever its size.
    let mut generator = Generator::new(address, &exchange, CONNECTIONS)?;
    let tally = generator.run_closed(MOMENT)?;
    if tally.error_count() > 0 {
        bail!("wrong response: {}", tally.error_text());
    }
    if tally.requests == 0 {
        bail!("no response");
    }
    Ok(())
}

const MOMENT: Duration = Duration::from_millis(20);
const CONNECTIONS: usize = 4;
