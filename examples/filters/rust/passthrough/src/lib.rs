//! Filter that is called for both heads and changes nothing, to measure the cost of a filter call.
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

#[cfg(test)]
mod tests {
    use eddy_sdk::test::{Chain, Library, Request, Response};

    use super::Filters;

    #[test]
    fn nothing_is_changed() {
        let filter = Library::of::<Filters>().filter("passthrough", "null").expect("it has no configuration");
        let (request, response) =
            (Request::post("/a", "body").field("a", "1"), Response::new(204).field("b", "2"));
        let outcome = Chain::new().then(&filter).send(request.clone(), |_| response.clone());
        assert_eq!((outcome.sent(), outcome.answered()), (&request, &response));
        assert_eq!(outcome.crossings(), 2);
    }
}
