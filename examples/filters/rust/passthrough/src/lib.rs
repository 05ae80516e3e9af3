//! A filter that is entered for both heads and changes nothing: what entering a filter costs.
#![forbid(unsafe_code)]

use eddy_sdk::prelude::*;
use serde_json::Value;

/// Changes nothing.
#[derive(Debug)]
pub struct Passthrough;

impl Filter for Passthrough {
    type Config = Value;
    type State = ();

    const INTEREST: Interest = Interest::of(&[Phase::RequestHead, Phase::ResponseHead]);

    fn new(_: Value, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
}

eddy_sdk::filters! { "passthrough" => Passthrough }
