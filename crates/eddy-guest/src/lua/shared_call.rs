//! Host calls on shared stores; the first text of each is name, NUL and key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::numbers::{AnswerKind, LuaConstants, StoreCondition};
use super::shared::{KEY_BYTES_MAX, LuaStoreValue, Put};
use super::stage::LuaHookContext;

/// Reads a value.
pub(super) fn get(stage: &mut LuaHookContext, key: &[u8]) -> Result<AnswerKind, String> {
    let found = stage.stores.get(check_key(key)?, Instant::now());
    Ok(match found {
        None => AnswerKind::Nothing,
        Some(LuaStoreValue::Text(text)) => {
            stage.answer.extend_from_slice(&text);
            AnswerKind::Text
        }
        Some(LuaStoreValue::Number(number)) => {
            stage.shown.number = number;
            AnswerKind::Number
        }
        Some(LuaStoreValue::Bool(true)) => AnswerKind::True,
        Some(LuaStoreValue::Bool(false)) => AnswerKind::False,
    })
}

/// Stores a value; the numbers are the value, if it is one, its lifetime and the [`StoreCondition`].
pub(super) fn put(
    stage: &mut LuaHookContext,
    key: &[u8],
    [_, lifetime, condition]: [f64; 3],
    value: LuaStoreValue,
) -> Result<AnswerKind, String> {
    let (stores, now) = (Arc::clone(&stage.stores), Instant::now());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of the constants")]
    let condition = StoreCondition::from_number(condition as u32).unwrap_or(StoreCondition::Always);
    let put = stores.set(check_key(key)?, value, end_of(lifetime, now), condition, now);
    Ok(tell(stage, put))
}

/// Adds to a number; the numbers are the increment, the initial value, or NaN for none, and the lifetime.
pub(super) fn increment(
    stage: &mut LuaHookContext,
    key: &[u8],
    [by, initial, lifetime]: [f64; 3],
) -> Result<AnswerKind, String> {
    let (stores, now) = (Arc::clone(&stage.stores), Instant::now());
    let initial = (!initial.is_nan()).then_some(initial);
    match stores.add(check_key(key)?, by, initial, end_of(lifetime, now), now) {
        Ok(number) => {
            stage.shown.number = number;
            Ok(AnswerKind::Nothing)
        }
        Err(put) => Ok(tell(stage, put)),
    }
}

/// Removes a value; the answer is whether there was one.
pub(super) fn remove(stage: &LuaHookContext, key: &[u8]) -> Result<AnswerKind, String> {
    let was_there = stage.stores.remove(check_key(key)?);
    Ok(if was_there { AnswerKind::True } else { AnswerKind::False })
}

fn check_key(key: &[u8]) -> Result<&[u8], String> {
    if key.len() > KEY_BYTES_MAX {
        return Err(format!(
            "store name and key of a shared value have at most {KEY_BYTES_MAX} bytes together"
        ));
    }
    Ok(key)
}

/// Returns the expiry of a value that lives for so many seconds; `None` for 0.
fn end_of(lifetime: f64, now: Instant) -> Option<Instant> {
    let after = Duration::try_from_secs_f64(lifetime).ok().filter(|after| !after.is_zero())?;
    now.checked_add(after)
}

fn tell(stage: &mut LuaHookContext, put: Put) -> AnswerKind {
    stage.answer.extend_from_slice(put.word().as_bytes());
    if put == Put::Done { AnswerKind::Nothing } else { AnswerKind::Text }
}
