//! Retry budget: number of allowed retries, and the end of the window.

use eddy_ids::WorkerTime;
use eddy_model::RetryBudget;
use proptest::prelude::*;

use crate::RetryBudgetWindow;

#[test]
fn the_minimum_of_retries_needs_no_requests() {
    let mut budget = budget(20, 3);
    assert_eq!(allowed(&mut budget, 0, 10), 3);
    assert_eq!(allowed(&mut budget, 1, 10), 3, "and again in the next second");
}

#[test]
fn a_share_of_the_requests_may_be_retried() {
    let mut budget = budget(20, 0);
    requests(&mut budget, 5, 100);
    assert_eq!(allowed(&mut budget, 5, 100), 20);
}

#[test]
fn requests_leave_the_window_after_ten_seconds() {
    let mut budget = budget(20, 0);
    requests(&mut budget, 0, 100);
    assert_eq!(allowed(&mut budget, 9, 5), 5);
    assert_eq!(allowed(&mut budget, 10, 5), 0, "the requests have left the window");
}

#[test]
fn retries_leave_the_window_as_well() {
    let mut budget = budget(10, 0);
    for second in 0..30 {
        requests(&mut budget, second, 10);
        assert_eq!(allowed(&mut budget, second, 10), 1, "second {second}");
    }
}

#[test]
fn a_long_pause_empties_the_window() {
    let mut budget = budget(100, 0);
    requests(&mut budget, 3, 50);
    assert_eq!(allowed(&mut budget, 1_000_000, 50), 0);
}

#[test]
fn time_running_backwards_is_tolerated() {
    let mut budget = budget(50, 0);
    requests(&mut budget, 100, 10);
    assert_eq!(allowed(&mut budget, 50, 10), 5);
}

#[test]
fn an_empty_budget_allows_no_retries() {
    let mut budget = budget(0, 0);
    requests(&mut budget, 0, 1000);
    assert_eq!(allowed(&mut budget, 0, 10), 0);
}

#[test]
fn checking_the_budget_allocates_nothing() {
    let mut budget = budget(20, 3);
    let counted = allocation_counter::measure(|| {
        requests(&mut budget, 7, 1000);
        allowed(&mut budget, 12, 1000);
    });
    assert_eq!(counted.count_total, 0);
}

proptest! {
    #[test]
    fn retries_never_exceed_the_share_and_the_minimum(
        percent in 0_u8..=100,
        floor in 0_u32..5,
        seconds in prop::collection::vec((0_u64..4, 0_u32..50, 0_u32..50), 1..40),
    ) {
        let mut budget = budget(percent, floor);
        let mut now = 0;
        let mut log: Vec<(u64, u64, u64)> = Vec::new();
        for (pause, sent, wanted) in seconds {
            now += pause;
            requests(&mut budget, now, sent);
            let retried = allowed(&mut budget, now, wanted);
            log.push((now, u64::from(sent), u64::from(retried)));
            let window = log.iter().filter(|(at, ..)| at + 10 > now);
            let (sent, retried) = window.fold((0, 0), |(sent, retried), entry| (sent + entry.1, retried + entry.2));
            // Requests that have left the window may have paid for retries still in it, so compare with all
            // requests of twice the window.
            let paid: u64 = log.iter().filter(|(at, ..)| at + 20 > now).map(|entry| entry.1).sum();
            prop_assert!(sent <= paid);
            prop_assert!(retried <= (paid * u64::from(percent)).div_ceil(100) + 10 * u64::from(floor));
        }
    }
}

fn budget(percent: u8, floor_per_second: u32) -> RetryBudgetWindow {
    RetryBudgetWindow::new(RetryBudget { percent, floor_per_second })
}

fn requests(budget: &mut RetryBudgetWindow, second: u64, count: u32) {
    for _ in 0..count {
        budget.on_request(WorkerTime::from_millis(second * 1000));
    }
}

fn allowed(budget: &mut RetryBudgetWindow, second: u64, wanted: u32) -> u32 {
    (0..wanted).map(|_| u32::from(budget.try_retry(WorkerTime::from_millis(second * 1000)))).sum()
}
