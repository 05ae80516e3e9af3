//! Identifiers over several configurations, compared with a map.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::id::ClusterId;

type Parts = Slots<ClusterId, &'static str, u32>;

/// Makes the configuration after `last`.
fn next(last: &Parts, parts: &[(&'static str, u32)]) -> Parts {
    let mut draft = last.draft();
    for (key, value) in parts {
        draft.define(key, *value).unwrap();
    }
    draft.finish()
}

#[test]
fn adding_and_removing_renumbers_nothing() {
    let first = next(&Parts::default(), &[("a", 1), ("b", 2), ("c", 3)]);
    let second = next(&first, &[("d", 4), ("c", 3), ("a", 1)]);
    for key in ["a", "c"] {
        assert_eq!(first.id_of(key), second.id_of(key));
    }
    assert_eq!(second.id_of("b"), None);
    let order: Vec<u32> = second.values().map(|value| **value).collect();
    assert_eq!((order, second.len(), second.first().map(|first| **first)), (vec![4, 3, 1], 3, Some(4)));
    assert_eq!(format!("{:?}", first.id_of("b").unwrap()), "cluster#1.0");
}

#[test]
fn a_freed_slot_returns_with_another_generation() {
    let first = next(&Parts::default(), &[("a", 1), ("b", 2)]);
    let second = next(&first, &[("b", 2), ("c", 3)]);
    let third = next(&second, &[("b", 2), ("c", 3), ("d", 4)]);
    let ids = [first.id_of("a"), second.id_of("c"), third.id_of("d")].map(|id| format!("{:?}", id.unwrap()));
    assert_eq!(ids, ["cluster#0.0", "cluster#2.0", "cluster#0.1"]);
}

#[test]
fn a_removed_id_finds_nothing() {
    let first = next(&Parts::default(), &[("a", 1), ("b", 2)]);
    let id = first.id_of("a").unwrap();
    let mut last = first;
    for parts in [&[("b", 2)][..], &[("b", 2), ("c", 3)], &[("b", 2), ("c", 3), ("d", 4)]] {
        let now = next(&last, parts);
        assert_eq!((now.get(id), now.draft().get(id)), (None, None));
        last = now;
    }
}

#[test]
fn a_key_without_a_value_is_removed_with_its_id() {
    let empty = Parts::default();
    let mut draft = empty.draft();
    let (promised, defined) = (draft.reserve("a"), draft.reserve("b"));
    assert_eq!(draft.define("b", 2), Ok(defined));
    assert_eq!(draft.id_of("a"), Some(promised));
    let first = draft.finish();
    assert_eq!((first.id_of("a"), first.get(promised)), (None, None));
    assert_ne!(next(&first, &[("b", 2), ("c", 3)]).id_of("c"), Some(promised));
}

#[test]
fn a_second_value_of_a_key_is_refused() {
    let empty = Parts::default();
    let mut draft = empty.draft();
    let id = draft.define("a", 1).unwrap();
    assert_eq!(draft.define("a", 2), Err(DuplicateKey(id)));
    assert_eq!(draft.get(id), Some(&1));
    *draft.get_mut(id).unwrap() = 5;
    assert_eq!(draft.finish().first().map(|value| **value), Some(5));
}

#[test]
fn equal_values_keep_their_reference() {
    let first = next(&Parts::default(), &[("a", 1), ("b", 2), ("c", 3)]);
    let second = next(&first, &[("d", 4), ("b", 20), ("a", 1)]);
    let of = |parts: &Parts, key| parts.get(parts.id_of(key).unwrap()).unwrap().clone();
    assert!(of(&first, "a").is_same(&of(&second, "a")));
    assert!(!of(&first, "b").is_same(&of(&second, "b")));
    let changes = second.changes(&first);
    assert_eq!(changes.added, [second.id_of("d").unwrap()]);
    assert_eq!(changes.changed, [first.id_of("b").unwrap()]);
    assert_eq!(changes.removed, [first.id_of("c").unwrap()]);
}

#[test]
fn a_key_added_again_gets_another_id() {
    let first = next(&Parts::default(), &[("a", 1)]);
    let third = next(&next(&first, &[]), &[("a", 1)]);
    let (before, after) = (first.id_of("a").unwrap(), third.id_of("a").unwrap());
    assert_ne!(before, after);
    assert_eq!((third.get(before), third.get(after).map(|value| **value)), (None, Some(1)));
}

/// One step of a draft: the value of a key, or only its reservation.
fn step() -> impl Strategy<Value = (u8, Option<u8>)> {
    (0..24_u8, prop::option::weighted(0.8, 0..3_u8))
}

proptest! {
    #![proptest_config(Config { cases: 100, ..Config::default() })]

    /// Follows 40 configurations of 5 steps on average, 20,000 steps in all.
    #[test]
    fn drafts_agree_with_a_map(
        configurations in prop::collection::vec((prop::collection::vec(step(), 0..10), any::<bool>()), 40),
    ) {
        let mut last: Slots<ClusterId, u8, u8> = Slots::default();
        let mut map: HashMap<u8, (u8, ClusterId)> = HashMap::new();
        let mut gone: HashSet<ClusterId> = HashSet::new();
        for (steps, is_given_up) in configurations {
            let mut draft = last.draft();
            let mut drafted: HashMap<u8, (u8, ClusterId)> = HashMap::new();
            let mut reserved: HashMap<u8, ClusterId> = HashMap::new();
            for (key, value) in steps {
                let id = draft.reserve(key);
                prop_assert_eq!(*reserved.entry(key).or_insert(id), id);
                prop_assert!(map.get(&key).is_none_or(|(_, before)| *before == id));
                prop_assert!(!gone.contains(&id), "{:?} was the id of another part", id);
                if let Some(value) = value {
                    let known = drafted.contains_key(&key);
                    prop_assert_eq!(draft.define(key, value), if known { Err(DuplicateKey(id)) } else { Ok(id) });
                    drafted.entry(key).or_insert((value, id));
                }
                prop_assert_eq!(draft.get(id).copied(), drafted.get(&key).map(|(value, _)| *value));
            }
            if is_given_up {
                continue;
            }
            let next = draft.finish();
            next.check_invariants();
            prop_assert_eq!(next.len(), drafted.len());
            for (key, (value, id)) in &drafted {
                prop_assert_eq!((next.id_of(key), next.get(*id).map(|value| **value)), (Some(*id), Some(*value)));
                let is_unchanged = map.get(key) == Some(&(*value, *id));
                let is_same = last.get(*id).is_some_and(|before| before.is_same(next.get(*id).unwrap()));
                prop_assert_eq!(is_unchanged, is_same);
            }
            let ids: HashSet<ClusterId> = drafted.values().map(|(_, id)| *id).collect();
            let earlier = map.values().map(|(_, id)| *id).chain(reserved.into_values());
            gone.extend(earlier.filter(|id| !ids.contains(id)));
            prop_assert!(gone.iter().all(|id| next.get(*id).is_none()));
            (last, map) = (next, drafted);
        }
    }
}
