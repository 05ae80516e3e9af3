//! Callbacks for metrics.

use std::sync::Arc;

use eddy_filter::MetricKind;

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, Array, EnvoyPtr, MetricsResult, Out};
use crate::dynamic_module::host::host;
use crate::dynamic_module::instance::Instance;
use crate::dynamic_module::metrics::MetricChange;
use crate::dynamic_module::stream;

fn define(
    config: EnvoyPtr,
    kind: MetricKind,
    name: AbiBuffer,
    labels: &[AbiBuffer],
    out: Out<usize>,
) -> MetricsResult {
    let Some(instance) = Instance::find(config) else { return MetricsResult::NotFound };
    let labels = labels.iter().map(|label| String::from_utf8_lossy(label.bytes()).into_owned()).collect();
    match instance.metrics.define(instance.id, kind, name.bytes(), labels) {
        Ok(number) => {
            out.set(number);
            MetricsResult::Success
        }
        Err(failure) => failure,
    }
}

fn change_by_stream(
    filter: EnvoyPtr,
    number: usize,
    values: &[AbiBuffer],
    change: MetricChange,
) -> MetricsResult {
    let known = stream::of(filter, |stream| (Arc::clone(&stream.instance), stream.worker));
    let Some((instance, worker)) = known else { return MetricsResult::NotFound };
    change_in(&instance, worker.into(), number, values, change)
}

/// Changes a metric on any thread; those besides the workers share a lane.
fn change_by_config(
    config: EnvoyPtr,
    number: usize,
    values: &[AbiBuffer],
    change: MetricChange,
) -> MetricsResult {
    let Some(instance) = Instance::find(config) else { return MetricsResult::NotFound };
    let lane = host().map_or(0, |host| host.workers());
    change_in(&instance, lane, number, values, change)
}

fn change_in(
    instance: &Instance,
    lane: usize,
    number: usize,
    values: &[AbiBuffer],
    change: MetricChange,
) -> MetricsResult {
    let values: Vec<&[u8]> = values.iter().map(AbiBuffer::bytes).collect();
    instance.metrics.change(instance.id, lane, number, &values, change)
}

callbacks! {
    fn envoy_dynamic_module_callback_http_filter_config_define_counter(
        config: EnvoyPtr, name: AbiBuffer, labels: Array<AbiBuffer>, len: usize, out: Out<usize>,
    ) -> MetricsResult {
        define(config, MetricKind::Counter, name, labels.values(len), out)
    }

    fn envoy_dynamic_module_callback_http_filter_config_define_gauge(
        config: EnvoyPtr, name: AbiBuffer, labels: Array<AbiBuffer>, len: usize, out: Out<usize>,
    ) -> MetricsResult {
        define(config, MetricKind::Gauge, name, labels.values(len), out)
    }

    fn envoy_dynamic_module_callback_http_filter_config_define_histogram(
        config: EnvoyPtr, name: AbiBuffer, labels: Array<AbiBuffer>, len: usize, out: Out<usize>,
    ) -> MetricsResult {
        define(config, MetricKind::Histogram, name, labels.values(len), out)
    }

    fn envoy_dynamic_module_callback_http_filter_increment_counter(
        filter: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_stream(filter, id, values.values(len), MetricChange::Count(value))
    }

    fn envoy_dynamic_module_callback_http_filter_increment_gauge(
        filter: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_stream(filter, id, values.values(len), MetricChange::Raise(value))
    }

    fn envoy_dynamic_module_callback_http_filter_decrement_gauge(
        filter: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_stream(filter, id, values.values(len), MetricChange::Lower(value))
    }

    fn envoy_dynamic_module_callback_http_filter_set_gauge(
        filter: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_stream(filter, id, values.values(len), MetricChange::Set(value))
    }

    fn envoy_dynamic_module_callback_http_filter_record_histogram_value(
        filter: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_stream(filter, id, values.values(len), MetricChange::Record(value))
    }

    fn envoy_dynamic_module_callback_http_filter_config_increment_counter(
        config: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_config(config, id, values.values(len), MetricChange::Count(value))
    }

    fn envoy_dynamic_module_callback_http_filter_config_increment_gauge(
        config: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_config(config, id, values.values(len), MetricChange::Raise(value))
    }

    fn envoy_dynamic_module_callback_http_filter_config_decrement_gauge(
        config: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_config(config, id, values.values(len), MetricChange::Lower(value))
    }

    fn envoy_dynamic_module_callback_http_filter_config_set_gauge(
        config: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_config(config, id, values.values(len), MetricChange::Set(value))
    }

    fn envoy_dynamic_module_callback_http_filter_config_record_histogram_value(
        config: EnvoyPtr, id: usize, values: Array<AbiBuffer>, len: usize, value: u64,
    ) -> MetricsResult {
        change_by_config(config, id, values.values(len), MetricChange::Record(value))
    }
}
