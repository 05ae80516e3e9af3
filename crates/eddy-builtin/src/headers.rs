//! Changes to headers of requests and responses.

use std::sync::Arc;

use eddy_filter::{FilterEdit, Interest, Phase, Verdict};

use super::library::{Builtin, PhaseContext};
use super::scratch::Scratch;
use super::template::TemplateString;

/// Configuration of `headers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadersConfig {
    /// Changes to the request sent to the endpoint.
    pub request: FieldRules,
    /// Changes to the response sent to the client.
    pub response: FieldRules,
}

/// Changes to headers: first `remove`, then `set`, then `add`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldRules {
    /// Headers to remove.
    pub remove: Vec<Arc<str>>,
    /// Headers to set; a header whose value is empty is removed.
    pub set: Vec<(Arc<str>, TemplateString)>,
    /// Headers to add; a header whose value is empty is not added.
    pub add: Vec<(Arc<str>, TemplateString)>,
}

/// Filter that changes headers of requests and responses.
#[derive(Debug)]
pub(super) struct HeadersFilter {
    config: HeadersConfig,
}

impl HeadersFilter {
    /// Creates the filter.
    pub(super) fn new(config: &HeadersConfig) -> Self {
        Self { config: config.clone() }
    }
}

impl Builtin for HeadersFilter {
    fn interest(&self) -> Interest {
        let phases =
            [(Phase::RequestHead, &self.config.request), (Phase::ResponseHead, &self.config.response)];
        let wanted: Vec<Phase> =
            phases.iter().filter(|(_, rules)| !rules.is_empty()).map(|(phase, _)| *phase).collect();
        Interest::of(&wanted)
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        match answer.view.phase {
            Phase::RequestHead => change(&self.config.request, answer),
            Phase::ResponseHead => change(&self.config.response, answer),
            Phase::RequestBody
            | Phase::RequestTrailers
            | Phase::ResponseBody
            | Phase::ResponseTrailers
            | Phase::Log
            | Phase::End => {}
        }
        Verdict::Continue
    }
}

impl FieldRules {
    fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.add.is_empty()
    }
}

/// Applies the rules. Every value is rendered from the message as it reached this filter: changes do not see each
/// other.
fn change(rules: &FieldRules, answer: &mut PhaseContext<'_>) {
    for name in &rules.remove {
        answer.edit(&FilterEdit::Remove { name: name.as_bytes() });
    }
    let mut scratch = Scratch::new();
    for (name, template) in &rules.set {
        scratch.clear();
        template.render(answer.view, &mut scratch);
        let (name, value) = (name.as_bytes(), scratch.bytes().trim_ascii());
        answer.edit(&if value.is_empty() {
            FilterEdit::Remove { name }
        } else {
            FilterEdit::Set { name, value }
        });
    }
    for (name, template) in &rules.add {
        scratch.clear();
        template.render(answer.view, &mut scratch);
        let value = scratch.bytes().trim_ascii();
        if !value.is_empty() {
            answer.edit(&FilterEdit::Add { name: name.as_bytes(), value });
        }
    }
}
