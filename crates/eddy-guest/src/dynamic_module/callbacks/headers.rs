//! Callbacks for headers and trailers.

use eddy_filter::Direction;

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, EnvoyPtr, Header, Out};
use crate::dynamic_module::stream::{self, Stream};
use crate::message_view::{MessageSection, MessageView};

/// Returns the section with this number in the ABI, and the direction of its message.
fn section_of(number: u32) -> Option<(MessageSection, Direction)> {
    match number {
        0 => Some((MessageSection::Request, Direction::Request)),
        1 => Some((MessageSection::RequestTrailers, Direction::Request)),
        2 => Some((MessageSection::Response, Direction::Response)),
        3 => Some((MessageSection::ResponseTrailers, Direction::Response)),
        _ => None,
    }
}

/// Reads the values of a header, and copies those that `is_wanted` selects by their index.
fn read(
    stream: &mut Stream,
    kind: u32,
    name: &[u8],
    is_wanted: impl Fn(usize) -> bool,
) -> (Vec<AbiBuffer>, usize) {
    let Some((section, direction)) = section_of(kind) else { return (Vec::new(), 0) };
    let (mut found, mut count) = (Vec::new(), 0);
    if let Some(view) = stream.view_of(direction) {
        view.visit_values(section, name, &mut |value| {
            if is_wanted(count) {
                found.push(value.to_vec());
            }
            count += 1;
        });
    }
    (found.iter().map(|value| stream.lend(value)).collect(), count)
}

/// Returns the section of a stream's message, if it can be changed now.
fn section_mut(stream: &mut Stream, kind: u32) -> Option<(MessageSection, &mut MessageView)> {
    let (section, direction) = section_of(kind)?;
    Some((section, stream.view_of_mut(direction)?))
}

callbacks! {
    fn envoy_dynamic_module_callback_http_get_header(
        filter: EnvoyPtr,
        kind: u32,
        name: AbiBuffer,
        out: Out<AbiBuffer>,
        index: usize,
        count_out: Out<usize>,
    ) -> bool {
        let found = stream::of(filter, |stream| read(stream, kind, name.bytes(), |at| at == index));
        let (values, count) = found.unwrap_or_default();
        out.set(values.first().copied().unwrap_or(AbiBuffer::NULL));
        count_out.set(count);
        !values.is_empty()
    }

    fn envoy_dynamic_module_callback_http_get_header_values(
        filter: EnvoyPtr,
        kind: u32,
        name: AbiBuffer,
        out: Out<AbiBuffer>,
    ) -> bool {
        let found = stream::of(filter, |stream| read(stream, kind, name.bytes(), |_| true));
        let Some((values, _)) = found else { return false };
        for (at, value) in values.iter().enumerate() {
            out.set_at(at, *value);
        }
        true
    }

    fn envoy_dynamic_module_callback_http_get_headers_size(filter: EnvoyPtr, kind: u32) -> usize {
        let count = stream::of(filter, |stream| {
            let (section, direction) = section_of(kind)?;
            Some(stream.view_of(direction)?.count(section))
        });
        count.flatten().unwrap_or(0)
    }

    fn envoy_dynamic_module_callback_http_get_headers(filter: EnvoyPtr, kind: u32, out: Out<Header>) -> bool {
        let found = stream::of(filter, |stream| {
            let (section, direction) = section_of(kind)?;
            let mut pairs = Vec::new();
            stream.view_of(direction)?.visit(section, &mut |name, value| {
                pairs.push((name.to_vec(), value.to_vec()));
            });
            for (at, (name, value)) in pairs.iter().enumerate() {
                out.set_at(at, Header { name: stream.lend(name), value: stream.lend(value) });
            }
            Some(())
        });
        found.flatten().is_some()
    }

    fn envoy_dynamic_module_callback_http_add_header(
        filter: EnvoyPtr,
        kind: u32,
        name: AbiBuffer,
        value: AbiBuffer,
    ) -> bool {
        let added = stream::of(filter, |stream| {
            let (section, view) = section_mut(stream, kind)?;
            view.add(section, name.bytes(), value.bytes()).ok()
        });
        added.flatten().is_some()
    }

    fn envoy_dynamic_module_callback_http_set_header(
        filter: EnvoyPtr,
        kind: u32,
        name: AbiBuffer,
        value: AbiBuffer,
    ) -> bool {
        let set = stream::of(filter, |stream| {
            let (section, view) = section_mut(stream, kind)?;
            // Without a value, the header is removed.
            match value.is_null() {
                true => view.remove(section, name.bytes()).ok(),
                false => view.replace(section, name.bytes(), value.bytes()).ok(),
            }
        });
        set.flatten().is_some()
    }
}
