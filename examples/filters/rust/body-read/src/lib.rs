//! Looks at every byte of response bodies and changes none.
#![forbid(unsafe_code)]

use eddy_sdk::prelude::*;
use serde::Deserialize;

/// Counts a byte in response bodies, piece by piece, and keeps none of them.
#[derive(Debug)]
pub struct BodyRead {
    byte: u8,
}

/// What to look for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodyReadConfig {
    /// The number of the byte.
    byte: u8,
}

/// What was found so far.
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
    // The length that the endpoint said stays true, so eddy need not send the body in chunks.
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
    fn every_piece_is_searched_and_none_changed() {
        let filter = Library::of::<Filters>().filter("body-read", r#"{"byte": 97}"#).expect("it is right");
        assert!(filter.only_reads_bodies());
        let response = Response::new(200).piece("abca").piece("nothing").piece("a");
        let outcome = Chain::new().then(&filter).send(Request::get("/"), |_| response.clone());
        assert_eq!(outcome.answered(), &response);
        assert_eq!(outcome.metadata("body-read", "found"), Some("3"));
    }

    #[test]
    fn a_byte_is_a_byte() {
        assert!(Library::of::<Filters>().filter("body-read", r#"{"byte": 256}"#).is_err());
    }
}
