//! Names that the other language accepts, each once.

use std::collections::HashMap;

/// Gives names, and the same one again for the same key.
#[derive(Debug, Default)]
pub(super) struct NameAllocator {
    given: HashMap<usize, String>,
}

impl NameAllocator {
    /// The name of a thing: `wanted` as far as `allows` letters, with a number behind it where another has it.
    pub(super) fn of(&mut self, key: usize, wanted: &str, allows: fn(char) -> bool) -> String {
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

/// Longest a name is taken from.
const LETTERS_MAX: usize = 50;
