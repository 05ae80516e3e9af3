//! Execution of a test case of the vectors.

use eddy_sdk::test::{
    Configured, Entered, ExchangeFacts, Library, Note, Request, Response, RuleConfig, TestFields,
    TestLibraryCall, Turns, Written,
};
use eddy_sdk::{End, Phase, abi};

use super::filter::Filters;
use super::format::{
    CallOf, EditOf, FieldOf, PHASES, ResumeOf, StepOf, VERDICTS, VectorCase, listed, number_of,
};

impl VectorCase {
    /// Runs the case and returns the differences from the expected results.
    pub(crate) fn run(&self) -> Vec<String> {
        let library = Library::of::<Filters>();
        let made: Vec<(Configured, Option<RuleConfig>)> =
            self.steps.iter().map(|step| step.make(&library)).collect();
        let mut states = vec![0; made.len()];
        let mut turns = Turns::begin();
        let mut wrong = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            let found = call.run(&library, &made, &mut states, &mut turns);
            wrong.extend(found.into_iter().map(|what| format!("call {index}: {what}")));
        }
        for ((filter, _), state) in made.iter().zip(states) {
            if state != 0 {
                library.tell_end(filter, state, End::Complete);
            }
        }
        wrong
    }
}

impl StepOf {
    fn make(&self, library: &Library) -> (Configured, Option<RuleConfig>) {
        let filter = library.filter("vector", &self.config.to_string()).expect("the case's configuration");
        let rule =
            self.rule.as_ref().map(|rule| filter.rule(&rule.to_string()).expect("the rule's configuration"));
        (filter, rule)
    }
}

impl CallOf {
    fn run(
        &self,
        library: &Library,
        made: &[(Configured, Option<RuleConfig>)],
        states: &mut [u64],
        turns: &mut Turns,
    ) -> Vec<String> {
        let phase = number_of(PHASES, &self.phase);
        let (request, response) = (self.request(), self.response(phase));
        let trailers = fields(&self.trailers);
        let metadata: Vec<Note> = self.metadata.iter().map(note).collect();
        let facts = self.facts();
        let (exchange, turn) = turns.next_turn();
        let crossing = TestLibraryCall {
            phase,
            flags: self.flags(),
            exchange,
            turn,
            request: &request,
            response: response.as_ref(),
            trailers: (phase == abi::REQUEST_TRAILERS || phase == abi::RESPONSE_TRAILERS)
                .then_some(&trailers),
            body: &self.body.0,
            metadata: &metadata,
            facts: &facts,
            room: 256,
        };
        let entered: Vec<Entered<'_>> = made
            .iter()
            .zip(states.iter())
            .map(|((filter, rule), state)| Entered {
                filter,
                rule: rule.as_ref(),
                state: *state,
                is_blocking: false,
            })
            .collect();
        let crossed = crossing.run(library, &entered);
        for (state, step) in states.iter_mut().zip(&crossed.steps) {
            *state = step.state;
        }
        let mut wrong = self.compare_verdicts(&crossed.steps, crossed.stopped);
        wrong.extend(compare("edit", &crossed.written(), &self.expect.edits));
        let refusal = if phase == abi::LOG { None } else { crossing.refusal(&crossed.written()) };
        if refusal.is_some() != self.expect.refused {
            wrong.push(format!("the host says {refusal:?}"));
        }
        if let Some(expected) = &self.expect.resume {
            wrong.extend(expected.compare(turns.resumed()));
        }
        wrong
    }

    fn compare_verdicts(&self, steps: &[abi::AbiStep], stopped: usize) -> Vec<String> {
        let mut wrong = Vec::new();
        if stopped != self.expect.stopped.unwrap_or(steps.len()) {
            wrong.push(format!("stopped at {stopped}"));
        }
        for (index, step) in steps.iter().enumerate().take(stopped + 1) {
            let expected = self.expect.verdicts.get(index).map_or("continue", String::as_str);
            if step.verdict != number_of(VERDICTS, expected) {
                wrong.push(format!("step {index} says {}", step.verdict));
            }
            if self.sample && step.nanos == 0 {
                wrong.push(format!("the time of step {index} is not told"));
            }
        }
        wrong
    }

    fn request(&self) -> Request {
        let Some(request) = &self.request else {
            return Request {
                trailers: fields(&self.trailers),
                ..Request::get("/").field("Host", "example.com")
            };
        };
        Request {
            authority: request.authority.clone(),
            fields: fields(&request.fields),
            trailers: fields(&self.trailers),
            ..Request::new(&request.method, &request.target)
        }
    }

    fn response(&self, phase: u8) -> Option<Response> {
        if phase < abi::RESPONSE_HEAD {
            return None;
        }
        let status = self.response.as_ref().map_or(200, |response| response.status);
        let own = self.response.as_ref().map(|response| fields(&response.fields)).unwrap_or_default();
        Some(Response { fields: own, trailers: fields(&self.trailers), ..Response::new(status) })
    }

    fn facts(&self) -> ExchangeFacts {
        let about = &self.about;
        let request = self.request.as_ref();
        ExchangeFacts {
            scheme: request.map_or_else(|| "http".to_owned(), |request| request.scheme.clone()),
            version: request.map_or(11, |request| request.version),
            peer: about.peer.clone(),
            local: about.local.clone(),
            listener: about.listener.clone(),
            rule: about.rule.clone(),
            cluster: about.cluster.clone(),
            endpoint: about.endpoint.clone(),
            request_id: about.request_id.clone(),
            details: about.details.clone(),
            attempts: about.attempts,
            request_bytes: about.request_bytes,
            response_bytes: about.response_bytes,
        }
    }

    fn flags(&self) -> u8 {
        let flags = [
            (self.end, abi::CALL_END),
            (self.buffered, abi::CALL_BUFFERED),
            (self.local, abi::CALL_LOCAL),
            (self.tls, abi::CALL_TLS),
            (self.sample, abi::CALL_SAMPLED),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag)
    }
}

impl ResumeOf {
    fn compare(&self, resumed: Option<(u8, Vec<Written>)>) -> Vec<String> {
        let Some((verdict, edits)) = resumed else { return vec!["nobody resumed".to_owned()] };
        let mut wrong = compare("later edit", &edits, &self.edits);
        if verdict != number_of(VERDICTS, &self.verdict) {
            wrong.push(format!("resumed with {verdict}"));
        }
        wrong
    }
}

fn compare(what: &str, written: &[Written], expected: &[EditOf]) -> Vec<String> {
    let mut wrong = Vec::new();
    if written.len() != expected.len() {
        wrong.push(format!("{} of {what}, not {}", written.len(), expected.len()));
    }
    for (index, (written, expected)) in written.iter().zip(expected).enumerate() {
        if !expected.is(written) {
            wrong.push(format!(
                "{what} {index}: {:.300}, not {:.300}",
                format!("{written:?}"),
                format!("{expected:?}")
            ));
        }
    }
    wrong
}

impl EditOf {
    fn is(&self, written: &Written) -> bool {
        self.is_that(
            u8::try_from(written.op).unwrap_or(0),
            written.step,
            written.number,
            &written.name,
            &written.value,
        )
    }
}

/// Returns the fields of a section.
fn fields(list: &[FieldOf]) -> TestFields {
    let mut fields = TestFields::default();
    listed(list).for_each(|(name, value)| fields.add(name, value));
    fields
}

fn note((space, key, value): &(String, String, String)) -> Note {
    Note { space: space.clone(), key: key.clone(), value: value.clone() }
}

const _: usize = Phase::ALL.len() - PHASES.len();
