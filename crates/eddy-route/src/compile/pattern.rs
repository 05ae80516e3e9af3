//! Regular expressions that match a whole value or a part of it, within bounds of memory and time.

use std::fmt;
use std::ops::Range;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::{NonMaxUsize, PatternID, StateID};
use regex_automata::util::start;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Dot, Hir, HirKind, Look, Repetition};

use crate::error::RouteProblem;

/// A compiled regular expression; immutable and searched without locks.
///
/// Nearly all are small automata that read each byte once. An expression whose automaton would be large is simulated;
/// the cost is the length of the value times the (bounded) size of the expression.
pub(crate) struct Pattern {
    text: Box<str>,
    form: RegexMatchMode,
    /// Common literal prefix of all matching values.
    prefix: Box<[u8]>,
    /// Common literal suffix of all matching values; avoids most searches of expressions such as `.*[.]php`.
    suffix: Box<[u8]>,
    automaton: Option<dense::DFA<Vec<u32>>>,
    /// State of the automaton after the prefix, which is compared as a whole.
    state_after_prefix: Option<StateID>,
    /// Present if there is no automaton, or if captures are wanted.
    machine: Option<PikeVM>,
}

/// Matching mode of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RegexMatchMode {
    /// Matches the whole value.
    Whole,
    /// Matches anywhere in the value.
    Unanchored,
    /// Matches anywhere in the value, ignoring the case of ASCII letters.
    UnanchoredCaseless,
}

/// Whether the capture groups of an expression are wanted, or only whether it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Groups {
    Captured,
    Ignored,
}

/// Scratch memory of searches, shared by all patterns: it is initialized again for each search that needs it.
#[derive(Debug, Default)]
pub(crate) struct PatternScratch {
    cache: Option<pikevm::Cache>,
    /// A machine without states; a reset with it clears the cache.
    blank: Option<PikeVM>,
    slots: Vec<Option<NonMaxUsize>>,
}

impl Pattern {
    pub(crate) fn build(text: &str, form: RegexMatchMode, groups: Groups) -> Result<Self, RouteProblem> {
        Self::of_syntax(text, parse(text, text, form)?, form, groups)
    }

    /// Builds a pattern from parsed syntax.
    pub(crate) fn of_syntax(
        text: &str,
        hir: Hir,
        form: RegexMatchMode,
        groups: Groups,
    ) -> Result<Self, RouteProblem> {
        let too_large = || RouteProblem::RegexTooLarge { pattern: text.to_owned() };
        let (prefix, suffix) = literal_ends(&hir, form);
        let captures = if groups == Groups::Captured { WhichCaptures::All } else { WhichCaptures::None };
        let nfa = thompson::Compiler::new()
            .configure(nfa_config(captures, NFA_BYTES_MAX))
            .build_from_hir(&whole(hir, form))
            .map_err(|_| too_large())?;
        // Invariant: failure only means that the automaton is large or uses Unicode word boundaries; a simulation
        // handles both.
        let config = automaton_config(AUTOMATON_BYTES_MAX, AUTOMATON_BUILD_BYTES_MAX);
        let automaton = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok();
        if automaton.is_none() && nfa.memory_usage() > SIMULATED_BYTES_MAX {
            return Err(too_large());
        }
        let needs_machine = automaton.is_none() || groups == Groups::Captured;
        let machine =
            if needs_machine { Some(PikeVM::new_from_nfa(nfa).map_err(|_| too_large())?) } else { None };
        let state_after_prefix =
            automaton.as_ref().and_then(|automaton| walk(automaton, start_state(automaton)?, &prefix));
        Ok(Self { text: text.into(), form, prefix, suffix, automaton, state_after_prefix, machine })
    }

    /// Builds an internal expression of which only the matched language is needed; `None` if it is too large.
    pub(crate) fn build_plain(text: &str) -> Option<Self> {
        Self::build(text, RegexMatchMode::Whole, Groups::Ignored).ok()
    }

    /// Returns the automaton, unless it would be large.
    pub(super) fn automaton(&self) -> Option<&dense::DFA<Vec<u32>>> {
        self.automaton.as_ref()
    }

    /// Returns the automaton and its state after the prefix, unless the automaton would be large.
    pub(crate) fn entry(&self) -> Option<(&dense::DFA<Vec<u32>>, StateID)> {
        Some((self.automaton.as_ref()?, self.state_after_prefix?))
    }

    /// Returns the expression as written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the matching mode.
    pub(crate) fn form(&self) -> RegexMatchMode {
        self.form
    }

    /// Returns the syntax of an anchored expression for whole values with the same matches.
    pub(super) fn whole(&self) -> Result<Hir, RouteProblem> {
        parse(&self.text, &self.text, self.form).map(|hir| whole(hir, self.form))
    }

    /// Returns literal texts that every matching value contains, except its literal prefix.
    pub(crate) fn required_literals(&self) -> Vec<Box<[u8]>> {
        let Ok(hir) = parse(&self.text, &self.text, self.form) else { return Vec::new() };
        let mut texts = Vec::new();
        push_texts(&hir, 0, &mut texts);
        if texts.first().is_some_and(|text| !self.prefix.is_empty() && self.prefix.starts_with(text)) {
            texts.remove(0);
        }
        texts.into_iter().filter(|text| text.len() >= TEXT_BYTES_MIN).map(Into::into).collect()
    }

    /// Whether the expression matches the value.
    pub(crate) fn matches(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        if !self.suffix.is_empty() && !value.ends_with(&self.suffix) {
            return false;
        }
        match (&self.automaton, &self.machine) {
            (Some(automaton), _) => {
                let rest = value.strip_prefix(&*self.prefix);
                let end = rest.and_then(|rest| walk(automaton, self.state_after_prefix?, rest));
                end.is_some_and(|state| automaton.is_match_state(automaton.next_eoi_state(state)))
            }
            (None, Some(machine)) => {
                scratch.slots.clear();
                scratch.search(machine, value)
            }
            (None, None) => unreachable!("a pattern without automaton is built with its machine"),
        }
    }

    /// Finds the capture groups of a matching value; read them with [`PatternScratch::group`].
    pub(crate) fn find_groups(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        scratch.slots.clear();
        let Some(machine) = &self.machine else { return false };
        scratch.slots.resize(machine.get_nfa().group_info().slot_len(), None);
        scratch.search(machine, value)
    }

    /// Returns number and name of each group except the whole match; only if groups were wanted.
    pub(crate) fn group_names(&self) -> Vec<(usize, Option<&str>)> {
        let Some(machine) = &self.machine else { return Vec::new() };
        machine.get_nfa().group_info().pattern_names(PatternID::ZERO).enumerate().skip(1).collect()
    }

    /// Returns the common literal prefix of all matching values.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Returns the common literal suffix of all matching values.
    pub(crate) fn suffix(&self) -> &[u8] {
        &self.suffix
    }
}

impl PartialEq for Pattern {
    /// Whether both have the same text and mode.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.form == other.form
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Pattern").field(&self.text).finish()
    }
}

impl PatternScratch {
    /// Returns the position of a group in the last search; empty if it did not take part.
    pub(crate) fn group(&self, number: usize) -> Range<usize> {
        let group = slot(&self.slots, number * 2).zip(slot(&self.slots, number * 2 + 1));
        group.map_or(0..0, |(start, end)| start..end)
    }

    /// Returns the scratch memory for searches of a machine, with `slots` slots.
    pub(super) fn machine(
        &mut self,
        machine: &PikeVM,
        slots: usize,
    ) -> (&mut pikevm::Cache, &mut [Option<NonMaxUsize>]) {
        self.slots.clear();
        self.slots.resize(slots, None);
        self.prepare(machine)
    }

    fn search(&mut self, machine: &PikeVM, value: &[u8]) -> bool {
        let (cache, slots) = self.prepare(machine);
        let input = Input::new(value).anchored(Anchored::Yes);
        machine.search_slots(cache, &input, slots).is_some()
    }

    fn prepare(&mut self, machine: &PikeVM) -> (&mut pikevm::Cache, &mut [Option<NonMaxUsize>]) {
        let cache = match (&mut self.cache, &self.blank) {
            (Some(cache), Some(blank)) => {
                // A reset alone keeps groups of another machine's search, which would then appear as found by this one.
                cache.reset(blank);
                cache.reset(machine);
                cache
            }
            (cache, _) => {
                self.blank = PikeVM::never_match().ok();
                cache.insert(machine.create_cache())
            }
        };
        (cache, &mut self.slots)
    }
}

/// Returns an offset that a search found: the start or end of a group.
pub(super) fn slot(found: &[Option<NonMaxUsize>], at: usize) -> Option<usize> {
    found.get(at).copied().flatten().map(NonMaxUsize::get)
}

/// Parses an expression for whole values.
pub(super) fn parse_whole(text: &str) -> Result<Hir, RouteProblem> {
    parse(text, text, RegexMatchMode::Whole)
}

/// Parses an expression over bytes instead of characters, so that classes such as `\d` are small and mean ASCII.
/// `written` is its text in the problem.
pub(crate) fn parse(text: &str, written: &str, form: RegexMatchMode) -> Result<Hir, RouteProblem> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .case_insensitive(form == RegexMatchMode::UnanchoredCaseless)
        .nest_limit(NEST_MAX)
        .build();
    parser
        .parse(text)
        .map_err(|error| RouteProblem::Regex { pattern: written.to_owned(), reason: reason_of(&error) })
}

/// Returns the parser's message on one line.
fn reason_of(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        _ => "it cannot be parsed".to_owned(),
    }
}

/// Returns the expression extended to match from the first byte of the value to the last.
fn whole(hir: Hir, form: RegexMatchMode) -> Hir {
    if form == RegexMatchMode::Whole {
        return Hir::concat(vec![hir, Hir::look(Look::End)]);
    }
    let anything = |greedy| {
        Hir::repetition(Repetition { min: 0, max: None, greedy, sub: Box::new(Hir::dot(Dot::AnyByte)) })
    };
    let mut parts = Vec::with_capacity(4);
    if !hir.properties().look_set_prefix().contains(Look::Start) {
        // Groups must hold the leftmost match.
        parts.push(anything(false));
    }
    parts.extend([hir, anything(true), Hir::look(Look::End)]);
    Hir::concat(parts)
}

/// Collects literal texts that every match of an expression contains, in their order.
fn push_texts<'h>(hir: &'h Hir, depth: u32, texts: &mut Vec<&'h [u8]>) {
    match hir.kind() {
        HirKind::Literal(literal) => texts.push(&literal.0),
        HirKind::Capture(capture) if depth < NEST_MAX => push_texts(&capture.sub, depth + 1, texts),
        HirKind::Repetition(repetition) if repetition.min > 0 && depth < NEST_MAX => {
            push_texts(&repetition.sub, depth + 1, texts);
        }
        HirKind::Concat(parts) if depth < NEST_MAX => {
            parts.iter().for_each(|part| push_texts(part, depth + 1, texts));
        }
        HirKind::Empty
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Alternation(_)
        | HirKind::Repetition(_)
        | HirKind::Capture(_)
        | HirKind::Concat(_) => {}
    }
}

/// Returns the common literal prefix and suffix of all matching values.
fn literal_ends(hir: &Hir, form: RegexMatchMode) -> (Box<[u8]>, Box<[u8]>) {
    let properties = hir.properties();
    let is_whole = form == RegexMatchMode::Whole;
    let (mut prefix, mut suffix) = (Box::default(), Box::default());
    if is_whole || properties.look_set_prefix().contains(Look::Start) {
        prefix = Extractor::new().extract(hir).longest_common_prefix().unwrap_or_default().into();
    }
    if is_whole || properties.look_set_suffix().contains(Look::End) {
        let suffixes = Extractor::new().kind(ExtractKind::Suffix).extract(hir);
        suffix = suffixes.longest_common_suffix().unwrap_or_default().into();
    }
    (prefix, suffix)
}

/// Returns the settings of the compilation of expressions to at most this size.
pub(super) fn nfa_config(captures: WhichCaptures, bytes_max: usize) -> thompson::Config {
    thompson::Config::new().utf8(false).which_captures(captures).nfa_size_limit(Some(bytes_max))
}

/// Returns the settings of an automaton at most of this size, built with at most `build_bytes_max` of memory.
pub(super) fn automaton_config(bytes_max: usize, build_bytes_max: usize) -> dense::Config {
    dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .accelerate(false)
        .dfa_size_limit(Some(bytes_max))
        .determinize_size_limit(Some(build_bytes_max))
}

/// Returns the state before the first byte.
pub(super) fn start_state(automaton: &dense::DFA<Vec<u32>>) -> Option<StateID> {
    automaton.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()
}

/// Returns the state after these bytes; `None` if no value with this beginning matches.
pub(super) fn walk(automaton: &dense::DFA<Vec<u32>>, mut state: StateID, bytes: &[u8]) -> Option<StateID> {
    for &byte in bytes {
        state = automaton.next_state(state, byte);
        if automaton.is_dead_state(state) {
            return None;
        }
    }
    Some(state)
}

/// Maximum size of a pattern's automaton; path patterns need some kilobytes.
const AUTOMATON_BYTES_MAX: usize = 256 << 10;

/// Maximum memory while an automaton is built; it also limits the time, to some milliseconds.
const AUTOMATON_BUILD_BYTES_MAX: usize = 256 << 10;

/// Maximum size of an expression.
pub(super) const NFA_BYTES_MAX: usize = 256 << 10;

/// Maximum size of an expression that is simulated at each search, which limits the cost per byte of the value.
pub(super) const SIMULATED_BYTES_MAX: usize = 16 << 10;

/// Minimum length of a text that is worth searching for.
const TEXT_BYTES_MIN: usize = 2;

/// Maximum nesting of an expression.
const NEST_MAX: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_every_match_contains_are_required() {
        for (expression, expected) in [
            ("/a.*(?:bcd)?", &[][..]),
            ("/a.*(?:bcd)*ef", &["ef"]),
            ("/a.*(?:bcd)+ef.*g", &["bcd", "ef"]),
            ("/a.*(?:bcd|ef).*gh", &["gh"]),
        ] {
            let pattern = Pattern::build(expression, RegexMatchMode::Whole, Groups::Ignored).unwrap();
            let required = pattern.required_literals();
            let texts: Vec<_> = required.iter().map(|text| std::str::from_utf8(text).unwrap()).collect();
            assert_eq!(texts, expected, "{expression}");
        }
    }
}
