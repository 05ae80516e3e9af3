//! Outbound requests of a script.

use eddy_filter::{CallBond, FilterOutboundRequest, HostError};

use super::stage::LuaHookContext;

/// Outbound request under construction. The last one is kept until the next is begun.
#[derive(Debug, Default)]
pub(super) struct LuaOutboundRequest {
    cluster: String,
    method: Vec<u8>,
    target: Vec<u8>,
    authority: Vec<u8>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// Last token; tokens are counted, and the upper bits distinguish VMs.
    pub(super) last_token: u64,
    /// Token of the request that the hook waits for.
    pub(super) awaited: u64,
}

impl LuaOutboundRequest {
    /// Begins another request.
    ///
    /// # Errors
    /// The cluster name is invalid.
    pub(super) fn begin(&mut self, cluster: &[u8]) -> Result<(), String> {
        self.cluster = str::from_utf8(cluster).map_err(|_| UNKNOWN.to_owned())?.to_owned();
        self.method.clear();
        self.target.clear();
        self.authority.clear();
        self.fields.clear();
        Ok(())
    }

    /// Adds a header, or sets the part of the request that a pseudo-header names.
    ///
    /// # Errors
    /// Too many headers, or an unknown pseudo-header.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        let place = match name {
            b":method" => &mut self.method,
            b":path" => &mut self.target,
            b":authority" | b"host" => &mut self.authority,
            b":scheme" | b"content-length" | b"transfer-encoding" => return Ok(()),
            [b':', ..] => return Err(format!("\"{}\" is not allowed here", String::from_utf8_lossy(name))),
            _ if self.fields.len() >= FIELDS_MAX => {
                return Err(format!("an HTTP call has at most {FIELDS_MAX} headers"));
            }
            _ => {
                self.fields.push((name.to_vec(), value.to_vec()));
                return Ok(());
            }
        };
        place.clear();
        place.extend_from_slice(value);
        Ok(())
    }
}

/// Sends the request of a hook context; if the hook waits for it, it is bound to the exchange.
///
/// # Errors
/// The reason why it cannot be sent.
pub(super) fn send(
    stage: &mut LuaHookContext,
    body: &[u8],
    timeout_ms: f64,
    is_awaited: bool,
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
    order.awaited = if is_awaited { token } else { 0 };
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
        bond: if is_awaited { CallBond::Awaited } else { CallBond::Background },
        cluster: &order.cluster,
        method: &order.method,
        target: &order.target,
        authority: &order.authority,
        fields: order.fields.iter().map(|(name, value)| (&name[..], &value[..])).collect(),
        body,
        timeout_ms,
    };
    stage.host.send(&request).map_err(|error| match error {
        HostError::Unknown => UNKNOWN.to_owned(),
        HostError::Full => REFUSED.to_owned(),
        HostError::Gone | HostError::Stale | HostError::TooLarge | HostError::Invalid => {
            format!("http call cannot be sent: {error}")
        }
    })
}

const UNKNOWN: &str = "http call cluster invalid. Must be configured";
/// The log says which limit was reached.
const REFUSED: &str =
    "http call refused: `calls_per_exchange` or `background_calls` of the filter is reached";
const FIELDS_MAX: usize = 128;
/// If the script sets no timeout, the pause timeout of the exchange is the limit.
const TIMEOUT_MS_MAX: u32 = 3_600_000;
