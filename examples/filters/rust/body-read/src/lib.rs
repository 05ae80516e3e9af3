//! Filter that reads every byte of response bodies and changes none.
#![forbid(unsafe_code)]

use eddy_sdk::prelude::*;
use serde::Deserialize;

/// Counts the occurrences of one byte in response bodies, chunk by chunk, without buffering.
#[derive(Debug)]
pub struct BodyRead {
    byte: u8,
}

/// Configuration of the filter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodyReadConfig {
    /// Value of the byte to count.
    byte: u8,
}

/// Number of occurrences found so far in one response.
#[derive(Debug, Default)]
pub struct ByteCount {
    bytes: u64,
}

impl Default for BodyReadConfig {
    fn default() -> Self {
        Self { byte: b'\n' }
    }
}

impl Filter for BodyRead {
    type Config = Option<BodyReadConfig>;
    type State = ByteCount;

    const INTEREST: Interest = Interest::of(&[Phase::ResponseBody]);
    // The filter does not change the body length, so eddy keeps `Content-Length` instead of sending chunks.
    const ONLY_READS_BODIES: bool = true;

    fn new(config: Option<BodyReadConfig>, _: &Context) -> Result<Self, String> {
        Ok(Self { byte: config.unwrap_or_default().byte })
    }

    fn response_body(&self, x: &mut Exchange<'_, ByteCount>) -> Result<Verdict, Fault> {
        let found = x.body().iter().filter(|byte| **byte == self.byte).count();
        x.state().bytes += found as u64;
        if x.is_end() {
            let bytes = x.state().bytes;
            x.set_metadata("body-read", "found", bytes)?;
        }
        Ok(Verdict::Continue)
    }
}

eddy_sdk::filters! { "body-read" => BodyRead }

#[cfg(test)]
mod tests {
    use eddy_sdk::test::{Chain, Library, Request, Response};

    use super::Filters;

    #[test]
    fn every_chunk_is_searched_and_none_changed() {
        let filter = Library::of::<Filters>().filter("body-read", r#"{"byte": 97}"#).expect("it is right");
        assert!(filter.only_reads_bodies());
        let response = Response::new(200).piece("abca").piece("nothing").piece("a");
        let outcome = Chain::new().then(&filter).send(Request::get("/"), |_| response.clone());
        assert_eq!(outcome.answered(), &response);
        assert_eq!(outcome.metadata("body-read", "found"), Some("3"));
    }

    #[test]
    fn the_configured_byte_is_validated() {
        assert!(Library::of::<Filters>().filter("body-read", r#"{"byte": 256}"#).is_err());
    }
}
