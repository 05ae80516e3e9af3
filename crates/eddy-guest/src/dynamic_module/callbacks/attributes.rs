//! Callbacks for attributes of an exchange.
//!
//! # Source
//! The attribute list of Envoy's documentation, and `envoy_dynamic_module_type_attribute_id` in the ABI.

use eddy_filter::Direction;

use super::table::callbacks;
use crate::dynamic_module::abi::{EnvoyPtr, Out};
use crate::dynamic_module::stream;
use crate::wasm::exchange_property;

/// Type of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttributeType {
    Text,
    Number,
    Flag,
}

/// Returns type and path of an attribute; `None` for those that eddy has no value for.
fn attribute(id: u32) -> Option<(AttributeType, &'static [&'static [u8]])> {
    use AttributeType::{Flag, Number, Text};
    Some(match id {
        0 => (Text, &[b"request", b"path"]),
        1 => (Text, &[b"request", b"url_path"]),
        2 => (Text, &[b"request", b"host"]),
        3 => (Text, &[b"request", b"scheme"]),
        4 => (Text, &[b"request", b"method"]),
        6 => (Text, &[b"request", b"referer"]),
        7 => (Text, &[b"request", b"useragent"]),
        9 => (Text, &[b"request", b"id"]),
        10 => (Text, &[b"request", b"protocol"]),
        11 => (Text, &[b"request", b"query"]),
        12 => (Number, &[b"request", b"duration"]),
        13 => (Number, &[b"request", b"size"]),
        14 => (Number, &[b"request", b"total_size"]),
        15 => (Number, &[b"response", b"code"]),
        16 => (Text, &[b"response", b"code_details"]),
        21 => (Number, &[b"response", b"size"]),
        22 => (Number, &[b"response", b"total_size"]),
        24 => (Text, &[b"source", b"address"]),
        25 => (Number, &[b"source", b"port"]),
        26 => (Text, &[b"destination", b"address"]),
        27 => (Number, &[b"destination", b"port"]),
        28 => (Number, &[b"connection", b"id"]),
        29 => (Flag, &[b"connection", b"mtls"]),
        40 => (Text, &[b"connection", b"termination_details"]),
        41 => (Text, &[b"upstream", b"address"]),
        42 => (Number, &[b"upstream", b"port"]),
        57 => (Text, &[b"xds", b"cluster_name"]),
        61 => (Text, &[b"xds", b"route_name"]),
        _ => return None,
    })
}

/// Returns the value of an attribute of this type.
fn value(filter: EnvoyPtr, id: u32, wanted: AttributeType) -> Option<Vec<u8>> {
    let (kind, path) = attribute(id).filter(|(kind, _)| *kind == wanted)?;
    let found = stream::of(filter, |stream| {
        let view = stream.view_of(Direction::Request)?;
        let value = exchange_property(view, path)?;
        debug_assert!(kind != AttributeType::Number || value.len() == 8, "numbers have eight bytes");
        Some(value.into_owned())
    });
    found.flatten()
}

callbacks! {
    fn envoy_dynamic_module_callback_http_filter_get_attribute_string(
        filter: EnvoyPtr, id: u32, out: Out<crate::dynamic_module::abi::AbiBuffer>,
    ) -> bool {
        let Some(text) = value(filter, id, AttributeType::Text) else { return false };
        stream::of(filter, |stream| out.set(stream.lend(&text))).is_some()
    }

    fn envoy_dynamic_module_callback_http_filter_get_attribute_int(
        filter: EnvoyPtr, id: u32, out: Out<u64>,
    ) -> bool {
        let bytes = value(filter, id, AttributeType::Number);
        let number = bytes.and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
        number.inspect(|number| out.set(*number)).is_some()
    }

    fn envoy_dynamic_module_callback_http_filter_get_attribute_bool(
        filter: EnvoyPtr, id: u32, out: Out<bool>,
    ) -> bool {
        let bytes = value(filter, id, AttributeType::Flag);
        bytes.inspect(|bytes| out.set(bytes.first() == Some(&1))).is_some()
    }
}
