//! Callbacks for filter state: bytes by key, which the filters of an exchange in dynamic modules share.
//!
//! eddy has no objects of a type of their own behind a key, so typed values are bytes, too.

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, EnvoyPtr, Out};
use crate::dynamic_module::stream;

fn get(filter: EnvoyPtr, key: AbiBuffer, out: Out<AbiBuffer>) -> bool {
    let value = stream::with_state(filter, |state| state.get(key.bytes()).map(<[u8]>::to_vec)).flatten();
    let Some(value) = value else { return false };
    stream::of(filter, |stream| out.set(stream.lend(&value))).is_some()
}

fn set(filter: EnvoyPtr, key: AbiBuffer, value: AbiBuffer) -> bool {
    stream::with_state(filter, |state| state.set(key.bytes(), value.bytes())).unwrap_or(false)
}

callbacks! {
    fn envoy_dynamic_module_callback_http_set_filter_state_bytes(
        filter: EnvoyPtr, key: AbiBuffer, value: AbiBuffer,
    ) -> bool {
        set(filter, key, value)
    }

    fn envoy_dynamic_module_callback_http_get_filter_state_bytes(
        filter: EnvoyPtr, key: AbiBuffer, out: Out<AbiBuffer>,
    ) -> bool {
        get(filter, key, out)
    }

    // No factory for typed values is registered in eddy, which makes every typed value fail to be set.
    fn envoy_dynamic_module_callback_http_set_filter_state_typed(
        _filter: EnvoyPtr, _key: AbiBuffer, _value: AbiBuffer,
    ) -> bool {
        false
    }

    fn envoy_dynamic_module_callback_http_get_filter_state_typed(
        filter: EnvoyPtr, key: AbiBuffer, out: Out<AbiBuffer>,
    ) -> bool {
        get(filter, key, out)
    }

    fn envoy_dynamic_module_callback_http_has_filter_state(filter: EnvoyPtr, key: AbiBuffer) -> bool {
        stream::with_state(filter, |state| state.get(key.bytes()).is_some()).unwrap_or(false)
    }
}
