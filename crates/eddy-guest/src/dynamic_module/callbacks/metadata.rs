//! Callbacks for dynamic metadata. eddy's routes, clusters and endpoints have no metadata: these sources are empty.

use eddy_filter::{Direction, EditLog, FilterEdit};
use serde_json::Value;

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, Array, EnvoyPtr, Flag, Header, Out};
use crate::dynamic_module::stream::{self, Stream};

/// Value of dynamic metadata.
#[derive(Debug)]
struct MetadataEntry {
    space: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Returns the metadata of a stream's exchange, with the module's own changes.
fn entries(stream: &Stream) -> Vec<MetadataEntry> {
    let mut entries = Vec::new();
    let view = stream.view_of(Direction::Request);
    if let Some(metadata) = view.and_then(|view| view.view()?.about().metadata) {
        for (space, key, value) in metadata.iter() {
            put(&mut entries, space, key, value);
        }
    }
    if let Some(view) = view {
        put_noted(&mut entries, &view.edits);
    }
    put_noted(&mut entries, &stream.later);
    entries
}

fn put_noted(entries: &mut Vec<MetadataEntry>, edits: &EditLog) {
    for record in edits.records().map_while(Result::ok) {
        if let FilterEdit::Metadata { space, key, value } = record.edit {
            put(entries, space, key, value);
        }
    }
}

fn put(entries: &mut Vec<MetadataEntry>, space: &[u8], key: &[u8], value: &[u8]) {
    entries.retain(|entry| entry.space != space || entry.key != key);
    if !value.is_empty() {
        entries.push(MetadataEntry { space: space.to_vec(), key: key.to_vec(), value: value.to_vec() });
    }
}

/// Returns a value; `None` if there is none.
fn value_of(stream: &Stream, source: u32, space: &[u8], key: &[u8]) -> Option<Value> {
    if source != DYNAMIC {
        return None;
    }
    let entry = entries(stream).into_iter().find(|entry| entry.space == space && entry.key == key)?;
    serde_json::from_slice(&entry.value).ok()
}

fn get<R>(
    filter: EnvoyPtr,
    (source, space, key): (u32, AbiBuffer, AbiBuffer),
    convert: impl FnOnce(&mut Stream, Value) -> Option<R>,
) -> Option<R> {
    let found = stream::of(filter, |stream| {
        let value = value_of(stream, source, space.bytes(), key.bytes())?;
        convert(stream, value)
    });
    found.flatten()
}

fn set(filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: &Value) {
    let json = value.to_string();
    stream::of(filter, |stream| {
        stream.note(&FilterEdit::Metadata { space: space.bytes(), key: key.bytes(), value: json.as_bytes() });
    });
}

/// Appends a value to a list; `false` if there is another value.
fn push(filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: Value) -> bool {
    let list = stream::of(filter, |stream| match value_of(stream, DYNAMIC, space.bytes(), key.bytes()) {
        None => Some(vec![value]),
        Some(Value::Array(mut list)) => {
            list.push(value);
            Some(list)
        }
        Some(_) => None,
    });
    let Some(list) = list.flatten() else { return false };
    set(filter, space, key, &Value::Array(list));
    true
}

fn item(value: &Value, index: usize) -> Option<Value> {
    value.as_array()?.get(index).cloned()
}

/// Returns the names of a list's namespaces, or the keys of one of them, each once.
fn names(stream: &Stream, source: u32, space: Option<&[u8]>) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    if source == DYNAMIC {
        for entry in entries(stream) {
            let name = match space {
                Some(space) if space != entry.space => continue,
                Some(_) => entry.key,
                None => entry.space,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn write_names(filter: EnvoyPtr, source: u32, space: Option<&[u8]>, out: Out<AbiBuffer>) -> bool {
    let found = stream::of(filter, |stream| {
        let names = names(stream, source, space);
        for (at, name) in names.iter().enumerate() {
            out.set_at(at, stream.lend(name));
        }
        !names.is_empty()
    });
    found.unwrap_or(false)
}

fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}

callbacks! {
    fn envoy_dynamic_module_callback_http_set_dynamic_metadata_number(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: f64,
    ) {
        set(filter, space, key, &Value::from(value));
    }

    fn envoy_dynamic_module_callback_http_set_dynamic_metadata_string(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: AbiBuffer,
    ) {
        set(filter, space, key, &text(value.bytes()));
    }

    fn envoy_dynamic_module_callback_http_set_dynamic_metadata_string_batch(
        filter: EnvoyPtr, space: AbiBuffer, entries: Array<Header>, len: usize,
    ) {
        for entry in entries.values(len) {
            set(filter, space, entry.name, &text(entry.value.bytes()));
        }
    }

    fn envoy_dynamic_module_callback_http_set_dynamic_metadata_bool(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: Flag,
    ) {
        set(filter, space, key, &Value::Bool(value.is_set()));
    }

    fn envoy_dynamic_module_callback_http_get_metadata_number(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, out: Out<f64>,
    ) -> bool {
        get(filter, (source, space, key), |_, value| value.as_f64()).inspect(|value| out.set(*value)).is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_string(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, out: Out<AbiBuffer>,
    ) -> bool {
        get(filter, (source, space, key), |stream, value| Some(stream.lend(value.as_str()?.as_bytes())))
            .inspect(|value| out.set(*value))
            .is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_bool(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, out: Out<bool>,
    ) -> bool {
        get(filter, (source, space, key), |_, value| value.as_bool()).inspect(|value| out.set(*value)).is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_keys_count(
        filter: EnvoyPtr, source: u32, space: AbiBuffer,
    ) -> usize {
        stream::of(filter, |stream| names(stream, source, Some(space.bytes())).len()).unwrap_or(0)
    }

    fn envoy_dynamic_module_callback_http_get_metadata_keys(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, out: Out<AbiBuffer>,
    ) -> bool {
        write_names(filter, source, Some(space.bytes()), out)
    }

    fn envoy_dynamic_module_callback_http_get_metadata_namespaces_count(filter: EnvoyPtr, source: u32) -> usize {
        stream::of(filter, |stream| names(stream, source, None).len()).unwrap_or(0)
    }

    fn envoy_dynamic_module_callback_http_get_metadata_namespaces(
        filter: EnvoyPtr, source: u32, out: Out<AbiBuffer>,
    ) -> bool {
        write_names(filter, source, None, out)
    }

    fn envoy_dynamic_module_callback_http_add_dynamic_metadata_list_number(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: f64,
    ) -> bool {
        push(filter, space, key, Value::from(value))
    }

    fn envoy_dynamic_module_callback_http_add_dynamic_metadata_list_string(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: AbiBuffer,
    ) -> bool {
        push(filter, space, key, text(value.bytes()))
    }

    fn envoy_dynamic_module_callback_http_add_dynamic_metadata_list_bool(
        filter: EnvoyPtr, space: AbiBuffer, key: AbiBuffer, value: Flag,
    ) -> bool {
        push(filter, space, key, Value::Bool(value.is_set()))
    }

    fn envoy_dynamic_module_callback_http_get_metadata_list_size(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, out: Out<usize>,
    ) -> bool {
        get(filter, (source, space, key), |_, value| Some(value.as_array()?.len()))
            .inspect(|len| out.set(*len))
            .is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_list_number(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, index: usize, out: Out<f64>,
    ) -> bool {
        get(filter, (source, space, key), |_, value| item(&value, index)?.as_f64())
            .inspect(|value| out.set(*value))
            .is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_list_string(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, index: usize, out: Out<AbiBuffer>,
    ) -> bool {
        get(filter, (source, space, key), |stream, value| {
            Some(stream.lend(item(&value, index)?.as_str()?.as_bytes()))
        })
        .inspect(|value| out.set(*value))
        .is_some()
    }

    fn envoy_dynamic_module_callback_http_get_metadata_list_bool(
        filter: EnvoyPtr, source: u32, space: AbiBuffer, key: AbiBuffer, index: usize, out: Out<bool>,
    ) -> bool {
        get(filter, (source, space, key), |_, value| item(&value, index)?.as_bool())
            .inspect(|value| out.set(*value))
            .is_some()
    }

    // eddy's access log has no response flags: a flag becomes a metadata value, which the access log can show.
    fn envoy_dynamic_module_callback_http_add_custom_flag(filter: EnvoyPtr, flag: AbiBuffer) {
        stream::of(filter, |stream| {
            stream.note(&FilterEdit::Metadata { space: FLAGS_SPACE, key: flag.bytes(), value: b"true" });
        });
    }
}

/// `envoy_dynamic_module_type_metadata_source_Dynamic`.
const DYNAMIC: u32 = 0;
/// Namespace of the flags that modules set.
const FLAGS_SPACE: &[u8] = b"envoy.custom_flags";
