//! Declaration of the functions that the Go program calls in the Rust library.

use std::collections::BTreeMap;

/// Statistics of a text.
#[derive(Debug, eddy_bridge::Record)]
pub struct Summary {
    /// Number of words.
    pub words: u64,
    /// Number of occurrences of each word.
    pub counts: BTreeMap<String, u32>,
    /// Longest word, if there is any.
    pub longest: Option<String>,
}

/// Word statistics.
#[eddy_bridge::rust]
pub trait Words {
    /// Returns the number of words in a text. Called often and returns quickly: a short call.
    #[short]
    fn count(&self, text: &str) -> u64;

    /// Returns the statistics of a text, or why there are none.
    fn summary(&self, text: &str) -> Result<Summary, String>;

    /// Returns the number of words in a text that is too long to block the caller.
    async fn count_later(&self, text: &str) -> u64;
}
