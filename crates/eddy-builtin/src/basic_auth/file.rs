//! Parser of password files.

use std::sync::Arc;

use super::form::{FormError, PasswordForm};

/// Reads lines `user:hash`; skips empty lines and lines that begin with `#`.
///
/// # Errors
/// The problem and its line number, without the content of the line.
pub(super) fn read_users(bytes: &[u8]) -> Result<Vec<(Arc<str>, PasswordForm)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8")
    })?;
    let mut users: Vec<(Arc<str>, PasswordForm)> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, rest) = line.split_once(':').ok_or_else(|| format!("line {number} has no colon"))?;
        // Some programs store more data about a user behind another colon.
        let hash = rest.split(':').next().unwrap_or_default();
        if name.is_empty() || name.len() > USER_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(format!("line {number} has no valid user name"));
        }
        let form = PasswordForm::parse_hash(hash)
            .map_err(|error: FormError| format!("the password in line {number} {error}"))?;
        users.push((name.into(), form));
        if users.len() > USERS_MAX {
            return Err(format!("it has more than {USERS_MAX} users"));
        }
    }
    Ok(users)
}

const USER_BYTES_MAX: usize = 256;
const USERS_MAX: usize = 1_000_000;
