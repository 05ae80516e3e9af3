//! Connection limit of an endpoint, and pooling of its links.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use eddy_ids::WorkerTime;
use eddy_io::Stream;
use eddy_model::PoolConfig;
use tokio::net::UnixStream;
use tokio::sync::Notify;

use crate::endpoint::EndpointId;
use crate::pool::LinkPool;
use crate::{Link, LinkPools};

#[test]
fn links_are_limited_until_one_is_returned() {
    let mut pools = LinkPools::default();
    let pool: &LinkPool = pools.at(EndpointId { slot: 0, generation: 0 });
    let mut places: Vec<_> = (0..3).map(|_| pool.place(2, 0)).collect();
    assert_eq!(places.iter().filter(|place| place.is_some()).count(), 2);
    places.remove(0);
    assert!(pool.place(2, 0).is_some());
}

#[tokio::test]
async fn waiters_for_a_link_are_woken_in_order() {
    let mut pools = LinkPools::default();
    let pool = pools.at(EndpointId { slot: 0, generation: 0 });
    let places: Vec<_> = (0..2).map(|_| pool.place(2, 0).unwrap()).collect();
    assert!(!pool.has_queue());
    let (first, second) = (pool.queue(), pool.queue());
    assert!(pool.has_queue());
    let (mut first, mut second) = (Box::pin(first.called()), Box::pin(second.called()));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
    let mut places = places.into_iter();
    drop(places.next());
    assert!(second.as_mut().poll(cx).is_pending() && first.as_mut().poll(cx).is_ready());
    drop(places.next());
    assert!(second.as_mut().poll(cx).is_ready());
}

#[tokio::test]
async fn closing_an_idle_link_frees_its_permit() {
    let mut pools = LinkPools::default();
    let pool = pools.at(EndpointId { slot: 0, generation: 0 });
    assert!(!pool.close_oldest());
    let (stream, _end) = UnixStream::pair().unwrap();
    let link = Link::new(Stream::Unix(stream), pool.place(1, 0).unwrap());
    pool.put(link, &PoolConfig::default(), WorkerTime::ZERO);
    assert!(pool.place(1, 0).is_none());
    assert!(pool.close_oldest());
    assert!(pool.place(1, 0).is_some());
}

#[tokio::test]
async fn a_waiter_that_leaves_passes_on_its_wake_up() {
    let mut pools = LinkPools::default();
    let pool = pools.at(EndpointId { slot: 0, generation: 0 });
    let place = pool.place(1, 0).unwrap();
    let (first, second) = (pool.queue(), pool.queue());
    let cx = &mut Context::from_waker(Waker::noop());
    let (mut leaving, mut staying) = (Box::pin(first.called()), Box::pin(second.called()));
    assert!(leaving.as_mut().poll(cx).is_pending() && staying.as_mut().poll(cx).is_pending());
    drop(place);
    drop(leaving);
    assert!(staying.as_mut().poll(cx).is_ready());
    drop(staying);
    drop((first, second));
    assert!(!pool.has_queue());
}

#[tokio::test]
async fn links_of_an_earlier_tls_era_are_not_kept() {
    let config = PoolConfig::default();
    let mut pools = LinkPools::default();
    let id = EndpointId { slot: 0, generation: 0 };
    let mut ends = Vec::new();
    let mut link = |pools: &mut LinkPools, era: u32| {
        let (stream, end) = UnixStream::pair().unwrap();
        ends.push(end);
        Link::new(Stream::Unix(stream), pools.at(id).place(9, era).unwrap())
    };
    let (idle, busy) = (link(&mut pools, 0), link(&mut pools, 0));
    pools.at(id).put(idle, &config, WorkerTime::ZERO);
    assert_eq!((pools.count().idle, pools.count().open), (1, 2));
    let era = pools.renew();
    assert_eq!((pools.count().idle, pools.count().open), (0, 1), "who carries an exchange goes on");
    pools.at(id).put(busy, &config, WorkerTime::ZERO);
    // Holders of the old era may still connect.
    for era in [0, era] {
        let fresh = link(&mut pools, era);
        pools.at(id).put(fresh, &config, WorkerTime::ZERO);
    }
    assert_eq!((pools.count().idle, pools.count().open), (1, 1));
}

#[tokio::test]
async fn a_link_that_its_endpoint_closes_is_closed_immediately() {
    let task = Arc::<Notify>::default();
    let mut pools = LinkPools::watched_by(Arc::clone(&task));
    let id = EndpointId { slot: 0, generation: 0 };
    let mut ends = Vec::new();
    for _ in 0..200 {
        let (stream, end) = UnixStream::pair().unwrap();
        ends.push(end);
        let link = Link::new(Stream::Unix(stream), pools.at(id).place(999, 0).unwrap());
        pools.at(id).put(link, &PoolConfig::default(), WorkerTime::ZERO);
    }
    // More links than one task may poll in one turn.
    for left in [199, 150, 0] {
        ends.truncate(left);
        let closed = async {
            while pools.count().open > left as u64 {
                task.notified().await;
                pools.close_unusable();
            }
        };
        let closed = tokio::time::timeout(Duration::from_secs(20), tokio::task::unconstrained(closed)).await;
        assert!(closed.is_ok(), "{:?} are left", pools.count());
        assert_eq!((pools.count().idle, pools.count().open), (left as u64, left as u64));
    }
}

#[tokio::test]
async fn a_closed_link_is_not_reused() {
    let config = PoolConfig::default();
    let mut pools = LinkPools::default();
    let id = EndpointId { slot: 0, generation: 0 };
    let (stream, end) = UnixStream::pair().unwrap();
    let link = Link::new(Stream::Unix(stream), pools.at(id).place(9, 0).unwrap());
    pools.at(id).put(link, &config, WorkerTime::ZERO);
    let mut link = pools.at(id).take(&config, WorkerTime::ZERO).expect("nothing has happened");
    drop(end);
    // Until the event loop has seen the close.
    std::future::poll_fn(|cx| link.stream.poll_input_or_close(cx)).await;
    link.wait(WorkerTime::ZERO);
    pools.at(id).put_unwatched(link);
    assert!(pools.at(id).take(&config, WorkerTime::ZERO).is_none());
}
