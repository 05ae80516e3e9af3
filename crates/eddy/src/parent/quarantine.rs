//! Filters that the next gateway process must not call, because earlier processes died in them.

use crate::control::{QuarantineLimits, Quarantined};

/// Recent crashes with their suspects, and the quarantined filters.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    deaths: Vec<CrashRecord>,
    /// Quarantined filters.
    pub(super) held: Vec<Quarantined>,
}

/// Crash with the filters that may have caused it.
#[derive(Debug)]
struct CrashRecord {
    at_ms: u64,
    suspects: Vec<Suspect>,
}

/// Filter that may have caused a crash, by name and version: a changed filter starts anew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Suspect {
    /// Filter name in the configuration.
    pub(super) name: String,
    /// Version, which changes with its configuration and its library.
    pub(super) version: String,
}

impl Quarantine {
    /// Restores the quarantined filters of the previous image of the parent.
    pub(super) fn adopt(held: Vec<Quarantined>) -> Self {
        Self { deaths: Vec::new(), held }
    }

    /// Records a crash at `now_ms` and returns the filters that are quarantined because of it.
    ///
    /// When several workers were in filters, each of these is a suspect; filters that were more often the only suspect
    /// weigh more.
    pub(super) fn record_crash(
        &mut self,
        now_ms: u64,
        suspects: Vec<Suspect>,
        limits: QuarantineLimits,
    ) -> Vec<Quarantined> {
        if limits.deaths == 0 || suspects.is_empty() {
            return Vec::new();
        }
        self.deaths.push(CrashRecord { at_ms: now_ms, suspects });
        self.deaths.retain(|death| now_ms.saturating_sub(death.at_ms) < limits.within_ms);
        let mut all: Vec<Suspect> =
            self.deaths.iter().flat_map(|death| death.suspects.iter().cloned()).collect();
        all.sort();
        all.dedup();
        let of = |suspect: &Suspect| {
            let deaths = self.deaths.iter().filter(|death| death.suspects.contains(suspect));
            deaths.fold((0_u32, 0_usize), |(count, weight), death| {
                (count.saturating_add(1), weight.saturating_add(WHOLE / death.suspects.len().max(1)))
            })
        };
        let mut guilty: Vec<(Suspect, u32, usize)> = all
            .into_iter()
            .map(|suspect| {
                let (count, weight) = of(&suspect);
                (suspect, count, weight)
            })
            .filter(|(_, count, _)| *count >= limits.deaths)
            .collect();
        let most = guilty.iter().map(|(.., weight)| *weight).max().unwrap_or(0);
        guilty.retain(|(.., weight)| *weight == most);
        for (suspect, ..) in &guilty {
            self.held.retain(|held| held.name != suspect.name);
            for death in &mut self.deaths {
                death.suspects.retain(|other| other != suspect);
            }
        }
        self.deaths.retain(|death| !death.suspects.is_empty());
        let until_ms = now_ms.saturating_add(limits.time_ms);
        let fresh: Vec<Quarantined> = guilty
            .into_iter()
            .map(|(Suspect { name, version }, deaths, _)| Quarantined { name, version, deaths, until_ms })
            .collect();
        self.held.extend(fresh.iter().cloned());
        fresh
    }

    /// Ends the quarantine of filters whose time is over, and returns their names.
    pub(super) fn release(&mut self, now_ms: u64) -> Vec<String> {
        let (kept, released) =
            std::mem::take(&mut self.held).into_iter().partition(|held: &Quarantined| held.until_ms > now_ms);
        self.held = kept;
        released.into_iter().map(|held| held.name).collect()
    }
}

/// Weight of a crash with one suspect; several suspects share it.
const WHOLE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: QuarantineLimits = QuarantineLimits { deaths: 3, within_ms: 1000, time_ms: 500 };

    fn suspects(names: &[&str]) -> Vec<Suspect> {
        names.iter().map(|name| Suspect { name: (*name).to_owned(), version: "1".to_owned() }).collect()
    }

    fn names(held: &[Quarantined]) -> Vec<&str> {
        held.iter().map(|held| &*held.name).collect()
    }

    #[test]
    fn crashes_in_one_filter_quarantine_it_for_the_configured_time() {
        let mut quarantine = Quarantine::default();
        assert!(quarantine.record_crash(0, suspects(&["a"]), LIMITS).is_empty());
        assert!(quarantine.record_crash(10, suspects(&["b"]), LIMITS).is_empty());
        assert!(quarantine.record_crash(20, suspects(&["a"]), LIMITS).is_empty());
        let fresh = quarantine.record_crash(30, suspects(&["a"]), LIMITS);
        assert_eq!((names(&fresh), fresh[0].deaths, fresh[0].until_ms), (vec!["a"], 3, 530));
        assert_eq!(names(&quarantine.held), ["a"]);
        assert!(quarantine.release(529).is_empty());
        assert_eq!(quarantine.release(530), ["a"]);
        // It starts anew: its old crashes are forgotten.
        assert!(quarantine.record_crash(540, suspects(&["a"]), LIMITS).is_empty());
        assert!(quarantine.held.is_empty());
    }

    #[test]
    fn rare_crashes_quarantine_no_filter() {
        let mut quarantine = Quarantine::default();
        for death in 0..100 {
            assert!(quarantine.record_crash(death * 500, suspects(&["a"]), LIMITS).is_empty(), "{death}");
        }
    }

    #[test]
    fn a_changed_filter_starts_with_a_clean_record() {
        let mut quarantine = Quarantine::default();
        for version in ["1", "1", "2", "2"] {
            let suspect = Suspect { name: "a".to_owned(), version: version.to_owned() };
            assert!(quarantine.record_crash(0, vec![suspect], LIMITS).is_empty());
        }
    }

    #[test]
    fn an_uninvolved_filter_is_not_quarantined_but_two_indistinguishable_ones_are() {
        let mut quarantine = Quarantine::default();
        quarantine.record_crash(0, suspects(&["busy", "guilty"]), LIMITS);
        quarantine.record_crash(1, suspects(&["guilty"]), LIMITS);
        assert_eq!(
            names(&quarantine.record_crash(2, suspects(&["busy", "guilty"]), LIMITS)),
            ["guilty"],
            "the bystander was seen twice"
        );
        // The bystander has fewer crashes than the limit, and those it shares with the guilty filter are attributed to
        // that one.
        let mut quarantine = Quarantine::default();
        quarantine.record_crash(0, suspects(&["guilty"]), LIMITS);
        for _ in 0..2 {
            quarantine.record_crash(0, suspects(&["busy", "guilty"]), LIMITS);
        }
        assert_eq!(names(&quarantine.held), ["guilty"]);
        let mut quarantine = Quarantine::default();
        for _ in 0..3 {
            quarantine.record_crash(0, suspects(&["one", "two"]), LIMITS);
        }
        assert_eq!(names(&quarantine.held), ["one", "two"]);
    }

    #[test]
    fn quarantine_can_be_turned_off() {
        let mut quarantine = Quarantine::default();
        for _ in 0..100 {
            let off = QuarantineLimits { deaths: 0, ..LIMITS };
            assert!(quarantine.record_crash(0, suspects(&["a"]), off).is_empty());
            assert!(quarantine.record_crash(0, Vec::new(), LIMITS).is_empty());
        }
    }
}
