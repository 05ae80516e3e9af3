//! Unique names within the character set of the target language.

use std::collections::HashMap;
use std::hash::Hash;

/// Allocates names; the same key always gets the same name.
#[derive(Debug)]
pub(super) struct NameAllocator<K> {
    given: HashMap<K, String>,
}

impl<K> Default for NameAllocator<K> {
    fn default() -> Self {
        Self { given: HashMap::new() }
    }
}

impl<K: Eq + Hash> NameAllocator<K> {
    /// Returns the name for `key`: `wanted`, with letters replaced that `allows` refuses, and with a number appended if
    /// another key has that name.
    pub(super) fn of(&mut self, key: K, wanted: &str, allows: fn(char) -> bool) -> String {
        if let Some(name) = self.given.get(&key) {
            return name.clone();
        }
        let plain: String = wanted
            .chars()
            .map(|letter| if allows(letter) { letter } else { '-' })
            .take(LETTERS_MAX)
            .collect();
        let plain = plain.trim_matches('-');
        let plain = if plain.is_empty() { "x" } else { plain };
        let is_taken = |name: &str| self.given.values().any(|given| given == name);
        let mut name = plain.to_owned();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        self.given.insert(key, name.clone());
        name
    }
}

/// Whether a letter can be in the name of a rule.
pub(super) fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_.:/-".contains(letter)
}

/// Maximum length of a name before a number is appended.
const LETTERS_MAX: usize = 50;
