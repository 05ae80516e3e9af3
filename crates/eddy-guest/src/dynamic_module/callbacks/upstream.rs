//! Callbacks for the rule, cluster and endpoint of an exchange, and its worker.

use eddy_filter::{Direction, FilterEdit};

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, EnvoyPtr, Flag, ModulePtr, Out};
use crate::dynamic_module::stream;

/// Lends a text about the exchange; `false` if there is none.
fn lend(
    filter: EnvoyPtr,
    out: Out<AbiBuffer>,
    text: impl FnOnce(&eddy_filter::ExchangeInfo<'_>) -> Vec<u8>,
) -> bool {
    let lent = stream::of(filter, |stream| {
        let text = text(&stream.view_of(Direction::Request)?.view()?.about());
        if text.is_empty() {
            return None;
        }
        out.set(stream.lend(&text));
        Some(())
    });
    lent.flatten().is_some()
}

callbacks! {
    fn envoy_dynamic_module_callback_get_most_specific_route_config(filter: EnvoyPtr) -> ModulePtr {
        let module = stream::of(filter, |stream| stream.route.as_ref().map(|route| route.module));
        module.flatten().unwrap_or_default()
    }

    fn envoy_dynamic_module_callback_http_filter_get_worker_index(filter: EnvoyPtr) -> u32 {
        stream::of(filter, |stream| stream.worker.into()).unwrap_or(0)
    }

    fn envoy_dynamic_module_callback_http_get_cluster_name(filter: EnvoyPtr, out: Out<AbiBuffer>) -> bool {
        lend(filter, out, |about| about.cluster.to_vec())
    }

    fn envoy_dynamic_module_callback_http_set_upstream_override_host(
        filter: EnvoyPtr, host: AbiBuffer, is_strict: Flag,
    ) -> bool {
        let address = host.bytes();
        let is_address = std::str::from_utf8(address)
            .is_ok_and(|text| text.parse::<std::net::SocketAddr>().is_ok());
        if !is_address {
            return false;
        }
        let is_strict = is_strict.is_set();
        let set = stream::of(filter, |stream| {
            stream.view_of_mut(Direction::Request)?.push(&FilterEdit::Endpoint { address, is_strict }).ok()
        });
        set.flatten().is_some()
    }

    fn envoy_dynamic_module_callback_http_get_upstream_remote_address(filter: EnvoyPtr, out: Out<AbiBuffer>) -> bool {
        lend(filter, out, |about| about.endpoint.to_vec())
    }
}
