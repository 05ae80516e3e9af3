//! Layout of a call in a module's memory as in `abi/eddy_filter.h`, with addresses instead of pointers.
//!
//! Go for Wasm has 64-bit pointers, so all offsets are those of the structures in this process.

use std::mem::offset_of;

use eddy_filter::{CALL_WITHOUT_PHASE, EndedExchange, ExchangeInfo, ExchangeView, FilterEvent, LibraryCall};
use eddy_http::{Field, Fields};

use super::image::{GuestMemoryWriter, WrittenOffset, rounded};
use super::lane::Numbers;
use crate::guest::scheme;
use crate::native::abi;
use crate::native::crossing::{flags_of, method_of, narrow, size_of_u32, version_of};

/// Addresses of the parts of a call into which a module writes its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultAddresses {
    pub(super) call: u64,
    pub(super) steps: u64,
    pub(super) current: u64,
}

/// Returns the maximum size of a call in a buffer, with these facts about the exchange if it has a view.
pub(super) fn bytes_of(call: &LibraryCall<'_>, about: &ExchangeInfo<'_>) -> usize {
    let fixed = rounded(size_of::<abi::NativeCall>())
        + rounded(size_of::<u32>())
        + rounded(call.steps.len() * size_of::<abi::NativeStep>())
        + rounded(size_of_val(call.ended))
        + rounded(EDITS_BYTES);
    let Some(view) = call.view else { return fixed };
    let (request, response) = (&view.request, view.response.unwrap_or_default());
    let heads: usize = [request.fields, response.fields, view.trailers].into_iter().map(head_bytes).sum();
    let texts: usize = texts_of(view).iter().chain(&about.texts()).map(|text| rounded(text.len())).sum();
    let metadata: usize = about.metadata.map_or(0, |metadata| {
        metadata
            .iter()
            .map(|(space, key, value)| {
                size_of::<abi::NativePair>()
                    + rounded(space.len())
                    + rounded(key.len())
                    + rounded(value.len())
            })
            .sum()
    });
    fixed + heads + texts + metadata + 2 * rounded(size_of::<abi::NativeAbout>())
}

fn head_bytes(fields: Fields<'_>) -> usize {
    rounded(fields.bytes().len()) + rounded(size_of_val(fields.places()))
}

/// Returns the texts of a call, in member order.
fn texts_of<'v>(view: &ExchangeView<'v>) -> [&'v [u8]; 5] {
    let request = &view.request;
    [request.method_name, request.target, request.authority, scheme(view), view.body]
}

/// Writes a call with the first `count` steps and these facts about the exchange; the numbers of filters,
/// configurations and states are those of the instance.
pub(super) fn write_call(
    to: &mut GuestMemoryWriter<'_>,
    call: &LibraryCall<'_>,
    about: &ExchangeInfo<'_>,
    count: usize,
    numbers: &Numbers<'_>,
) -> ResultAddresses {
    let place = to.zeroed(size_of::<abi::NativeCall>());
    let current = to.zeroed(size_of::<u32>());
    let steps = to.zeroed(count * size_of::<abi::NativeStep>());
    for (index, step) in call.steps.iter().enumerate().take(count) {
        let at = steps.plus(index * size_of::<abi::NativeStep>());
        to.set(at, offset_of!(abi::NativeStep, filter), &numbers.filter(step.filter).to_le_bytes());
        to.set(at, offset_of!(abi::NativeStep, config), &numbers.config(step.config).to_le_bytes());
        to.set(at, offset_of!(abi::NativeStep, state), &numbers.state(step.state).to_le_bytes());
        to.set(at, offset_of!(abi::NativeStep, id), &step.id.to_le_bytes());
        to.set(at, offset_of!(abi::NativeStep, flags), &[step.flags]);
    }
    let (ended, ended_len) = write_ended(to, call.ended, numbers);
    let edits = to.take(EDITS_BYTES);
    let count = narrow(count);
    let mut flags = if call.is_sampled { abi::CALL_SAMPLED } else { 0 };
    let mut phase = CALL_WITHOUT_PHASE;
    if let Some(view) = call.view {
        phase = view.phase as u8;
        flags |= flags_of(view);
        write_view(to, place, view);
        let about = write_about(to, about);
        to.set(place, offset_of!(abi::NativeCall, about), &about.to_le_bytes());
    }
    to.set(place, offset_of!(abi::NativeCall, abi), &abi::ABI.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, size), &size_of_u32::<abi::NativeCall>().to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, worker), &call.worker.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, phase), &[phase, flags]);
    to.set(place, offset_of!(abi::NativeCall, exchange), &call.exchange.number().to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, turn), &call.turn.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, steps_len), &count.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, steps), &steps.address.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, edits), &edits.address.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, edits_cap), &narrow(EDITS_BYTES).to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, ended), &ended.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, ended_len), &ended_len.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, stopped), &count.to_le_bytes());
    to.set(place, offset_of!(abi::NativeCall, current), &current.address.to_le_bytes());
    ResultAddresses { call: place.address, steps: steps.address, current: current.address }
}

fn write_view(to: &mut GuestMemoryWriter<'_>, place: WrittenOffset, view: &ExchangeView<'_>) {
    let (request, response) = (&view.request, view.response.unwrap_or_default());
    to.set(place, offset_of!(abi::NativeCall, status), &response.status.to_le_bytes());
    to.set(
        place,
        offset_of!(abi::NativeCall, version),
        &[version_of(request.version), method_of(request.method)],
    );
    write_head(to, place.plus(offset_of!(abi::NativeCall, request)), request.fields);
    write_head(to, place.plus(offset_of!(abi::NativeCall, response)), response.fields);
    write_head(to, place.plus(offset_of!(abi::NativeCall, trailers)), view.trailers);
    for (index, text) in texts_of(view).into_iter().enumerate() {
        to.text(place, offset_of!(abi::NativeCall, method_name) + index * size_of::<abi::NativeText>(), text);
    }
}

fn write_head(to: &mut GuestMemoryWriter<'_>, place: WrittenOffset, fields: Fields<'_>) {
    let bytes = to.put(fields.bytes());
    let places = fields.places();
    let table = if places.is_empty() { 0 } else { write_fields(to, places) };
    to.set(place, offset_of!(abi::NativeHead, bytes), &bytes.address.to_le_bytes());
    to.set(place, offset_of!(abi::NativeHead, fields), &table.to_le_bytes());
    to.set(place, offset_of!(abi::NativeHead, bytes_len), &narrow(fields.bytes().len()).to_le_bytes());
    to.set(place, offset_of!(abi::NativeHead, fields_len), &narrow(places.len()).to_le_bytes());
}

fn write_fields(to: &mut GuestMemoryWriter<'_>, places: &[Field]) -> u64 {
    let table = to.take(size_of_val(places));
    for (index, field) in places.iter().enumerate() {
        let mut image = [0_u8; size_of::<Field>()];
        let (spans, marks) = image.split_at_mut(offset_of!(Field, id));
        let numbers = [field.name.start, field.name.end, field.value.start, field.value.end];
        for (slot, number) in spans.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *slot = number.to_le_bytes();
        }
        for (slot, mark) in marks.iter_mut().zip([field.id as u8, u8::from(field.is_nominated)]) {
            *slot = mark;
        }
        to.set(table, index * size_of::<Field>(), &image);
    }
    table.address
}

fn write_about(to: &mut GuestMemoryWriter<'_>, about: &ExchangeInfo<'_>) -> u64 {
    let place = to.zeroed(size_of::<abi::NativeAbout>());
    for (index, text) in about.texts().into_iter().enumerate() {
        to.text(place, index * size_of::<abi::NativeText>(), text);
    }
    if let Some(metadata) = about.metadata.filter(|metadata| !metadata.is_empty()) {
        let count = metadata.iter().len();
        let pairs = to.take(count * size_of::<abi::NativePair>());
        for (index, (space, key, value)) in metadata.iter().enumerate() {
            let pair = pairs.plus(index * size_of::<abi::NativePair>());
            to.text(pair, offset_of!(abi::NativePair, space), space);
            to.text(pair, offset_of!(abi::NativePair, key), key);
            to.text(pair, offset_of!(abi::NativePair, value), value);
        }
        to.set(place, offset_of!(abi::NativeAbout, metadata), &pairs.address.to_le_bytes());
        to.set(place, offset_of!(abi::NativeAbout, metadata_len), &(count as u64).to_le_bytes());
    }
    let numbers = [
        (offset_of!(abi::NativeAbout, started_unix_us), about.started_unix_us),
        (offset_of!(abi::NativeAbout, duration_us), about.duration_us),
        (offset_of!(abi::NativeAbout, connection), about.connection),
        (offset_of!(abi::NativeAbout, request_bytes), about.request_bytes),
        (offset_of!(abi::NativeAbout, response_bytes), about.response_bytes),
    ];
    for (offset, number) in numbers {
        to.set(place, offset, &number.to_le_bytes());
    }
    to.set(place, offset_of!(abi::NativeAbout, attempts), &about.attempts.to_le_bytes());
    place.address
}

/// Writes the ended exchanges that this instance knows; returns their address and number.
fn write_ended(to: &mut GuestMemoryWriter<'_>, ended: &[EndedExchange], numbers: &Numbers<'_>) -> (u64, u32) {
    let table = to.take(size_of_val(ended));
    let mut count = 0;
    for end in ended {
        let (filter, state) = (numbers.filter(end.filter), numbers.state(end.state));
        if filter == 0 || state == 0 {
            continue;
        }
        let at = table.plus(count * size_of::<EndedExchange>());
        to.set(at, offset_of!(EndedExchange, filter), &filter.to_le_bytes());
        to.set(at, offset_of!(EndedExchange, state), &state.to_le_bytes());
        to.set(at, offset_of!(EndedExchange, reason), &(end.reason as u64).to_le_bytes());
        count += 1;
    }
    (table.address, narrow(count))
}

/// Returns the maximum size of an event in a buffer.
pub(super) fn event_bytes(event: &FilterEvent<'_>) -> usize {
    rounded(size_of::<abi::NativeEvent>()) + head_bytes(event.fields) + rounded(event.body.len())
}

/// Writes an event; returns its address.
pub(super) fn write_event(to: &mut GuestMemoryWriter<'_>, event: &FilterEvent<'_>) -> u64 {
    let place = to.zeroed(size_of::<abi::NativeEvent>());
    to.set(place, offset_of!(abi::NativeEvent, size), &size_of_u32::<abi::NativeEvent>().to_le_bytes());
    to.set(place, offset_of!(abi::NativeEvent, kind), &(event.kind as u32).to_le_bytes());
    to.set(place, offset_of!(abi::NativeEvent, token), &event.token.to_le_bytes());
    to.set(place, offset_of!(abi::NativeEvent, filter), &event.filter.to_le_bytes());
    to.set(place, offset_of!(abi::NativeEvent, worker), &event.worker.to_le_bytes());
    to.set(place, offset_of!(abi::NativeEvent, status), &event.status.to_le_bytes());
    write_head(to, place.plus(offset_of!(abi::NativeEvent, head)), event.fields);
    to.text(place, offset_of!(abi::NativeEvent, body), event.body);
    place.address
}

/// Space for edits that a call has without growing.
pub(super) const EDITS_BYTES: usize = 4096;
