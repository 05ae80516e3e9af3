//! Tests of shared data and queues.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::Status;
use crate::ids::QueueId;

use super::{SharedLimits, SharedServices, SharedView};

fn cas(number: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(number)
}

#[test]
fn a_value_is_not_replaced_with_a_stale_cas() {
    let shared = SharedServices::default();
    assert_eq!(shared.data(b"g", b"k").unwrap_err(), Status::NotFound);
    assert_eq!(shared.set_data(b"g", b"k", b"1", cas(1)), Err(Status::CasMismatch));
    shared.set_data(b"g", b"k", b"1", None).unwrap();
    let (value, number) = shared.data(b"g", b"k").unwrap();
    assert_eq!((&*value, number.get()), (&b"1"[..], 1));
    shared.set_data(b"g", b"k", b"2", Some(number)).unwrap();
    assert_eq!(shared.set_data(b"g", b"k", b"3", Some(number)), Err(Status::CasMismatch));
    assert_eq!(&*shared.data(b"g", b"k").unwrap().0, b"2");
    assert_eq!(shared.data(b"other", b"k").unwrap_err(), Status::NotFound);
}

#[test]
fn values_are_limited() {
    let limits = SharedLimits { values_max: 2, value_bytes_max: 20, ..SharedLimits::default() };
    let shared = SharedServices::new(limits);
    shared.set_data(b"g", b"1", &[0; 8], None).unwrap();
    assert_eq!(shared.set_data(b"g", b"2", &[0; 9], None), Err(Status::InternalFailure));
    shared.set_data(b"g", b"2", &[0; 8], None).unwrap();
    assert_eq!(shared.set_data(b"g", b"3", b"", None), Err(Status::InternalFailure));
    shared.set_data(b"g", b"1", b"", None).unwrap();
    shared.set_data(b"g", b"2", &[0; 16], None).unwrap();
    assert_eq!(shared.set_data(b"g", b"1", b"x", None), Err(Status::InternalFailure));
}

#[test]
fn queue_items_are_ordered_and_limited() {
    let limits =
        SharedLimits { queues_max: 1, queue_items_max: 2, queue_bytes_max: 5, ..SharedLimits::default() };
    let shared = SharedServices::new(limits);
    let queue = shared.register_queue(b"g", b"q", None).unwrap();
    assert_eq!(shared.register_queue(b"g", b"other", None), Err(Status::InternalFailure));
    assert_eq!(shared.enqueue(queue, &[0; 6]), Err(Status::InternalFailure));
    shared.enqueue(queue, b"one").unwrap();
    shared.enqueue(queue, b"2").unwrap();
    assert_eq!(shared.enqueue(queue, b""), Err(Status::InternalFailure));
    assert_eq!(shared.dequeue(queue).unwrap(), b"one");
    assert_eq!(shared.enqueue(queue, b"three"), Err(Status::InternalFailure));
    assert_eq!(shared.dequeue(queue).unwrap(), b"2");
    assert_eq!(shared.dequeue(queue), Err(Status::Empty));
    assert_eq!(shared.dequeue(QueueId(7)), Err(Status::NotFound));
    shared.enqueue(queue, b"three").unwrap();
}

#[test]
fn the_last_registrant_of_a_queue_is_notified() {
    let services = Arc::new(SharedServices::default());
    let told = Arc::new(AtomicU32::new(0));
    let listener = Arc::clone(&told);
    let view = SharedView::new(
        Arc::clone(&services),
        b"g",
        Some(Arc::new(move |queue: QueueId| listener.store(queue.0, Ordering::Relaxed))),
    );
    let queue = services.register_queue(b"g", b"q", None).unwrap();
    services.enqueue(queue, b"1").unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 0);
    assert_eq!(view.register_queue(b"q"), Ok(queue));
    services.enqueue(queue, b"2").unwrap();
    assert_eq!(told.load(Ordering::Relaxed), queue.0);
    assert_eq!(view.resolve_queue(b"", b"q"), Ok(queue), "its own group without a name");
}
