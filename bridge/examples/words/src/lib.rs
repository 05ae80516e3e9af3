//! A Rust library that a Go program uses.

mod words;

pub use self::words::{Summary, Words, serve_words};

struct ByWhitespace;

impl Words for ByWhitespace {
    fn count(&self, text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn summary(&self, text: &str) -> Result<Summary, String> {
        if text.is_empty() {
            return Err("there is no text".to_owned());
        }
        let mut summary = Summary { words: self.count(text), counts: Default::default(), longest: None };
        for word in text.split_whitespace() {
            *summary.counts.entry(word.to_owned()).or_default() += 1;
        }
        summary.longest = text.split_whitespace().max_by_key(|word| word.len()).map(str::to_owned);
        Ok(summary)
    }

    async fn count_later(&self, text: &str) -> u64 {
        self.count(text)
    }
}

eddy_bridge::export! { eddy_bridge::offer(serve_words(ByWhitespace)) }
