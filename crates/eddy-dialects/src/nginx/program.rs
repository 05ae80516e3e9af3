//! Directives of the rewrite module: the program of a server or location.

use eddy_route::nginx::{IfCondition, LetterCase, RewriteDirective, RewriteEnd, RewriteStep, TextTemplate};
use eddy_spec::problem::{SourceSpan, shown};

use super::block::{IF, LOCATION, SERVER, SERVER_IF};
use super::reader::NginxReader;
use super::tree::{Directive, NginxWord};

impl NginxReader<'_, '_> {
    /// Reads the steps of a block; `if_block` adds the place of an `if` in a location.
    pub(super) fn steps(
        &mut self,
        directives: &[Directive],
        here: u16,
        if_block: &mut dyn FnMut(&mut Self, &Directive) -> Option<u32>,
    ) -> Vec<RewriteDirective> {
        let mut steps = Vec::new();
        for directive in directives {
            let place = directive.name.place;
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("set", [name, value]) => steps.extend(self.set_step(name, value)),
                ("return", arguments) => match self.return_step(arguments) {
                    Some(step) => steps.push(step),
                    None => steps.push(self.denial(place)),
                },
                ("rewrite", [pattern, replacement, flag @ ..]) => {
                    match self.rewrite_step(pattern, replacement, flag.first()) {
                        Some(step) => steps.push(step),
                        None => steps.push(self.denial(place)),
                    }
                }
                ("break", []) => steps.push(RewriteDirective::Break),
                ("if", condition) if here == SERVER || here == LOCATION => {
                    let Some(test) = self.test(condition, place) else {
                        steps.push(self.denial(place));
                        continue;
                    };
                    let block = directive.block.as_deref().unwrap_or_default();
                    let inner_block = if here == SERVER { SERVER_IF } else { IF };
                    let inner = self.accepted(block, inner_block);
                    let if_block = if here == LOCATION { if_block(self, directive) } else { None };
                    let inner = self.steps(&inner, inner_block, &mut |_, _| None);
                    let count = u32::try_from(inner.len()).expect("fewer steps than `u32` counts");
                    steps.push(RewriteDirective::If { test: Box::new(test), place: if_block, steps: count });
                    steps.extend(inner);
                }
                _ => {}
            }
        }
        steps
    }

    fn set_step(&mut self, name: &NginxWord, value: &NginxWord) -> Option<RewriteDirective> {
        let Some(variable) = name.text.strip_prefix('$').filter(|variable| !variable.is_empty()) else {
            return self.misfit(name, "a variable such as `$name`");
        };
        let is_query = matches!(variable, "args" | "query_string");
        let Some(value) = self.text(value) else {
            if is_query {
                return Some(self.denial(name.place));
            }
            // Nothing may use the value that the variable had before.
            self.unread.extend(self.spec.variables.define(variable));
            return None;
        };
        if is_query {
            return Some(RewriteDirective::SetArgs { value });
        }
        match self.spec.variables.define(variable) {
            Some(slot) => Some(RewriteDirective::Set { slot, value }),
            None => {
                let message = format!("`${}` is a built-in variable and cannot be set", shown(variable));
                self.report.error(name.place, message).hint("use another name");
                None
            }
        }
    }

    /// Returns the step that replaces what eddy cannot read, which is reported.
    fn denial(&mut self, place: SourceSpan) -> RewriteDirective {
        self.note_denial(place);
        RewriteDirective::Return { status: 403, text: None }
    }

    fn return_step(&mut self, arguments: &[NginxWord]) -> Option<RewriteDirective> {
        let [first, rest @ ..] = arguments else { return None };
        if rest.is_empty() && is_address(&first.text) {
            return Some(RewriteDirective::Return { status: 302, text: Some(self.text(first)?) });
        }
        let status = u16::try_from(self.number(first, 200, 999)?).ok()?;
        let text = match rest.first() {
            Some(text) => Some(self.text(text)?),
            None => None,
        };
        Some(RewriteDirective::Return { status, text })
    }

    fn rewrite_step(
        &mut self,
        pattern: &NginxWord,
        replacement: &NginxWord,
        flag: Option<&NginxWord>,
    ) -> Option<RewriteDirective> {
        let mut end = match flag.map(|flag| flag.text.as_str()) {
            None => RewriteEnd::Next,
            Some("last") => RewriteEnd::Last,
            Some("break") => RewriteEnd::Break,
            Some("redirect") => RewriteEnd::Redirect(302),
            Some("permanent") => RewriteEnd::Redirect(301),
            Some(_) => return self.misfit(flag?, "`last`, `break`, `redirect` or `permanent`"),
        };
        if is_address(&replacement.text) && !matches!(end, RewriteEnd::Redirect(_)) {
            end = RewriteEnd::Redirect(302);
        }
        let (text, keeps_query) = match replacement.text.strip_suffix('?') {
            Some(text) => (text, false),
            None => (replacement.text.as_str(), true),
        };
        let is_redirect = matches!(end, RewriteEnd::Redirect(_));
        let (path, query) = match text.split_once('?') {
            Some((path, query)) if !is_redirect => (path, Some(query)),
            _ => (text, None),
        };
        let path = self.text_at(path, replacement.place);
        let query = match query {
            Some(query) => Some(self.text_at(query, replacement.place)?),
            None => None,
        };
        let pattern = self.pattern(&pattern.text, pattern.place, LetterCase::Counts)?;
        Some(RewriteDirective::Rewrite(Box::new(RewriteStep {
            pattern,
            path: path?,
            query,
            has_query: text.contains('?'),
            keeps_query,
            end,
            text: replacement.text.as_str().into(),
        })))
    }

    /// Reads the condition of an `if`, in parentheses.
    fn test(&mut self, words: &[NginxWord], place: SourceSpan) -> Option<IfCondition> {
        let mut words: Vec<NginxWord> = words.to_vec();
        let is_open = words.first_mut().is_some_and(|first| match first.text.strip_prefix('(') {
            Some(rest) => {
                first.text = rest.to_owned();
                true
            }
            None => false,
        });
        let is_closed = words.last_mut().is_some_and(|last| match last.text.strip_suffix(')') {
            Some(rest) => {
                last.text = rest.to_owned();
                true
            }
            None => false,
        });
        if !is_open || !is_closed {
            self.report
                .error(place, "the condition of `if` must be in parentheses")
                .hint("as in `if ($name = value) {`");
            return None;
        }
        if words.first().is_some_and(|word| word.text.is_empty()) {
            words.remove(0);
        }
        if words.len() != 1 && words.last().is_some_and(|word| word.text.is_empty()) && words.len() != 3 {
            words.pop();
        }
        match words.as_slice() {
            [variable] => Some(IfCondition::IsSet(self.variable(variable)?)),
            [variable, sign, other] => self.comparison(variable, sign, other),
            [sign, _] if sign.text.trim_start_matches('!').starts_with('-') => {
                let message = "eddy does not support file tests";
                self.refuse(sign.place, message, "remove this `if`; with `--lenient`, no file exists");
                let holds = if sign.text.starts_with('!') { "1" } else { "" };
                Some(IfCondition::IsSet(TextTemplate::plain(holds)))
            }
            _ => {
                self.report.error(place, "this is not a valid condition").hint(
                    "write `($name)`, `($name = text)` or `($name ~ expression)`, with spaces in between",
                );
                None
            }
        }
    }

    fn comparison(
        &mut self,
        variable: &NginxWord,
        sign: &NginxWord,
        other: &NginxWord,
    ) -> Option<IfCondition> {
        let value = self.variable(variable)?;
        let is_negated = sign.text.starts_with('!');
        match sign.text.as_str() {
            "=" | "!=" => Some(IfCondition::Equals { value, other: self.text(other)?, is_negated }),
            "~" | "!~" | "~*" | "!~*" => {
                let case = if sign.text.ends_with('*') { LetterCase::Ignored } else { LetterCase::Counts };
                let pattern = self.pattern(&other.text, other.place, case)?;
                Some(IfCondition::Matches { value, pattern, is_negated })
            }
            _ => self.misfit(sign, "`=`, `!=`, `~`, `~*`, `!~` or `!~*`"),
        }
    }

    fn variable(&mut self, word: &NginxWord) -> Option<TextTemplate> {
        let is_one = word.text.strip_prefix('$').is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'{' | b'}'))
        });
        if is_one { self.text(word) } else { self.misfit(word, "a variable such as `$name`") }
    }
}

/// Whether a text is the address of a redirect, with its scheme.
fn is_address(text: &str) -> bool {
    ["http://", "https://", "$scheme"].iter().any(|start| text.starts_with(start))
}
