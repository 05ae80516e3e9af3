//! What the program of Go asks of the library of Rust.

use std::collections::BTreeMap;

/// What is known of a text.
#[derive(Debug, eddy_bridge::Record)]
pub struct Summary {
    /// How many words it has.
    pub words: u64,
    /// How often each occurs.
    pub counts: BTreeMap<String, u32>,
    /// The longest, if there is one.
    pub longest: Option<String>,
}

/// Looks at texts.
#[eddy_bridge::rust]
pub trait Words {
    /// How many words a text has. It is called often, and takes no time: a short call.
    #[short]
    fn count(&self, text: &str) -> u64;

    /// All that is known of a text, or why nothing is.
    fn summary(&self, text: &str) -> Result<Summary, String>;

    /// As `count`, of a text that is so long that it is better not waited for.
    async fn count_later(&self, text: &str) -> u64;
}
