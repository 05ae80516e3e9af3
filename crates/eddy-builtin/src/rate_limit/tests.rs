use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use eddy_filter::{FilterLibrary, Phase, Verdict};
use eddy_ids::{Millis, WorkerTime};
use proptest::prelude::*;

use super::bucket::{Common, Rate};
use super::table::BucketTable;
use super::{RateFields, RateKey, RateLimitConfig};
use crate::tests::support::{TestExchange, TestFilterResult, TestServices, context};
use crate::{BuiltinConfig, ClientConfig, make};

/// Returns a reading of the clock.
fn at(millis: u64) -> WorkerTime {
    WorkerTime::from_millis(millis)
}

#[test]
fn a_bucket_is_used_up_and_refilled() {
    let rate = Rate::new(10, Duration::from_secs(1), 10);
    let stock = AtomicU64::new(0);
    let now = at(5_000);
    for left in (0..10).rev() {
        let taken = rate.take(&stock, 1, now);
        assert!(taken.is_taken && taken.left == left, "{taken:?}");
    }
    let refused = rate.take(&stock, 1, now);
    assert!(!refused.is_taken);
    assert_eq!(
        (refused.left, refused.wait, refused.full_in),
        (0, Duration::from_millis(100), Duration::from_secs(1))
    );
    assert!(!rate.take(&stock, 1, now + Millis::new(99)).is_taken);
    assert!(rate.take(&stock, 1, now + Millis::new(100)).is_taken);
    assert!(!rate.take(&stock, 1, now + Millis::new(150)).is_taken);
    assert_eq!(rate.take(&stock, 1, now + Millis::new(60_000)).left, 9);
}

#[test]
fn a_clock_that_is_behind_does_not_lengthen_the_wait() {
    let rate = Rate::new(10, Duration::from_secs(3600), 10);
    let stock = AtomicU64::new(0);
    assert!((0..10).all(|_| rate.take(&stock, 1, at(5_000)).is_taken));
    let refused = rate.take(&stock, 1, at(4_997));
    assert_eq!((refused.is_taken, refused.wait), (false, Duration::from_secs(360)));
    assert_eq!(refused.full_in, Duration::from_secs(3600));
}

proptest! {
    #[test]
    fn never_more_than_the_burst_and_the_refill(
        requests in 1..2000_u32,
        per_ms in 1..5000_u64,
        burst in 1..500_u32,
        steps in proptest::collection::vec((0..50_u64, 1..40_u32), 1..60),
    ) {
        let rate = Rate::new(requests, Duration::from_millis(per_ms), burst);
        let stock = AtomicU64::new(0);
        let (mut now, mut taken) = (1000_u64, 0_u64);
        for (wait, tries) in steps {
            now += wait;
            taken += (0..tries).filter(|_| rate.take(&stock, 1, at(now)).is_taken).count() as u64;
            // The time per request is truncated to whole nanoseconds: the actual rate is higher by less than 0.1 %.
            let grown = (now - 1000) as f64 / per_ms as f64 * f64::from(requests) * 1.001;
            prop_assert!(taken as f64 <= f64::from(burst) + grown + 1.0, "{} {}", taken, grown);
        }
    }

    #[test]
    fn extremes_do_not_overflow(requests in 1..=10_000_000_u32, burst in 1..=10_000_000_u32, now: u64, stock: u64) {
        for per in [Duration::from_millis(1), Duration::from_secs(86_400)] {
            let rate = Rate::new(requests, per, burst);
            rate.take(&AtomicU64::new(stock), 256, at(now));
        }
    }
}

#[test]
fn many_threads_take_no_more_than_the_bucket_holds() {
    let rate = Rate::new(1, Duration::from_secs(3600), 1000);
    let stock = AtomicU64::new(0);
    let taken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mine = (0..1000).filter(|_| rate.take(&stock, 1, at(5)).is_taken).count();
                taken.fetch_add(mine as u64, Relaxed);
            });
        }
    });
    assert_eq!(taken.load(Relaxed), 1000);
}

#[test]
fn batches_per_worker_lose_less_than_a_64th() {
    for (burst, workers) in [(1, 4_u16), (100, 4), (10_000, 4), (1_000_000, 16)] {
        let rate = Rate::new(burst, Duration::from_secs(3600), burst);
        let common = Common::new(burst, workers.into());
        // One request on each worker, then all the rest on the first.
        let mut taken = (0..workers).filter(|worker| common.take(rate, *worker, at(1)).is_taken).count();
        while common.take(rate, 0, at(1)).is_taken {
            taken += 1;
        }
        let burst = burst as usize;
        assert!(taken <= burst && taken + burst / 64 >= burst, "{taken} of {burst}");
        let beyond = common.take(rate, 200, at(1));
        assert!(!beyond.is_taken);
    }
}

#[test]
fn a_table_evicts_the_fullest_bucket_first() {
    let rate = Rate::new(1, Duration::from_secs(1), 100);
    let table = BucketTable::new(8);
    let hash = |number: u64| number << 8;
    for number in 1..=8 {
        for _ in 0..number {
            assert!(table.take(rate, hash(number), at(1)).is_taken);
        }
    }
    // The ninth key replaces the first, whose bucket is the fullest.
    assert_eq!(table.take(rate, hash(9), at(1)).left, 99);
    assert_eq!(table.take(rate, hash(8), at(1)).left, 91);
    assert_eq!(table.take(rate, hash(2), at(1)).left, 97);
    assert_eq!(table.take(rate, hash(1), at(1)).left, 99);
}

fn config(key: RateKey) -> RateLimitConfig {
    RateLimitConfig {
        requests: 2,
        per: Duration::from_secs(10),
        burst: 2,
        key,
        keys_max: 64,
        fields: RateFields::Refused,
    }
}

fn enter(library: &dyn FilterLibrary, peer: &str, fields: &str) -> TestFilterResult {
    let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{fields}")).from(peer);
    stage.enter(library, Phase::RequestHead)
}

fn clients() -> RateKey {
    RateKey::Client { client: ClientConfig::default(), ipv6_prefix_bits: 64 }
}

#[test]
fn requests_above_the_rate_are_refused() {
    let (context, host) = context(2, TestServices::default());
    let (library, info) = make(&BuiltinConfig::RateLimit(config(RateKey::All)), &context).unwrap();
    assert!(!info.interest.has(Phase::ResponseHead));
    assert_eq!(enter(&*library, "192.0.2.1", "").verdict, Verdict::Continue);
    assert_eq!(enter(&*library, "192.0.2.2", "").verdict, Verdict::Continue);
    assert_eq!(
        enter(&*library, "192.0.2.3", "").edits,
        [
            "reply 429 rate_limit",
            "reply field retry-after: 5",
            "reply field ratelimit-policy: \"default\";q=2;w=10",
            "reply field ratelimit: \"default\";r=0;t=5",
            "grpc 8",
        ]
    );
    assert_eq!(host.metric("refused"), 1);
}

#[test]
fn clients_have_separate_limits() {
    let (context, _) = context(1, TestServices::default());
    let (library, _) = make(&BuiltinConfig::RateLimit(config(clients())), &context).unwrap();
    let count =
        |peer: &str| (0..5).filter(|_| enter(&*library, peer, "").verdict == Verdict::Continue).count();
    assert_eq!(count("192.0.2.1"), 2);
    assert_eq!(count("::ffff:192.0.2.1"), 0, "the same address, written otherwise");
    assert_eq!(count("192.0.2.2"), 2);
    assert_eq!(count("2001:db8::1"), 2);
    assert_eq!(count("2001:db8::2"), 0, "the same /64");
    assert_eq!(count("2001:db8:0:1::1"), 2);
    assert_eq!(count("unix"), 2);
}

#[test]
fn header_values_have_separate_limits() {
    let (context, _) = context(1, TestServices::default());
    let (library, _) =
        make(&BuiltinConfig::RateLimit(config(RateKey::Field("x-api-key".into()))), &context).unwrap();
    let count = |fields: &str| {
        (0..5).filter(|_| enter(&*library, "192.0.2.1", fields).verdict == Verdict::Continue).count()
    };
    assert_eq!(count("X-Api-Key: a"), 2);
    assert_eq!(count("x-api-key: b"), 2);
    assert_eq!(count(""), 2);
    assert_eq!(count("x-api-key: a"), 0);
    assert_eq!(count("x-api-key:"), 2, "an empty value is another than none");
}

#[test]
fn every_response_has_rate_limit_headers_if_configured() {
    let (context, _) = context(1, TestServices::default());
    let config = RateLimitConfig { fields: RateFields::Always, ..config(clients()) };
    let (library, info) = make(&BuiltinConfig::RateLimit(config), &context).unwrap();
    assert!(info.interest.has(Phase::ResponseHead));
    let mut stage = TestExchange::request("GET / HTTP/1.1\nhost: a").response("HTTP/1.1 200 OK");
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Continue);
    let expected = ["set ratelimit-policy: \"default\";q=2;w=10", "set ratelimit: \"default\";r=1;t=5"];
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).edits, expected);
    let mut refused = TestExchange::request("GET / HTTP/1.1\nhost: a").response("HTTP/1.1 429 No");
    assert_eq!(refused.enter(&*library, Phase::ResponseHead).edits, [] as [&str; 0]);
}

#[test]
fn requests_are_accepted_again_after_the_refill() {
    let (context, _) = context(1, TestServices::default());
    let (library, _) = make(&BuiltinConfig::RateLimit(config(clients())), &context).unwrap();
    let verdict_at = |millis: u64| {
        let mut stage = TestExchange::request("GET / HTTP/1.1\nhost: a");
        stage.now = at(millis);
        stage.enter(&*library, Phase::RequestHead).verdict
    };
    let verdicts: Vec<Verdict> = [0, 0, 0, 4_999, 5_000, 5_001, 30_000].map(verdict_at).into();
    use Verdict::{Continue, Reply};
    assert_eq!(verdicts, [Continue, Continue, Reply, Reply, Continue, Reply, Continue]);
}
