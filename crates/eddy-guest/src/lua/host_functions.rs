//! Host functions that code in a Lua VM calls by address; `api/layout.lua` declares them in C.
//!
//! Only the host's own Lua code gets the addresses: scripts never see one, unless the operator allows them `ffi`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eddy_filter::{FilterEdit, FilterLogLevel};
use eddy_http::Field;

use super::numbers::{AnswerKind, EditKind, HostCallKind, LuaConstants, MORE_FLAG, TRAILERS_FLAG};
use super::question::{HostCall, dispatch};
use super::shown::{LuaFieldsView, LuaMessageLayout, LuaTextRef};
use super::stage::{EditedSection, LuaHookContext};

/// Addresses passed to the host's Lua code in a VM.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LuaHostFunctions {
    stage: *mut LuaHookContext,
    shown: *const LuaMessageLayout,
    find: unsafe extern "C" fn(*const LuaFieldsView, *const u8, u32, u32) -> i32,
    edit: unsafe extern "C" fn(*mut LuaHookContext, u32, *const u8, u32, *const u8, u32, u32) -> i32,
    log: unsafe extern "C" fn(*mut LuaHookContext, u32, *const u8, u32),
    ask: unsafe extern "C" fn(*mut LuaHookContext, u32, *const u8, u32, *const u8, u32, f64, f64, f64) -> i32,
    now_us: unsafe extern "C" fn() -> f64,
    count: unsafe extern "C" fn(*const LuaFieldsView, *const u8, u32) -> u32,
    mentions_body: bool,
}

impl LuaHostFunctions {
    /// Returns the functions for a hook context, which never moves.
    pub(super) fn of(stage: *mut LuaHookContext, mentions_body: bool) -> Self {
        // SAFETY: the caller's hook context lives; only an address is taken.
        let shown = unsafe { &raw const (*stage).shown };
        Self { stage, shown, find, edit, log, ask, now_us, count, mentions_body }
    }
}

/// Returns the bytes of a Lua string.
///
/// # Safety
/// If `len` is not 0, `data` points to that many bytes, which stay valid until `'a` ends.
#[inline]
unsafe fn bytes_of<'a>(data: *const u8, len: u32) -> &'a [u8] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice::from_raw_parts(data, len as usize) }
}

/// Yields for each field whether it has this name, compared case-insensitively.
///
/// # Safety
/// `fields` and `name` are those of a function that compiled code calls.
#[inline]
unsafe fn matches<'a>(
    fields: *const LuaFieldsView,
    name: *const u8,
    len: u32,
) -> impl Iterator<Item = bool> + use<'a> {
    // SAFETY: the host's code passes the address of a section of its own hook context.
    let LuaFieldsView { bytes, fields, len: count, bytes_len } = unsafe { fields.read() };
    // SAFETY: the name is a Lua string that its caller holds.
    let name = unsafe { bytes_of::<'a>(name, len) };
    // SAFETY: while a hook runs, a section's bytes and fields are those of its view or of the context's copy.
    let bytes = unsafe { bytes_of::<'a>(bytes, bytes_len) };
    let places: &'a [Field] = if count == 0 || fields.is_null() {
        &[]
    } else {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts(fields, count as usize) }
    };
    places
        .iter()
        .map(move |field| field.name.len() == name.len() && field.name.of(bytes).eq_ignore_ascii_case(name))
}

/// Returns the index of the first field with this name from `from` on, plus [`MORE_FLAG`] if another one follows; -1
/// for none.
unsafe extern "C" fn find(fields: *const LuaFieldsView, name: *const u8, len: u32, from: u32) -> i32 {
    // SAFETY: by the contract of this function.
    let matches = unsafe { matches(fields, name, len) };
    let mut found = matches.enumerate().skip(from as usize).filter(|(_, is_same)| *is_same);
    let Some((first, _)) = found.next() else { return NONE };
    let first = i32::try_from(first).unwrap_or(NONE);
    if found.next().is_some() { first + MORE_FLAG.cast_signed() } else { first }
}

/// Returns the number of fields with this name.
unsafe extern "C" fn count(fields: *const LuaFieldsView, name: *const u8, len: u32) -> u32 {
    // SAFETY: by the contract of this function.
    let matches = unsafe { matches(fields, name, len) };
    matches.map(u32::from).sum()
}

unsafe extern "C" fn edit(
    stage: *mut LuaHookContext,
    op: u32,
    name: *const u8,
    name_len: u32,
    value: *const u8,
    value_len: u32,
    number: u32,
) -> i32 {
    // SAFETY: the host's code passes the address of its own hook context, which nothing else uses while a hook runs.
    let stage = unsafe { &mut *stage };
    // SAFETY: both are Lua strings that their caller holds.
    let name = unsafe { bytes_of(name, name_len) };
    // SAFETY: as above.
    let value = unsafe { bytes_of(value, value_len) };
    let section = if op & TRAILERS_FLAG == 0 { EditedSection::Head } else { EditedSection::Trailers };
    let kind = EditKind::from_number(op & !TRAILERS_FLAG);
    let edit = kind.and_then(|kind| edit_of(kind, name, value, number));
    guarded(stage, |stage| {
        let edit = edit.ok_or("unknown edit")?;
        stage.change(&edit, section).map(|()| AnswerKind::Nothing)
    })
}

fn edit_of<'a>(kind: EditKind, name: &'a [u8], value: &'a [u8], number: u32) -> Option<FilterEdit<'a>> {
    Some(match kind {
        EditKind::Set => FilterEdit::Set { name, value },
        EditKind::Add => FilterEdit::Add { name, value },
        EditKind::Remove => FilterEdit::Remove { name },
        EditKind::Method => FilterEdit::Method(value),
        EditKind::Target => FilterEdit::Target(value),
        EditKind::Authority => FilterEdit::Authority(value),
        EditKind::Status => FilterEdit::Status(number),
        EditKind::BodySet => FilterEdit::BodySet(value),
        EditKind::Reply => FilterEdit::Reply { status: number, body: value, details: name },
        EditKind::ReplyField => FilterEdit::ReplyField { name, value },
        EditKind::Metadata => {
            let nul = name.iter().position(|&byte| byte == 0)?;
            let (space, key) = name.split_at(nul);
            FilterEdit::Metadata { space, key: &key[1..], value }
        }
        EditKind::ClearRoute => FilterEdit::ClearRoute,
        EditKind::Endpoint => FilterEdit::Endpoint { address: value, is_strict: false },
        EditKind::EndpointStrict => FilterEdit::Endpoint { address: value, is_strict: true },
    })
}

unsafe extern "C" fn log(stage: *mut LuaHookContext, level: u32, text: *const u8, len: u32) {
    // SAFETY: as in `edit`.
    let stage = unsafe { &mut *stage };
    // SAFETY: the text is a Lua string that its caller holds.
    let text = unsafe { bytes_of(text, len) };
    guarded(stage, |stage| {
        let level = FilterLogLevel::from_number(level).unwrap_or(FilterLogLevel::Error);
        // Dropped messages are counted by the host.
        let _ = stage.host.log(stage.hook.id, level, text);
        Ok(AnswerKind::Nothing)
    });
}

unsafe extern "C" fn ask(
    stage: *mut LuaHookContext,
    what: u32,
    first: *const u8,
    first_len: u32,
    second: *const u8,
    second_len: u32,
    a: f64,
    b: f64,
    c: f64,
) -> i32 {
    // SAFETY: as in `edit`.
    let stage = unsafe { &mut *stage };
    // SAFETY: both are Lua strings that their caller holds.
    let first = unsafe { bytes_of(first, first_len) };
    // SAFETY: as above.
    let second = unsafe { bytes_of(second, second_len) };
    guarded(stage, |stage| {
        stage.answer.clear();
        let kind = HostCallKind::from_number(what).ok_or("unknown host call")?;
        let outcome = dispatch(stage, &HostCall { kind, first, second, numbers: [a, b, c] });
        stage.shown.answer = LuaTextRef::of(&stage.answer);
        outcome
    })
}

/// Returns the time in microseconds since 1970.
unsafe extern "C" fn now_us() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    now.as_secs_f64() * 1e6
}

/// Performs a host function; an error message becomes the answer. A panic of the host must not unwind into compiled
/// code.
fn guarded(
    stage: &mut LuaHookContext,
    act: impl FnOnce(&mut LuaHookContext) -> Result<AnswerKind, String>,
) -> i32 {
    let why = match catch_unwind(AssertUnwindSafe(|| act(stage))) {
        Ok(Ok(answer)) => return answer.number().into(),
        Ok(Err(why)) => why,
        Err(_) => "internal error of eddy; please report this bug".to_owned(),
    };
    stage.answer.clear();
    stage.answer.extend_from_slice(why.as_bytes());
    stage.shown.answer = LuaTextRef::of(&stage.answer);
    AnswerKind::Refused.number().into()
}

const NONE: i32 = -1;

const _: () = assert!(size_of::<LuaHostFunctions>() == 9 * size_of::<*const ()>());
