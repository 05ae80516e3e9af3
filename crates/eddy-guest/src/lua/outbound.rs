//! Sending of outbound requests of a script.

use eddy_filter::{CallBond, FilterOutboundRequest, HostError};
use eddy_ids::Millis;

use super::order::UNKNOWN;
use super::stage::LuaHookContext;

/// Sends the request of a hook context; if the hook waits for it, it is bound to the exchange.
///
/// # Errors
/// The reason why it cannot be sent.
pub(super) fn send(
    stage: &mut LuaHookContext,
    body: &[u8],
    timeout_ms: f64,
    bond: CallBond,
) -> Result<(), String> {
    if timeout_ms.is_nan() || timeout_ms < 0.0 {
        return Err("http call timeout must be >= 0".to_owned());
    }
    let order = &mut stage.order;
    if order.method.is_empty() || order.target.is_empty() || order.authority.is_empty() {
        return Err("http call headers must include ':path', ':method', and ':authority'".to_owned());
    }
    order.last_token += 1;
    let token = order.last_token;
    order.awaited = if bond == CallBond::Awaited { token } else { 0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the limits of a u32")]
    let timeout_ms = if timeout_ms == 0.0 {
        TIMEOUT_MS_MAX
    } else {
        timeout_ms.min(f64::from(TIMEOUT_MS_MAX)).max(1.0) as u32
    };
    let request = FilterOutboundRequest {
        filter: stage.hook.id,
        token,
        exchange: Some(stage.hook.exchange),
        bond,
        cluster: &order.cluster,
        method: &order.method,
        target: &order.target,
        authority: &order.authority,
        fields: order.fields.iter().map(|(name, value)| (&name[..], &value[..])).collect(),
        body,
        timeout: Millis::new(timeout_ms.into()),
    };
    stage.host.send(&request).map_err(|error| match error {
        HostError::Unknown => UNKNOWN.to_owned(),
        HostError::Full => REFUSED.to_owned(),
        HostError::Gone | HostError::Stale | HostError::TooLarge | HostError::Invalid => {
            format!("http call cannot be sent: {error}")
        }
    })
}

/// The log says which limit was reached.
const REFUSED: &str =
    "http call refused: `calls_per_exchange` or `background_calls` of the filter is reached";

/// If the script sets no timeout, the pause timeout of the exchange is the limit.
const TIMEOUT_MS_MAX: u32 = 3_600_000;
