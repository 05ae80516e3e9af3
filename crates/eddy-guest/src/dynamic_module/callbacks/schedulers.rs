//! Callbacks for schedulers, which a module's own threads may use.

use super::table::callbacks;
use crate::dynamic_module::abi::EnvoyPtr;
use crate::dynamic_module::scheduler;

callbacks! {
    fn envoy_dynamic_module_callback_http_filter_scheduler_new(filter: EnvoyPtr) -> EnvoyPtr {
        scheduler::of_stream(filter)
    }

    fn envoy_dynamic_module_callback_http_filter_scheduler_commit(scheduler: EnvoyPtr, event: u64) {
        scheduler::commit(scheduler, event);
    }

    fn envoy_dynamic_module_callback_http_filter_scheduler_delete(scheduler: EnvoyPtr) {
        scheduler::delete(scheduler);
    }

    fn envoy_dynamic_module_callback_http_filter_config_scheduler_new(config: EnvoyPtr) -> EnvoyPtr {
        scheduler::of_config(config)
    }

    fn envoy_dynamic_module_callback_http_filter_config_scheduler_commit(scheduler: EnvoyPtr, event: u64) {
        scheduler::commit(scheduler, event);
    }

    fn envoy_dynamic_module_callback_http_filter_config_scheduler_delete(scheduler: EnvoyPtr) {
        scheduler::delete(scheduler);
    }
}
