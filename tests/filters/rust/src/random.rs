//! Filter that takes a random action in each hook and checks that it never sees data of another exchange.
//!
//! Each exchange has a word, `(word` with 16 digits and `)`, in the `x-word` header of its request. When a filter sees
//! the
//! word of another exchange, it increments `eddy_filter_wrong` and logs an error.

use std::hash::{DefaultHasher, Hash, Hasher};

use eddy_sdk::prelude::*;
use eddy_sdk::{Counter, End};

use crate::pool::{PendingPause, put};

pub(crate) struct RandomFilter {
    name: String,
    steps: Counter,
    wrong: Counter,
}

/// State of the filter for one exchange.
#[derive(Default)]
pub(crate) struct RandomFilterState {
    word: String,
    hooks: u64,
}

type X<'a> = Exchange<'a, RandomFilterState>;

impl Filter for RandomFilter {
    type Config = String;
    type State = RandomFilterState;

    const INTEREST: Interest = Interest::of(&[
        Phase::RequestHead,
        Phase::RequestBody,
        Phase::RequestTrailers,
        Phase::ResponseHead,
        Phase::ResponseBody,
        Phase::ResponseTrailers,
        Phase::Log,
    ]);

    fn new(name: String, context: &Context) -> Result<Self, String> {
        let counter = |name| context.counter(name).map_err(|error| error.to_string());
        Ok(Self { name, steps: counter("steps")?, wrong: counter("wrong")? })
    }

    fn request_head(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn request_body(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn request_trailers(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn response_head(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn response_body(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn response_trailers(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        self.hook(x)
    }

    fn log(&self, x: &mut X<'_>) {
        self.look(x);
    }

    fn ended(&self, kept: RandomFilterState, _: End) {
        self.steps.increment();
        if kept.hooks == 0 || !is_word(kept.word.as_bytes()) {
            self.wrong.increment();
        }
    }
}

impl RandomFilter {
    /// Searches everything visible for words of other exchanges, and returns the exchange's own word.
    fn look(&self, x: &mut X<'_>) -> String {
        self.steps.increment();
        let word = x.request().get_str("x-word").unwrap_or_default().to_owned();
        let trailers = matches!(x.phase(), Phase::RequestTrailers | Phase::ResponseTrailers);
        let mut strangers = stranger(x.body(), &word) || stranger(x.target(), &word);
        strangers |= x.request().fields().any(|field| stranger(field.value, &word));
        strangers |= x.response().fields().any(|field| stranger(field.value, &word));
        strangers |= trailers && x.trailers().fields().any(|field| stranger(field.value, &word));
        let kept = x.state();
        strangers |= !kept.word.is_empty() && kept.word != word;
        kept.word.clone_from(&word);
        kept.hooks += 1;
        if strangers || !is_word(word.as_bytes()) {
            self.wrong.increment();
            eddy_sdk::error!(x, "{word} meets what is not its own in {:?}", x.phase());
        }
        word
    }

    fn hook(&self, x: &mut X<'_>) -> Result<Verdict, Fault> {
        let word = self.look(x);
        let hooks = x.state().hooks;
        let draw = draw(&(&self.name, &word, hooks));
        let is_head = matches!(x.phase(), Phase::RequestHead | Phase::ResponseHead);
        let is_body = matches!(x.phase(), Phase::RequestBody | Phase::ResponseBody);
        match draw % 97 {
            0..=11 => {
                let (verdict, paused) = x.pause();
                put(PendingPause { paused, word, draw: draw >> 8, is_head });
                return Ok(verdict);
            }
            12..=17 => {
                return x.elsewhere(move |x| {
                    let seen = x.request().get_str("x-word").unwrap_or_default();
                    if seen != word || x.state().word != word {
                        return Err(Fault::new("a copy of another's"));
                    }
                    if is_head {
                        x.add("x-mark", &word)?;
                    }
                    Ok(Verdict::Continue)
                });
            }
            18..=21 if (is_head || is_body) && !x.is_buffered() => return Ok(Verdict::Buffer),
            22 | 23 => return Ok(Reply::new(403).field("x-reply", &word).body(word).into()),
            24 => return Ok(Verdict::Reset),
            25 => return Err(Fault::new("drawn")),
            26..=55 if is_head => x.add("x-mark", &word)?,
            26..=35 if is_body => x.append_body(&word)?,
            36..=45 if is_body => x.prepend_body(&word)?,
            46..=49 if is_body => x.set_body(&word)?,
            _ => {}
        }
        Ok(Verdict::Continue)
    }
}

fn draw(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn is_word(bytes: &[u8]) -> bool {
    bytes.len() == WORD_BYTES && bytes.starts_with(MARK) && bytes.ends_with(b")")
}

/// Whether these bytes contain the word of another exchange.
fn stranger(bytes: &[u8], own: &str) -> bool {
    bytes.windows(WORD_BYTES).any(|window| is_word(window) && window != own.as_bytes())
}

const MARK: &[u8] = b"(word";
const WORD_BYTES: usize = 22;
