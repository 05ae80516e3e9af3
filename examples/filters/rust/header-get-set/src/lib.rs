//! Filter that copies a header of each request and response to another header.
#![forbid(unsafe_code)]

use eddy_sdk::prelude::*;
use serde::Deserialize;

/// Sets `host2` in requests and `server2` in responses.
#[derive(Debug)]
pub struct HeaderGetSet;

/// Empty configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderGetSetConfig {}

impl Filter for HeaderGetSet {
    type Config = Option<HeaderGetSetConfig>;
    type State = ();

    const INTEREST: Interest = Interest::of(&[Phase::RequestHead, Phase::ResponseHead]);

    fn new(_: Option<HeaderGetSetConfig>, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        // An HTTP/2 client names the host in `:authority` only.
        let host = x.request().get(FieldId::HOST).unwrap_or_else(|| x.authority());
        x.set("host2", host)?;
        Ok(Verdict::Continue)
    }

    fn response_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        if let Some(server) = x.response().get(FieldId::SERVER) {
            x.set("server2", server)?;
        }
        Ok(Verdict::Continue)
    }
}

eddy_sdk::filters! { "header-get-set" => HeaderGetSet }

#[cfg(test)]
mod tests {
    use eddy_sdk::test::{Chain, Library, Request, Response};

    use super::Filters;

    #[test]
    fn fields_are_copied() {
        let filter = Library::of::<Filters>().filter("header-get-set", "{}").expect("there are no keys");
        let chain = Chain::new().then(&filter);
        let request = Request::get("/").field("Host", "a.example:81").field("Host2", "forged");
        let outcome = chain.send(request, |_| Response::new(200).field("Server", "demo"));
        assert_eq!(outcome.sent().fields.all("host2").collect::<Vec<_>>(), ["a.example:81"]);
        assert_eq!(outcome.answered().get_field("server2"), Some("demo"));
        let outcome = chain.send(Request::get("/"), |_| Response::new(204));
        assert_eq!(outcome.sent().get_field("host2"), Some("example.com"));
        assert_eq!(outcome.answered().get_field("server2"), None);
    }

    #[test]
    fn unknown_keys_are_refused() {
        let refused = Library::of::<Filters>().filter("header-get-set", r#"{"value": "b"}"#);
        assert!(refused.expect_err("there are no keys").contains("value"));
    }
}
