//! Endpoints and clusters mocked by a spec.

use eddy_guest::{LuaSpec, SpecPart};

use super::message::SpecMessage;

/// Endpoints and clusters mocked by the spec.
pub(super) struct SpecUpstream<'a> {
    pub(super) spec: &'a mut LuaSpec,
}

impl SpecUpstream<'_> {
    /// Returns the response to a request; `cluster` is empty for the endpoint.
    ///
    /// # Errors
    /// Why the exchange does not continue.
    pub(super) fn answer(
        &mut self,
        cluster: &str,
        request: &SpecMessage,
    ) -> Result<MockResponse, SpecInterrupt> {
        let mut parts = vec![SpecPart::new("ask", cluster, "")];
        parts.extend(request.parts());
        loop {
            let said = self.spec.step(&parts).map_err(|error| SpecInterrupt::Broken(error.to_string()))?;
            match said.first().map(|part| part.what.as_str()) {
                Some("reply") => return parse_mock_response(&said).map_err(SpecInterrupt::Impossible),
                Some("filter" | "send") => {
                    parts = vec![SpecPart::new("error", "another request is already in progress", "")];
                }
                _ => return Err(SpecInterrupt::EndedEarly(said)),
            }
        }
    }
}

fn parse_mock_response(said: &[SpecPart]) -> Result<MockResponse, String> {
    let mut response = SpecMessage::default();
    for part in said {
        if part.what == "none" {
            return Ok(MockResponse::None(part.value.clone()));
        }
        response.take(part)?;
    }
    Ok(MockResponse::Response(response))
}

/// Outcome of a request.
pub(super) enum MockResponse {
    Response(SpecMessage),
    /// No response, with the word for the reason.
    None(Vec<u8>),
}

/// Why an exchange ends early.
pub(super) enum SpecInterrupt {
    /// The spec continued before it replied: its test is over.
    EndedEarly(Vec<SpecPart>),
    /// The spec requests something impossible.
    Impossible(String),
    /// The spec cannot continue.
    Broken(String),
}
