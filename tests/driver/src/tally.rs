//! Counts of passed, failed and skipped tests.

use std::collections::BTreeSet;

use test_peers::{Notice, NoticeKind};

/// Results of a set of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestTally {
    /// Number of passed tests. Includes skipped tests until their notices are added.
    pub(crate) passed: usize,
    /// Names of failed tests and checks.
    pub(crate) failed: Vec<String>,
    /// Tests that did not run, each with the reason.
    pub(crate) skipped: Vec<Skip>,
    /// Tests that ran without one of their parts.
    pub(crate) partial: Vec<Skip>,
    /// Tests that ran with recorded answers of a missing peer.
    pub(crate) recorded: Vec<Skip>,
}

/// A test that did not run in full.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Skip {
    /// Reason why it did not run in full.
    pub(crate) reason: String,
    /// Command that makes it run.
    pub(crate) remedy: String,
    /// Name of the test.
    pub(crate) test: String,
}

impl TestTally {
    /// Returns the result of one failed check.
    pub(crate) fn one_failed(name: String) -> Self {
        Self { failed: vec![name], ..Self::default() }
    }

    /// Returns the result of one skipped check.
    pub(crate) fn one_skipped(skip: Skip) -> Self {
        Self { skipped: vec![skip], ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.partial.extend(other.partial);
        self.recorded.extend(other.recorded);
    }

    /// Adds the notices of tests. The harness has counted a test that skipped itself as passed.
    pub(crate) fn add_notices(&mut self, notices: impl Iterator<Item = Notice>) {
        let failed: BTreeSet<&String> = self.failed.iter().collect();
        let mut tests = BTreeSet::new();
        let (mut skipped, mut partial, mut recorded) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for Notice { kind, test, missing, remedy } in notices {
            if kind == NoticeKind::Skipped && !failed.contains(&test) {
                tests.insert(test.clone());
            }
            let skip = Skip { reason: missing, remedy, test };
            match kind {
                NoticeKind::Skipped => skipped.insert(skip),
                NoticeKind::Partial => partial.insert(skip),
                NoticeKind::Recorded => recorded.insert(skip),
            };
        }
        self.passed = self.passed.saturating_sub(tests.len());
        self.skipped.extend(skipped);
        self.partial.extend(partial);
        self.recorded.extend(recorded);
    }

    /// Number of skipped tests; a test that lacks two peers counts once.
    pub(crate) fn skipped_count(&self) -> usize {
        let failed: BTreeSet<&String> = self.failed.iter().collect();
        let tests: BTreeSet<&String> = self.skipped.iter().map(|skip| &skip.test).collect();
        tests.difference(&failed).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(kind: NoticeKind, test: &str, missing: &str) -> Notice {
        Notice { kind, test: test.to_owned(), missing: missing.to_owned(), remedy: "get it".to_owned() }
    }

    #[test]
    fn a_test_that_skipped_itself_has_not_passed() {
        let mut tally = TestTally { passed: 5, failed: vec!["p::c".to_owned()], ..TestTally::default() };
        let notices = [
            notice(NoticeKind::Skipped, "p::a", "nginx"),
            notice(NoticeKind::Skipped, "p::a", "h2load"),
            notice(NoticeKind::Skipped, "p::a", "nginx"),
            notice(NoticeKind::Recorded, "p::b", "Envoy"),
            notice(NoticeKind::Partial, "p::d", "curl"),
            notice(NoticeKind::Skipped, "p::c", "nginx"),
        ];
        tally.add_notices(notices.into_iter());
        assert_eq!((tally.passed, tally.failed.len(), tally.skipped_count()), (4, 1, 1));
        assert_eq!((tally.skipped.len(), tally.partial.len(), tally.recorded.len()), (3, 1, 1));
    }
}
