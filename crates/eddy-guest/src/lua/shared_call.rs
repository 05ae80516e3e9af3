//! Host calls on shared stores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::host_call::{HostCall, NOTHING, TEXT};
use super::shared::{KEY_BYTES_MAX, LuaStoreValue, Put};
use super::stage::LuaHookContext;

/// Performs a host call on a store. `first` is name, NUL and key.
pub(super) fn dispatch_shared(
    stage: &mut LuaHookContext,
    question: &HostCall<'_>,
    numbers: [f64; 3],
) -> Result<i32, String> {
    let stores = Arc::clone(&stage.stores);
    let (key, now) = (question.first, Instant::now());
    if key.len() > KEY_BYTES_MAX {
        return Err(format!(
            "store name and key of a shared value have at most {KEY_BYTES_MAX} bytes together"
        ));
    }
    let [a, b, c] = numbers;
    let ends = |seconds: f64| {
        let after = Duration::try_from_secs_f64(seconds).ok().filter(|after| !after.is_zero())?;
        now.checked_add(after)
    };
    let tell = |stage: &mut LuaHookContext, put: Put| {
        stage.answer.extend_from_slice(put.word().as_bytes());
        Ok(if put == Put::Done { NOTHING } else { TEXT })
    };
    match question.what {
        30 => Ok(match stores.get(key, now) {
            None => NOTHING,
            Some(LuaStoreValue::Text(text)) => {
                stage.answer.extend_from_slice(&text);
                TEXT
            }
            Some(LuaStoreValue::Number(number)) => {
                stage.shown.number = number;
                NUMBER
            }
            Some(LuaStoreValue::Bool(is_true)) => {
                if is_true {
                    TRUE
                } else {
                    FALSE
                }
            }
        }),
        // Kinds of values: 31 text, 32 number, 33 true, 34 false. `b` is the lifetime, `c` whether only a new key is
        // set.
        31..=34 => {
            let value = match question.what {
                31 => LuaStoreValue::Text(question.second.into()),
                32 => LuaStoreValue::Number(a),
                33 => LuaStoreValue::Bool(true),
                _ => LuaStoreValue::Bool(false),
            };
            tell(stage, stores.set(key, value, ends(b), c != 0.0, now))
        }
        // `b` is the initial value, or NaN for none.
        35 => match stores.add(key, a, (!b.is_nan()).then_some(b), ends(c), now) {
            Ok(number) => {
                stage.shown.number = number;
                Ok(NOTHING)
            }
            Err(put) => tell(stage, put),
        },
        36 => Ok(i32::from(stores.remove(key))),
        other => Err(format!("unknown host call {other}")),
    }
}

const NUMBER: i32 = 2;

const TRUE: i32 = 3;

const FALSE: i32 = 4;
