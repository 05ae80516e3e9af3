//! The join of both journals.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::load::{ClientJournalEntry, RequestOutcome};
use super::origin::OriginJournalEntry;

/// What became of all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalSummary {
    /// Requests that were sent.
    pub sent: u64,
    /// Requests that came once and were answered.
    pub clean: u64,
    /// Requests whose client got an answer, or no connection error, though they never came.
    pub lost: u64,
    /// POSTs that came more than once.
    pub duplicated: u64,
    /// GETs that came more than once: a gateway may repeat those.
    pub repeated: u64,
    /// Requests or answers that were altered on the way.
    pub altered: u64,
    /// Answers to somebody else's request.
    pub crossed: u64,
    /// Requests at the origin that nobody sent.
    pub foreign: u64,
    /// Requests that were not answered as they should be, by outcome.
    pub failed: BTreeMap<RequestOutcome, u64>,
    /// Requests that failed though they came.
    pub unanswered: u64,
    /// The first requests with something wrong.
    pub examples: Vec<String>,
}

impl JournalSummary {
    /// Joins what clients sent and what the origin saw.
    pub fn join(sent: &[ClientJournalEntry], seen: &HashMap<u64, OriginJournalEntry>, foreign: u64) -> Self {
        let mut verdict = Self { sent: sent.len() as u64, foreign, ..Self::default() };
        for one in sent {
            let seen = seen.get(&one.id).copied().unwrap_or_default();
            if verdict.judge(one, seen) {
                verdict.clean += 1;
            } else if verdict.examples.len() < EXAMPLES {
                verdict.examples.push(format!("{one:?} {seen:?}"));
            }
        }
        let known: std::collections::HashSet<u64> = sent.iter().map(|one| one.id).collect();
        verdict.foreign += seen.keys().filter(|id| !known.contains(id)).count() as u64;
        verdict
    }

    fn judge(&mut self, one: &ClientJournalEntry, seen: OriginJournalEntry) -> bool {
        let mut is_clean = one.outcome == RequestOutcome::Answered;
        match one.outcome {
            RequestOutcome::Answered => {}
            RequestOutcome::Crossed => self.crossed += 1,
            RequestOutcome::Altered => self.altered += 1,
            RequestOutcome::Status(_)
            | RequestOutcome::Cut
            | RequestOutcome::Refused
            | RequestOutcome::Reset
            | RequestOutcome::ResetReused
            | RequestOutcome::Late => {
                *self.failed.entry(one.outcome).or_default() += 1;
                self.unanswered += u64::from(seen.count > 0);
            }
        }
        if seen.count == 0 && one.outcome == RequestOutcome::Answered {
            self.lost += 1;
            is_clean = false;
        }
        if seen.count > 1 {
            *(if one.is_post { &mut self.duplicated } else { &mut self.repeated }) += 1;
            is_clean &= !one.is_post;
        }
        if seen.count > 0 && seen.hash != one.hash && one.outcome != RequestOutcome::Altered {
            self.altered += 1;
            is_clean = false;
        }
        is_clean
    }

    /// Requests that failed, whatever the way.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    /// How many requests ended with `outcome`.
    pub fn count(&self, outcome: RequestOutcome) -> u64 {
        self.failed.get(&outcome).copied().unwrap_or_default()
    }

    /// Whether every request came exactly once and was answered.
    pub fn is_exactly_once(&self) -> bool {
        self.is_unharmed() && self.failures() == 0 && self.lost == 0
    }

    /// Whether nothing was duplicated, altered or crossed; requests may have failed.
    pub fn is_unharmed(&self) -> bool {
        self.duplicated + self.altered + self.crossed + self.foreign == 0
    }
}

impl fmt::Display for JournalSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} sent, {} clean; {} lost, {} duplicated ({} GETs repeated), {} altered, {} crossed, {} foreign; \
             {} failed ({} of them came)",
            self.sent,
            self.clean,
            self.lost,
            self.duplicated,
            self.repeated,
            self.altered,
            self.crossed,
            self.foreign,
            self.failures(),
            self.unanswered
        )?;
        for (outcome, count) in &self.failed {
            write!(f, "; {outcome:?} {count}")?;
        }
        // The chance of a failure a request, with 95 % confidence, when none was seen in so many.
        if self.failures() == 0 && self.sent > 0 {
            write!(f, "; 95 % bound 3/{}", self.sent)?;
        }
        for example in &self.examples {
            write!(f, "\n    {example}")?;
        }
        Ok(())
    }
}

const EXAMPLES: usize = 8;
