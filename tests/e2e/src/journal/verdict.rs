//! Comparison of the client journal with the origin journal.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::load::{ClientJournalEntry, RequestOutcome};
use super::origin::OriginJournalEntry;

/// Summary of all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalSummary {
    /// Requests sent.
    pub sent: u64,
    /// Requests that arrived once and were answered.
    pub clean: u64,
    /// Requests that never arrived, although the client got a response or no connection error.
    pub lost: u64,
    /// POSTs that arrived more than once.
    pub duplicated: u64,
    /// GETs that arrived more than once: a gateway may retry those.
    pub repeated: u64,
    /// Requests or responses that were altered in transit.
    pub altered: u64,
    /// Responses to another request.
    pub crossed: u64,
    /// Requests at the origin that no client sent.
    pub foreign: u64,
    /// Requests that were not answered correctly, by outcome.
    pub failed: BTreeMap<RequestOutcome, u64>,
    /// Requests that failed although they arrived.
    pub unanswered: u64,
    /// First requests with a problem.
    pub examples: Vec<String>,
}

impl JournalSummary {
    /// Compares what clients sent with what the origin received.
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
            RequestOutcome::OtherResponse => self.crossed += 1,
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

    /// Number of failed requests, of any outcome.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Number of requests that ended with `outcome`.
    pub fn count(&self, outcome: RequestOutcome) -> u64 {
        self.failed.get(&outcome).copied().unwrap_or_default()
    }

    /// Whether every request arrived exactly once and was answered.
    pub fn is_exactly_once(&self) -> bool {
        self.has_no_corruption() && self.failures() == 0 && self.lost == 0
    }

    /// Whether nothing was duplicated, altered or answered with another response; requests may have failed.
    pub fn has_no_corruption(&self) -> bool {
        self.duplicated + self.altered + self.crossed + self.foreign == 0
    }
}

impl fmt::Display for JournalSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} sent, {} clean; {} lost, {} duplicated ({} GETs repeated), {} altered, {} crossed, {} \
             foreign; {} failed ({} of them arrived)",
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
        // Upper bound of the failure probability per request, with 95 % confidence, when no failure was seen.
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
