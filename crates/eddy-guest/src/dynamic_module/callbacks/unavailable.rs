//! Callbacks for what eddy does not have: they get the answer that the ABI has for "not available".
//!
//! The loader names them when a module needs one. Two have no such answer: a call fails the exchange.

use super::table::callbacks;
use crate::dynamic_module::abi::EnvoyPtr;
use crate::dynamic_module::stream;

/// Fails the exchange of a stream, because a module relies on something that eddy cannot do.
#[cold]
fn fail(filter: EnvoyPtr, name: &str) -> bool {
    stream::of(filter, |stream| stream.fail(&format!("it called {name}, which eddy does not support")));
    false
}

macro_rules! unavailable {
    ($($name:ident)*) => {
        callbacks! {
            fn envoy_dynamic_module_callback_http_set_dynamic_metadata_struct(filter: EnvoyPtr) -> bool {
                fail(filter, "envoy_dynamic_module_callback_http_set_dynamic_metadata_struct")
            }

            fn envoy_dynamic_module_callback_http_set_dynamic_typed_metadata(filter: EnvoyPtr) -> bool {
                fail(filter, "envoy_dynamic_module_callback_http_set_dynamic_typed_metadata")
            }

            $(
                // False, zero or null, whatever the result type is.
                fn $name() -> u64 {
                    0
                }
            )*
        }
    };
}

unavailable! {
    envoy_dynamic_module_callback_http_child_span_finish
    envoy_dynamic_module_callback_http_filter_config_generic_secret_subscribe
    envoy_dynamic_module_callback_http_filter_config_get_generic_secret
    envoy_dynamic_module_callback_http_filter_get_generic_secret
    envoy_dynamic_module_callback_http_filter_recreate_stream
    envoy_dynamic_module_callback_http_get_active_span
    envoy_dynamic_module_callback_http_get_cluster_host_count
    envoy_dynamic_module_callback_http_get_downstream_direct_remote_address
    envoy_dynamic_module_callback_http_get_filter_state_object
    envoy_dynamic_module_callback_http_get_socket_option_bytes
    envoy_dynamic_module_callback_http_get_socket_option_int
    envoy_dynamic_module_callback_http_get_timing_info
    envoy_dynamic_module_callback_http_get_typed_metadata
    envoy_dynamic_module_callback_http_get_upstream_connection_id
    envoy_dynamic_module_callback_http_get_upstream_connection_ids_attempted
    envoy_dynamic_module_callback_http_get_upstream_connection_ids_attempted_size
    envoy_dynamic_module_callback_http_get_upstream_hosts_attempted
    envoy_dynamic_module_callback_http_get_upstream_hosts_attempted_size
    envoy_dynamic_module_callback_http_set_filter_state_object
    envoy_dynamic_module_callback_http_set_filter_state_value
    envoy_dynamic_module_callback_http_set_socket_option_bytes
    envoy_dynamic_module_callback_http_set_socket_option_int
    envoy_dynamic_module_callback_http_span_disable_local_decision
    envoy_dynamic_module_callback_http_span_get_baggage
    envoy_dynamic_module_callback_http_span_get_span_id
    envoy_dynamic_module_callback_http_span_get_trace_id
    envoy_dynamic_module_callback_http_span_log
    envoy_dynamic_module_callback_http_span_set_baggage
    envoy_dynamic_module_callback_http_span_set_operation
    envoy_dynamic_module_callback_http_span_set_sampled
    envoy_dynamic_module_callback_http_span_set_tag
    envoy_dynamic_module_callback_http_span_set_tag_batch
    envoy_dynamic_module_callback_http_span_spawn_child
}
