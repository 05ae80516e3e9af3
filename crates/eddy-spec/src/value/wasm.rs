//! Scalar values in Wasm filter configurations.

use eddy_config::WasmIsolation;

use super::choice::{Meaning, keywords};
use crate::read::{FromScalar, Misfit, WordInfo};

/// Exchanges that a fault of a module affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsolationName(pub WasmIsolation);

/// Name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariableName(pub String);

keywords! {
    IsolationName: ISOLATIONS;
}

impl FromScalar for VariableName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let is_name = !text.is_empty()
            && text.len() <= VARIABLE_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !text.starts_with(|first: char| first.is_ascii_digit());
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err(Misfit::reason("is not a variable name: a variable name consists of letters, digits and `_`"))
        }
    }

    fn info() -> WordInfo {
        let pattern = Some("^[A-Za-z_][A-Za-z0-9_]{0,127}$");
        WordInfo { pattern, ..WordInfo::text("a variable name such as `REGION`") }
    }
}

const ISOLATIONS: &[Meaning<IsolationName>] = &[
    (
        "worker",
        IsolationName(WasmIsolation::Worker),
        "each worker has an instance; a fault ends all exchanges in it",
    ),
    (
        "stream",
        IsolationName(WasmIsolation::Stream),
        "each exchange has an instance; a fault ends only that exchange",
    ),
];

/// Maximum length of a variable name.
const VARIABLE_BYTES_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::VariableName;
    use crate::read::FromScalar;

    #[test]
    fn variables_are_words() {
        assert!(VariableName::parse("_A9").is_ok());
        for text in ["", "9A", "A-B", "A=B", "Ä"] {
            assert!(VariableName::parse(text).is_err(), "{text}");
        }
    }
}
