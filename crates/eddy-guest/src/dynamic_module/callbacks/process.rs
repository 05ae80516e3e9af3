//! Callbacks that belong to no stream: log, threads, and pointers shared between modules.

use std::ffi::c_void;

use eddy_filter::FilterLogLevel;

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, Flag, Out};
use crate::dynamic_module::host;
use crate::dynamic_module::shared::{DATA, FUNCTIONS, SharedPointer};

fn level_of(level: u32) -> FilterLogLevel {
    // Level 5 is "critical".
    FilterLogLevel::from_number(level.min(4)).unwrap_or(FilterLogLevel::Error)
}

callbacks! {
    fn envoy_dynamic_module_callback_log(level: u32, message: AbiBuffer) {
        host::log(level_of(level), message.bytes());
    }

    fn envoy_dynamic_module_callback_log_v2(level: u32, message: AbiBuffer, file: AbiBuffer, line: u32) {
        let text = match file.bytes() {
            b"" => message.bytes().to_vec(),
            file => {
                let mut text = file.to_vec();
                text.extend_from_slice(format!(":{line}: ").as_bytes());
                text.extend_from_slice(message.bytes());
                text
            }
        };
        host::log(level_of(level), &text);
    }

    fn envoy_dynamic_module_callback_log_enabled(level: u32) -> bool {
        host::host().is_some_and(|host| level_of(level) >= host.level())
    }

    fn envoy_dynamic_module_callback_get_log_level() -> u32 {
        let level = host::host().map(|host| host.level()).filter(|level| *level != FilterLogLevel::Off);
        level.map_or(LOG_OFF, |level| level as u32)
    }

    fn envoy_dynamic_module_callback_get_concurrency() -> u32 {
        host::host().map_or(1, |host| u32::try_from(host.workers()).unwrap_or(u32::MAX))
    }

    fn envoy_dynamic_module_callback_is_validation_mode() -> bool {
        host::is_trial()
    }

    // eddy has no runtime overrides: every key is absent.
    fn envoy_dynamic_module_callback_get_runtime_bool(_key: AbiBuffer, default: Flag) -> bool {
        default.is_set()
    }

    fn envoy_dynamic_module_callback_get_runtime_int(_key: AbiBuffer, default: u64) -> u64 {
        default
    }

    fn envoy_dynamic_module_callback_get_runtime_number(_key: AbiBuffer, default: f64) -> f64 {
        default
    }

    fn envoy_dynamic_module_callback_register_function(key: AbiBuffer, pointer: *mut c_void) -> bool {
        FUNCTIONS.add(key.bytes(), SharedPointer(pointer))
    }

    fn envoy_dynamic_module_callback_get_function(key: AbiBuffer, out: Out<*mut c_void>) -> bool {
        FUNCTIONS.get(key.bytes()).inspect(|found| out.set(found.0)).is_some()
    }

    fn envoy_dynamic_module_callback_register_shared_data(key: AbiBuffer, pointer: *mut c_void) -> bool {
        DATA.replace(key.bytes(), SharedPointer(pointer))
    }

    fn envoy_dynamic_module_callback_get_shared_data(key: AbiBuffer, out: Out<*mut c_void>) -> bool {
        DATA.get(key.bytes()).inspect(|found| out.set(found.0)).is_some()
    }
}

const LOG_OFF: u32 = 6;
