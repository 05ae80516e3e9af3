//! Functions that modules call and eddy does not have: the log names each once.

use std::collections::BTreeSet;
use std::sync::Mutex;

use proxy_wasm_host::abi::Status;

use crate::lock::lock;

/// Missing functions that the instances of a module have called.
#[derive(Debug, Default)]
pub(crate) struct UnknownFunctions {
    named: Mutex<BTreeSet<String>>,
}

impl UnknownFunctions {
    /// Records a call of a function that is missing, which returns this status. Returns the text for the log with the
    /// first call of a function, and none for further functions once [`NAMES_MAX`] were recorded.
    pub(super) fn note(&self, name: &[u8], status: Status) -> Option<String> {
        let name: String = name.escape_ascii().map(char::from).take(NAME_CHARS_MAX).collect();
        let mut named = lock(&self.named);
        if named.len() >= NAMES_MAX || named.contains(&name) {
            return None;
        }
        let rest = if named.len() + 1 == NAMES_MAX { "; further functions are not named" } else { "" };
        let text = format!("it calls the function \"{name}\", which eddy does not have: {status}{rest}");
        named.insert(name);
        Some(text)
    }
}

/// Maximum number of functions that the log names for a module.
const NAMES_MAX: usize = 32;
const NAME_CHARS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_function_is_named_once_within_limits() {
        let unknown = UnknownFunctions::default();
        let text = unknown.note(b"odd\n", Status::NotFound).unwrap();
        assert_eq!(text, "it calls the function \"odd\\n\", which eddy does not have: not found");
        assert_eq!(unknown.note(b"odd\n", Status::NotFound), None);
        let long = unknown.note(&[b'a'; 5000], Status::Unimplemented).unwrap();
        assert!(long.len() < 200 && long.ends_with("unimplemented"), "{long}");
        let names = (2..100_u32).filter_map(|name| unknown.note(&name.to_be_bytes(), Status::NotFound));
        let named: Vec<String> = names.collect();
        assert_eq!(named.len(), NAMES_MAX - 2);
        assert!(named.last().unwrap().ends_with("further functions are not named"), "{named:?}");
    }
}
