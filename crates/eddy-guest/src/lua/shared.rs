//! Shared stores: bounded key-value stores for all workers, with an expiry per value.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use super::numbers::StoreCondition;
use crate::lock::lock;

/// Shared stores of one filter; they survive a configuration reload.
pub(super) struct SharedStores {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    limits: SharedLimits,
    entries: AtomicUsize,
    bytes: AtomicUsize,
}

/// Limits of all stores of a filter together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLimits {
    /// Maximum number of values.
    pub entries_max: usize,
    /// Maximum size of names, keys and values in bytes.
    pub bytes_max: usize,
}

impl Default for SharedLimits {
    fn default() -> Self {
        Self { entries_max: 10_000, bytes_max: 4 << 20 }
    }
}

#[derive(Default)]
struct Shard {
    values: HashMap<LuaStoreKey, LuaStoreEntry>,
    /// Time of the last sweep for expired values.
    swept: Option<Instant>,
}

/// Name of the store, NUL, key.
type LuaStoreKey = Box<[u8]>;

#[derive(Debug)]
struct LuaStoreEntry {
    value: LuaStoreValue,
    ends: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(super) enum LuaStoreValue {
    Text(Box<[u8]>),
    Number(f64),
    Bool(bool),
}

/// Stores by filter name and limits, as long as a script that uses them exists.
static STORES: Mutex<Vec<(String, Weak<SharedStores>)>> = Mutex::new(Vec::new());

impl SharedStores {
    /// Returns the stores of the filter with this name; with changed limits, new empty ones.
    pub(super) fn of(filter: &str, limits: SharedLimits) -> Arc<Self> {
        let mut known = lock(&STORES);
        known.retain(|(_, stores)| stores.strong_count() > 0);
        let same = known.iter().filter(|(name, _)| name == filter).filter_map(|(_, stores)| stores.upgrade());
        if let Some(stores) = same.into_iter().find(|stores| stores.limits == limits) {
            return stores;
        }
        let stores = Arc::new(Self {
            hasher: RandomState::new(),
            shards: Default::default(),
            limits,
            entries: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        });
        known.push((filter.to_owned(), Arc::downgrade(&stores)));
        stores
    }

    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(key) % SHARDS as u64;
        lock(&self.shards[usize::try_from(index).expect("below the number of shards")])
    }

    pub(super) fn get(&self, key: &[u8], now: Instant) -> Option<LuaStoreValue> {
        let shard = self.shard(key);
        shard.values.get(key).filter(|entry| !entry.is_over(now)).map(|entry| entry.value.clone())
    }

    pub(super) fn remove(&self, key: &[u8]) -> bool {
        let mut shard = self.shard(key);
        let removed = shard.values.remove(key);
        if let Some(entry) = &removed {
            self.forget(key, entry);
        }
        removed.is_some()
    }

    fn forget(&self, key: &[u8], entry: &LuaStoreEntry) {
        self.entries.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(key.len() + entry.value.len(), Relaxed);
    }

    /// Inserts an entry; returns whether there was room.
    fn put(&self, shard: &mut Shard, key: &[u8], entry: LuaStoreEntry, now: Instant) -> bool {
        let size = key.len() + entry.value.len();
        if !self.has_room(shard, key, size) {
            self.sweep(shard, now);
            if !self.has_room(shard, key, size) {
                return false;
            }
        }
        match shard.values.insert(key.into(), entry) {
            Some(old) => {
                self.bytes.fetch_sub(key.len() + old.value.len(), Relaxed);
            }
            None => {
                self.entries.fetch_add(1, Relaxed);
            }
        }
        self.bytes.fetch_add(size, Relaxed);
        true
    }

    /// Removes expired values. It is rate-limited, because a full store would otherwise be scanned for each value that
    /// it refuses.
    fn sweep(&self, shard: &mut Shard, now: Instant) {
        if shard.swept.is_some_and(|swept| now < swept + SWEEP_INTERVAL) {
            return;
        }
        shard.swept = Some(now);
        shard.values.retain(|key, entry| {
            let is_over = entry.is_over(now);
            if is_over {
                self.forget(key, entry);
            }
            !is_over
        });
    }

    fn has_room(&self, shard: &Shard, key: &[u8], size: usize) -> bool {
        let before = shard.values.get(key).map(|old| key.len() + old.value.len());
        let bytes = self.bytes.load(Relaxed).saturating_sub(before.unwrap_or(0)) + size;
        let entries = self.entries.load(Relaxed) + usize::from(before.is_none());
        bytes <= self.limits.bytes_max && entries <= self.limits.entries_max
    }

    pub(super) fn set(
        &self,
        key: &[u8],
        value: LuaStoreValue,
        ends: Option<Instant>,
        condition: StoreCondition,
        now: Instant,
    ) -> Put {
        let mut shard = self.shard(key);
        if condition == StoreCondition::Absent
            && shard.values.get(key).is_some_and(|entry| !entry.is_over(now))
        {
            return Put::Exists;
        }
        if self.put(&mut shard, key, LuaStoreEntry { value, ends }, now) { Put::Done } else { Put::Full }
    }

    /// Adds to a number; if it does not exist, starts with `init`, and with `ends` as the expiry.
    pub(super) fn add(
        &self,
        key: &[u8],
        by: f64,
        init: Option<f64>,
        ends: Option<Instant>,
        now: Instant,
    ) -> Result<f64, Put> {
        let mut shard = self.shard(key);
        if let Some(entry) = shard.values.get_mut(key).filter(|entry| !entry.is_over(now)) {
            let LuaStoreValue::Number(number) = &mut entry.value else { return Err(Put::NoNumber) };
            *number += by;
            return Ok(*number);
        }
        let Some(init) = init else { return Err(Put::Missing) };
        let number = init + by;
        let entry = LuaStoreEntry { value: LuaStoreValue::Number(number), ends };
        if self.put(&mut shard, key, entry, now) { Ok(number) } else { Err(Put::Full) }
    }
}

/// Result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Done,
    Exists,
    Full,
    Missing,
    NoNumber,
}

impl Put {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Done => "",
            Self::Exists => "exists",
            Self::Full => "full",
            Self::Missing => "not found",
            Self::NoNumber => "not a number",
        }
    }
}

impl LuaStoreEntry {
    fn is_over(&self, now: Instant) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }
}

impl LuaStoreValue {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number(_) => 8,
            Self::Bool(_) => 1,
        }
    }
}

/// Number of shards: threads that use different keys rarely contend.
const SHARDS: usize = 16;
pub(super) const KEY_BYTES_MAX: usize = 1024;
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn stores(entries_max: usize, bytes_max: usize) -> Arc<SharedStores> {
        static NAMES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("test {}", NAMES.fetch_add(1, Relaxed));
        SharedStores::of(&name, SharedLimits { entries_max, bytes_max })
    }

    #[test]
    fn a_value_expires_at_its_time() {
        let (stores, now) = (stores(10, 1000), Instant::now());
        let later = now + Duration::from_secs(5);
        let text = LuaStoreValue::Text(b"v"[..].into());
        assert_eq!(stores.set(b"s\0k", text.clone(), Some(later), StoreCondition::Always, now), Put::Done);
        assert!(matches!(stores.get(b"s\0k", now), Some(LuaStoreValue::Text(v)) if *v == *b"v"));
        assert_eq!(stores.set(b"s\0k", text.clone(), None, StoreCondition::Absent, now), Put::Exists);
        assert!(stores.get(b"s\0k", later).is_none());
        assert_eq!(stores.set(b"s\0k", text, None, StoreCondition::Absent, later), Put::Done);
        assert!(stores.remove(b"s\0k") && !stores.remove(b"s\0k"));
        assert_eq!((stores.entries.load(Relaxed), stores.bytes.load(Relaxed)), (0, 0));
    }

    #[test]
    fn a_store_is_limited_and_expired_values_free_space() {
        let (stores, now) = (stores(2, 40), Instant::now());
        let later = now + Duration::from_secs(1);
        let put = |key: &[u8], size: usize, now| {
            stores.set(
                key,
                LuaStoreValue::Text(vec![b'v'; size].into()),
                Some(later),
                StoreCondition::Always,
                now,
            )
        };
        assert_eq!(put(b"a", 10, now), Put::Done);
        assert_eq!(put(b"b", 40, now), Put::Full);
        assert_eq!(put(b"a", 20, now), Put::Done);
        assert_eq!(put(b"b", 10, now), Put::Done);
        assert_eq!(put(b"c", 1, now), Put::Full);
        assert_eq!(stores.bytes.load(Relaxed), 32);
        // The same key finds its own expired value, whichever shard it is in.
        assert_eq!(put(b"a", 25, later), Put::Done);
    }

    #[test]
    fn a_full_store_is_swept_only_periodically() {
        let (stores, now) = (stores(1, 1000), Instant::now());
        let at = |ms: u64| now + Duration::from_millis(ms);
        // Both keys are in one shard.
        let (first, second) = {
            let shard = |key: &[u8]| std::ptr::from_ref(&*stores.shard(key)).addr();
            let keys: Vec<[u8; 2]> = (0..=255).map(|byte| [b'k', byte]).collect();
            let other = keys[1..].iter().find(|key| shard(&key[..]) == shard(&keys[0])).unwrap();
            (keys[0], *other)
        };
        let set = |key: &[u8], ends, now| {
            stores.set(key, LuaStoreValue::Bool(true), ends, StoreCondition::Always, now)
        };
        assert_eq!(set(&first, Some(at(50)), now), Put::Done);
        assert_eq!(set(&second, None, now), Put::Full);
        assert_eq!(set(&second, None, at(60)), Put::Full);
        assert_eq!(set(&second, None, at(100)), Put::Done);
    }

    #[test]
    fn concurrent_additions_are_not_lost() {
        let (stores, now) = (stores(10, 1000), Instant::now());
        assert_eq!(stores.add(b"n", 1.0, None, None, now), Err(Put::Missing));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        stores.add(b"n", 1.0, Some(0.0), None, now).unwrap();
                    }
                });
            }
        });
        assert_eq!(stores.add(b"n", 0.0, None, None, now), Ok(4000.0));
        stores.set(b"t", LuaStoreValue::Bool(true), None, StoreCondition::Always, now);
        assert_eq!(stores.add(b"t", 1.0, None, None, now), Err(Put::NoNumber));
    }

    #[test]
    fn a_filter_of_the_same_name_and_limits_has_the_same_stores() {
        let limits = SharedLimits { entries_max: 3, bytes_max: 300 };
        let first = SharedStores::of("same", limits);
        assert!(Arc::ptr_eq(&first, &SharedStores::of("same", limits)));
        assert!(!Arc::ptr_eq(&first, &SharedStores::of("other", limits)));
        let larger = SharedLimits { entries_max: 4, ..limits };
        assert!(!Arc::ptr_eq(&first, &SharedStores::of("same", larger)));
    }
}
