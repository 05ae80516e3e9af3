//! Execution of the rewrite directives of a server or location.

use super::escape::unescape_redirect;
use super::run::{NextStep, NginxLookup, is_redirect};
use super::state::NginxOutcome;
use super::step::{IfCondition, RewriteDirective, RewriteEnd, RewriteStep};
use super::text::TextTemplate;
use super::value::GroupSpelling;

impl<'s> NginxLookup<'_, 's> {
    /// Runs the directives; `None` if they end without a response.
    pub(crate) fn run_steps(&mut self, place: u32) -> Option<NextStep> {
        let steps: &'s [RewriteDirective] = &self.sites.places()[place as usize].steps;
        // Groups in `set` are percent-encoded until a rewrite has matched.
        let mut spelling = GroupSpelling::Escaped;
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            at += 1;
            match step {
                RewriteDirective::Set { slot, value } => {
                    let value = self.spelt(value, spelling);
                    self.fill(*slot, &value);
                    self.recycle_buffer(value);
                }
                RewriteDirective::SetArgs { value } => {
                    let mut value = self.spelt(value, spelling);
                    std::mem::swap(&mut self.walk.query, &mut value);
                    self.recycle_buffer(value);
                }
                RewriteDirective::Return { status, text } => {
                    return Some(self.return_with(*status, text.as_ref()));
                }
                RewriteDirective::Break => {
                    if self.walk.is_path_changed {
                        self.walk.is_location_matched = false;
                        self.walk.is_path_changed = false;
                    }
                    return None;
                }
                RewriteDirective::If { test, place, steps } => match (self.passes(test), place) {
                    (true, Some(place)) => self.walk.place = *place,
                    (true, None) => {}
                    (false, _) => at += *steps as usize,
                },
                RewriteDirective::Rewrite(step) => {
                    if !self.match_path(&step.pattern) {
                        self.walk.groups.clear();
                        continue;
                    }
                    let end = self.rewrite(step);
                    if let Some(trace) = &mut self.trace {
                        trace.rewrite(step, &self.walk.path, &self.walk.query);
                    }
                    if end.is_some() {
                        return end;
                    }
                    if step.end != RewriteEnd::Next {
                        return None;
                    }
                    spelling = GroupSpelling::Plain;
                }
            }
        }
        None
    }

    /// Applies a matching `rewrite`; returns a response if it is a redirect.
    fn rewrite(&mut self, step: &'s RewriteStep) -> Option<NextStep> {
        self.walk.is_internal = true;
        self.walk.is_as_sent = false;
        let is_kept = step.end == RewriteEnd::Break;
        self.walk.is_path_changed = !is_kept;
        if is_kept {
            self.walk.is_location_matched = false;
        }
        if let RewriteEnd::Redirect(status) = step.end {
            let mut address = self.spelt(&step.path, GroupSpelling::Escaped);
            unescape_redirect(&mut address);
            if step.keeps_query && !self.walk.query.is_empty() {
                address.push(if step.has_query { b'&' } else { b'?' });
                address.extend_from_slice(&self.walk.query);
            }
            self.set_address(address);
            return Some(NextStep::Status(status));
        }
        let mut path = self.spelt(&step.path, GroupSpelling::Plain);
        match &step.query {
            Some(query) => {
                let mut query = self.spelt(query, GroupSpelling::Escaped);
                if step.keeps_query && !self.walk.query.is_empty() {
                    query.push(b'&');
                    query.extend_from_slice(&self.walk.query);
                }
                std::mem::swap(&mut self.walk.query, &mut query);
                self.recycle_buffer(query);
            }
            None if !step.keeps_query => self.walk.query.clear(),
            None => {}
        }
        if path.is_empty() {
            self.recycle_buffer(path);
            return Some(NextStep::Status(500));
        }
        std::mem::swap(&mut self.walk.path, &mut path);
        self.recycle_buffer(path);
        None
    }

    fn return_with(&mut self, status: u16, text: Option<&'s TextTemplate>) -> NextStep {
        if status == 444 {
            return NextStep::End(NginxOutcome::Close);
        }
        if status >= 400 && text.is_none() {
            return NextStep::Status(status);
        }
        let text = text.map(|text| self.text_of(text)).unwrap_or_default();
        if is_redirect(status) {
            self.set_address(text);
            return NextStep::Status(status);
        }
        let before = std::mem::replace(&mut self.walk.text, text);
        self.recycle_buffer(before);
        NextStep::End(NginxOutcome::Text { status: self.final_status(status) })
    }

    fn passes(&mut self, test: &'s IfCondition) -> bool {
        match test {
            IfCondition::IsSet(value) => {
                let value = self.text_of(value);
                let is_set = !value.is_empty() && value != b"0";
                self.recycle_buffer(value);
                is_set
            }
            IfCondition::Equals { value, other, is_negated } => {
                let (value, other) = (self.text_of(value), self.text_of(other));
                let is_equal = value == other;
                self.recycle_buffer(value);
                self.recycle_buffer(other);
                is_equal != *is_negated
            }
            IfCondition::Matches { value, pattern, is_negated } => {
                let value = self.text_of(value);
                let is_match = self.match_value(pattern, &value);
                if !is_match {
                    self.walk.groups.clear();
                }
                self.recycle_buffer(value);
                is_match != *is_negated
            }
        }
    }
}
