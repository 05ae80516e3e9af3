//! Backtracking pattern matcher: matching time can grow with any power of the subject's length.

use super::class::class_has;
use super::{set_end, set_has};

/// Matcher of one pattern against one subject.
pub(super) struct Matcher<'t> {
    subject: &'t [u8],
    pattern: &'t [u8],
    captures: [Capture; CAPTURES_MAX],
    captures_len: usize,
    depth: usize,
    /// Steps since the last check of the CPU time.
    steps: usize,
    is_over: fn() -> bool,
}

/// Reason why a match was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchAbort {
    /// The CPU time is used up.
    Over,
    /// The pattern is invalid or too complex; holds the message.
    Pattern(&'static str),
}

/// Value of a capture: a part of the subject, or a position in it, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Captured<'t> {
    Text(&'t [u8]),
    Position(usize),
}

#[derive(Clone, Copy)]
struct Capture {
    start: usize,
    end: CaptureEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaptureEnd {
    Open,
    Position,
    At(usize),
}

type MatchResult = Result<Option<usize>, MatchAbort>;

impl<'t> Matcher<'t> {
    /// Creates a matcher; `is_over` is called now and then and aborts the match if it returns `true`.
    pub(super) fn new(subject: &'t [u8], pattern: &'t [u8], is_over: fn() -> bool) -> Self {
        let captures = [Capture { start: 0, end: CaptureEnd::Open }; CAPTURES_MAX];
        Self { subject, pattern, captures, captures_len: 0, depth: 0, steps: 0, is_over }
    }

    /// Returns the end of a match that begins at `at`.
    pub(super) fn match_at(&mut self, at: usize) -> MatchResult {
        self.captures_len = 0;
        self.depth = 0;
        self.go(at, 0)
    }

    /// Returns start and end of the first match at or after `from`.
    pub(super) fn search(&mut self, from: usize) -> Result<Option<(usize, usize)>, MatchAbort> {
        for start in from..=self.subject.len() {
            if let Some(end) = self.match_at(start)? {
                return Ok(Some((start, end)));
            }
        }
        Ok(None)
    }

    /// Returns the number of captures of the last match.
    pub(super) fn captures_len(&self) -> usize {
        self.captures_len
    }

    /// Returns a capture of the last match.
    pub(super) fn capture(&self, index: usize) -> Result<Captured<'t>, MatchAbort> {
        let capture = self.captures[..self.captures_len].get(index).ok_or(INVALID_CAPTURE)?;
        match capture.end {
            CaptureEnd::Open => Err(MatchAbort::Pattern("unfinished capture")),
            CaptureEnd::Position => Ok(Captured::Position(capture.start)),
            CaptureEnd::At(end) => Ok(Captured::Text(&self.subject[capture.start..end])),
        }
    }

    fn go(&mut self, at: usize, item: usize) -> MatchResult {
        if self.depth == DEPTH_MAX {
            return Err(MatchAbort::Pattern("pattern too complex"));
        }
        self.depth += 1;
        let found = self.walk(at, item);
        self.depth -= 1;
        found
    }

    /// Matches the pattern's items from `item` on, one after the other, without recursion where there is no
    /// alternative.
    fn walk(&mut self, mut at: usize, mut item: usize) -> MatchResult {
        loop {
            self.count(1)?;
            let rest = &self.pattern[item..];
            match rest {
                [] => return Ok(Some(at)),
                [b'(', b')', ..] => return self.open(at, item + 2, CaptureEnd::Position),
                [b'(', ..] => return self.open(at, item + 1, CaptureEnd::Open),
                [b')', ..] => return self.close(at, item + 1),
                [b'$'] => return Ok((at == self.subject.len()).then_some(at)),
                [b'%', b'b', ends @ ..] => {
                    let Some(end) = self.balanced(at, ends)? else { return Ok(None) };
                    (at, item) = (end, item + 4);
                    continue;
                }
                [b'%', b'f', ..] => {
                    let end = self.frontier_end(item + 2)?;
                    if !self.is_frontier(at, item + 2, end)? {
                        return Ok(None);
                    }
                    item = end;
                    continue;
                }
                [b'%', digit @ b'0'..=b'9', ..] => {
                    let Some(end) = self.repeated(at, *digit)? else { return Ok(None) };
                    (at, item) = (end, item + 2);
                    continue;
                }
                _ => {}
            }
            let end = self.single_end(item)?;
            match self.pattern.get(end) {
                Some(b'?') => {
                    if self.is_single(at, item, end)?
                        && let Some(found) = self.go(at + 1, end + 1)?
                    {
                        return Ok(Some(found));
                    }
                    item = end + 1;
                }
                Some(b'+') if !self.is_single(at, item, end)? => return Ok(None),
                Some(b'+') => return self.most(at + 1, item, end),
                Some(b'*') => return self.most(at, item, end),
                Some(b'-') => return self.least(at, item, end),
                _ if !self.is_single(at, item, end)? => return Ok(None),
                _ => (at, item) = (at + 1, end),
            }
        }
    }

    /// Greedy repetition: as many as possible, then fewer.
    fn most(&mut self, at: usize, item: usize, end: usize) -> MatchResult {
        let mut last = at;
        match self.pattern[item] {
            b'.' => last = self.subject.len().max(at),
            b'%' => {
                let letter = self.pattern[item + 1];
                let rest = self.subject.get(at..).unwrap_or_default();
                last += rest.iter().position(|byte| !class_has(letter, *byte)).unwrap_or(rest.len());
                self.count(last - at)?;
            }
            _ => {
                while self.is_single(last, item, end)? {
                    last += 1;
                }
            }
        }
        for from in (at..=last).rev() {
            if let Some(found) = self.go(from, end + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Lazy repetition: none, then more.
    fn least(&mut self, mut at: usize, item: usize, end: usize) -> MatchResult {
        loop {
            if let Some(found) = self.go(at, end + 1)? {
                return Ok(Some(found));
            }
            if !self.is_single(at, item, end)? {
                return Ok(None);
            }
            at += 1;
        }
    }

    fn open(&mut self, at: usize, item: usize, end: CaptureEnd) -> MatchResult {
        let place =
            self.captures.get_mut(self.captures_len).ok_or(MatchAbort::Pattern("too many captures"))?;
        *place = Capture { start: at, end };
        self.captures_len += 1;
        let found = self.go(at, item)?;
        if found.is_none() {
            self.captures_len -= 1;
        }
        Ok(found)
    }

    fn close(&mut self, at: usize, item: usize) -> MatchResult {
        let opened =
            self.captures[..self.captures_len].iter().rposition(|capture| capture.end == CaptureEnd::Open);
        let index = opened.ok_or(MatchAbort::Pattern("invalid pattern capture"))?;
        self.captures[index].end = CaptureEnd::At(at);
        let found = self.go(at, item)?;
        if found.is_none() {
            self.captures[index].end = CaptureEnd::Open;
        }
        Ok(found)
    }

    /// Returns the end of the text between two bytes that may nest (`%b`), if it begins at `at`.
    fn balanced(&mut self, at: usize, ends: &[u8]) -> MatchResult {
        let [open, close, ..] = *ends else { return Err(MatchAbort::Pattern("unbalanced pattern")) };
        if self.subject.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut nested = 1_usize;
        for place in at + 1..self.subject.len() {
            self.count(1)?;
            let byte = self.subject[place];
            if byte == close {
                nested -= 1;
                if nested == 0 {
                    return Ok(Some(place + 1));
                }
            } else if byte == open {
                nested += 1;
            }
        }
        Ok(None)
    }

    fn frontier_end(&self, set: usize) -> Result<usize, MatchAbort> {
        if self.pattern.get(set) != Some(&b'[') {
            return Err(MatchAbort::Pattern("missing '[' after '%f' in pattern"));
        }
        self.single_end(set)
    }

    fn is_frontier(&mut self, at: usize, set: usize, end: usize) -> Result<bool, MatchAbort> {
        self.count(end - set)?;
        let set = &self.pattern[set..end];
        let before = at.checked_sub(1).map_or(0, |before| self.subject[before]);
        let here = self.subject.get(at).copied().unwrap_or(0);
        Ok(!set_has(set, before) && set_has(set, here))
    }

    /// Returns the end of a back reference: the text of an earlier capture, if it occurs here again.
    fn repeated(&mut self, at: usize, digit: u8) -> MatchResult {
        let index = usize::from(digit).checked_sub(usize::from(b'1')).ok_or(INVALID_CAPTURE)?;
        // A position capture has no text that could occur again.
        let Captured::Text(text) = self.capture(index).or(Err(INVALID_CAPTURE))? else { return Ok(None) };
        self.count(text.len() / 16)?;
        Ok(self.subject[at..].starts_with(text).then_some(at + text.len()))
    }

    /// Returns the end of an item that matches one byte.
    fn single_end(&self, item: usize) -> Result<usize, MatchAbort> {
        match self.pattern[item] {
            b'%' if item + 1 == self.pattern.len() => {
                Err(MatchAbort::Pattern("malformed pattern (ends with '%')"))
            }
            b'%' => Ok(item + 2),
            b'[' => set_end(self.pattern, item).ok_or(MatchAbort::Pattern("malformed pattern (missing ']')")),
            _ => Ok(item + 1),
        }
    }

    /// Whether the item matches the byte at `at`.
    #[inline]
    fn is_single(&mut self, at: usize, item: usize, end: usize) -> Result<bool, MatchAbort> {
        self.count(end - item)?;
        let Some(byte) = self.subject.get(at).copied() else { return Ok(false) };
        Ok(match self.pattern[item] {
            b'.' => true,
            b'%' => class_has(self.pattern[item + 1], byte),
            b'[' => set_has(&self.pattern[item..end], byte),
            own => own == byte,
        })
    }

    /// Counts steps, and checks the CPU time once in a while.
    #[inline]
    pub(super) fn count(&mut self, steps: usize) -> Result<(), MatchAbort> {
        self.steps += steps;
        if self.steps < STEPS_MAX {
            return Ok(());
        }
        self.steps = 0;
        if (self.is_over)() { Err(MatchAbort::Over) } else { Ok(()) }
    }
}

const INVALID_CAPTURE: MatchAbort = MatchAbort::Pattern("invalid capture index");
const CAPTURES_MAX: usize = 32;
/// Maximum nesting of items that wait for the match of the rest; bounds the stack.
const DEPTH_MAX: usize = 200;
/// A few microseconds of matching.
const STEPS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[track_caller]
    fn check(subject: &str, pattern: &str, expected: Result<Option<(usize, usize)>, MatchAbort>) {
        let mut matcher = Matcher::new(subject.as_bytes(), pattern.as_bytes(), || false);
        assert_eq!(matcher.search(0), expected, "`{subject}` `{pattern}`");
    }

    #[test]
    fn patterns_match_as_in_the_manual() {
        check("hello", "l+", Ok(Some((2, 4))));
        check("hello", "l-o", Ok(Some((2, 5))));
        check("hello", "x*", Ok(Some((0, 0))));
        check("hello", "o$", Ok(Some((4, 5))));
        check("a(b(c)d)e", "%b()", Ok(Some((1, 8))));
        check("THE (quick) fox", "%f[%a]%a+", Ok(Some((0, 3))));
        check("say \"hi\"", "([\"'])(.-)%1", Ok(Some((4, 8))));
        check("x]y", "[]]", Ok(Some((1, 2))));
        check("a-z", "[a%-]+", Ok(Some((0, 2))));
        check("", "^", Ok(None));
    }

    #[test]
    fn invalid_patterns_are_explained() {
        check("a", "%", Err(MatchAbort::Pattern("malformed pattern (ends with '%')")));
        check("a", "[a", Err(MatchAbort::Pattern("malformed pattern (missing ']')")));
        check("a", "[%", Err(MatchAbort::Pattern("malformed pattern (missing ']')")));
        check("a", "%b(", Err(MatchAbort::Pattern("unbalanced pattern")));
        check("a", "%fa", Err(MatchAbort::Pattern("missing '[' after '%f' in pattern")));
        check("a", "%1", Err(INVALID_CAPTURE));
        check("a", "a)", Err(MatchAbort::Pattern("invalid pattern capture")));
        check("a", &"()".repeat(33), Err(MatchAbort::Pattern("too many captures")));
        check(&"a".repeat(300), &"a?".repeat(300), Err(MatchAbort::Pattern("pattern too complex")));
    }

    thread_local! {
        static LOOKS: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn an_endless_match_is_aborted() {
        let subject = "a".repeat(10_000);
        for pattern in ["a*a*a*a*a*b", "a-a-a-a-b", "(a*)(a*)(a*)%1%2%3b", "[a-z]*[%w]*[a]*b"] {
            let mut matcher = Matcher::new(subject.as_bytes(), pattern.as_bytes(), || {
                LOOKS.set(LOOKS.get() + 1);
                LOOKS.get() == 5
            });
            LOOKS.set(0);
            assert_eq!(matcher.search(0), Err(MatchAbort::Over), "{pattern}");
        }
    }
}
