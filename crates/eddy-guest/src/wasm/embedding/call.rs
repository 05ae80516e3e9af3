//! HTTP calls of modules to eddy's clusters.

use std::sync::Arc;

use eddy_filter::{CallBond, FilterOutboundRequest, Handle, HostError};
use eddy_ids::Millis;
use proxy_wasm_host::abi::{HostResult, Status};
use proxy_wasm_host::{CallId, CallerScope, ContextId, HttpCall};

use super::{CallAnswer, Embedding, Plugin};

/// Decoded token of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallToken {
    /// Worker of the VM that made the call.
    pub(crate) worker: u16,
    /// Generation of that VM.
    pub(crate) generation: u32,
    pub(crate) call: u32,
}

impl CallToken {
    pub(crate) fn of_number(number: u64) -> Self {
        let part = |shift: u32, mask: u64| u32::try_from(number >> shift & mask).unwrap_or(0);
        Self {
            worker: u16::try_from(part(56, 0xff)).unwrap_or(0),
            generation: part(24, 0xffff_ffff),
            call: part(0, CALLS_MASK),
        }
    }

    pub(crate) fn number(self) -> u64 {
        u64::from(self.worker) << 56 | u64::from(self.generation) << 24 | u64::from(self.call) & CALLS_MASK
    }
}

impl Embedding {
    /// Sends a request on behalf of a context.
    pub(super) fn send(&mut self, scope: CallerScope, call: &HttpCall<'_>) -> HostResult<CallId> {
        let caller = scope.context.ok_or(Status::BadArgument)?;
        let cluster = std::str::from_utf8(call.upstream).map_err(|_| Status::BadArgument)?;
        let pseudo = |name: &[u8]| call.headers.clone().find(|(key, _)| *key == name).map(|(_, value)| value);
        let (Some(method), Some(target)) = (pseudo(b":method"), pseudo(b":path")) else {
            return Err(Status::BadArgument);
        };
        let authority = pseudo(b":authority").or_else(|| call.headers.get(b"host")).unwrap_or_default();
        let is_sent = |(name, _): &(&[u8], &[u8])| {
            !name.starts_with(b":") && !UNSENT.iter().any(|unsent| name.eq_ignore_ascii_case(unsent))
        };
        let number = self.next_call()?;
        let token = CallToken { worker: self.worker, generation: self.generation, call: number }.number();
        let mut request = FilterOutboundRequest {
            filter: self.id_of(scope.context),
            token,
            exchange: self.exchange_of(caller),
            // The response is delivered to the plugin even if the stream that made the call has ended.
            bond: CallBond::Lasting,
            cluster,
            method,
            target,
            authority,
            fields: call.headers.clone().filter(is_sent).collect(),
            body: call.body,
            timeout: Millis::of(call.timeout).max(Millis::new(1)),
        };
        let mut sent = self.common.host.send(&request);
        if let (Err(HostError::Unknown), Some(service)) = (&sent, service_of(cluster)) {
            request.cluster = service;
            sent = self.common.host.send(&request);
        }
        sent.map_err(|error| match error {
            HostError::Unknown | HostError::Invalid => Status::BadArgument,
            HostError::Gone | HostError::Stale | HostError::TooLarge | HostError::Full => {
                Status::InternalFailure
            }
        })?;
        let plugin = self.plugin_of(scope.context).map(Arc::clone).ok_or(Status::BadArgument)?;
        self.calls.insert(number, (caller, plugin));
        Ok(CallId(number))
    }

    /// Returns a number for another call.
    ///
    /// # Errors
    /// [`Status::InternalFailure`] if too many calls are in progress.
    pub(super) fn next_call(&mut self) -> HostResult<u32> {
        if self.calls.len() + self.grpc.len() >= CALLS_MAX {
            return Err(Status::InternalFailure);
        }
        loop {
            self.calls_made = (self.calls_made + 1) & u32::try_from(CALLS_MASK).unwrap_or(u32::MAX);
            let number = self.calls_made;
            if number != 0 && !self.calls.contains_key(&number) && !self.grpc.contains_key(&number) {
                return Ok(number);
            }
        }
    }

    /// Returns the exchange of a stream whose callback is in progress, or that is paused.
    pub(super) fn exchange_of(&self, context: ContextId) -> Option<Handle> {
        if self.stream == Some(context) {
            return self.exchange;
        }
        self.waiting.iter().find(|waiting| waiting.stream == context).map(|waiting| waiting.exchange)
    }

    /// Stores the response to a call and returns the plugin of the caller.
    pub(crate) fn take_answer(&mut self, call: u32, answer: CallAnswer) -> Option<Arc<Plugin>> {
        let (_, plugin) = self.calls.remove(&call)?;
        self.answer = Some(answer);
        Some(plugin)
    }

    /// Drops the response after it was delivered.
    pub(crate) fn drop_response(&mut self) {
        self.answer = None;
    }
}

/// Returns the service in a cluster name of Istio and Higress, such as `outbound|443||api.dns`.
pub(super) fn service_of(cluster: &str) -> Option<&str> {
    let mut parts = cluster.strip_prefix("outbound|")?.splitn(3, '|');
    let (port, service) = (parts.next()?, parts.nth(1)?);
    (port.parse::<u16>().is_ok() && !service.is_empty()).then_some(service)
}

/// Headers that eddy writes itself.
const UNSENT: [&[u8]; 6] =
    [b"host", b"content-length", b"transfer-encoding", b"connection", b"te", b"keep-alive"];
/// Maximum number of concurrent calls of a VM.
const CALLS_MAX: usize = 1024;
const CALLS_MASK: u64 = 0xff_ffff;

#[cfg(test)]
mod tests {
    use super::{CallToken, service_of};

    #[test]
    fn a_service_is_found_in_a_cluster_name() {
        assert_eq!(service_of("outbound|443||api.dns"), Some("api.dns"));
        assert_eq!(service_of("outbound|80|v1|a.b.svc.cluster.local"), Some("a.b.svc.cluster.local"));
        for name in
            ["api.dns", "outbound|443|", "outbound|443||", "outbound|x||a", "inbound|443||a", "outbound|"]
        {
            assert_eq!(service_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_call_token_round_trips() {
        let token = CallToken { worker: 255, generation: u32::MAX - 1, call: 0xff_fffe };
        assert_eq!(CallToken::of_number(token.number()), token);
    }
}
