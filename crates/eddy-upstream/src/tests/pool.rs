//! The limit on the links to an endpoint, and which of them are kept.

use eddy_io::Stream;
use tokio::net::UnixStream;

use crate::endpoint::EndpointId;
use crate::pool::LinkPool;
use crate::{Link, LinkPools, PoolConfig};

#[test]
fn links_are_as_many_as_allowed_until_one_is_given_back() {
    let pool = LinkPool::default();
    let mut places: Vec<_> = (0..3).map(|_| pool.place(2, 0)).collect();
    assert_eq!(places.iter().filter(|place| place.is_some()).count(), 2);
    places.remove(0);
    assert!(pool.place(2, 0).is_some());
}

#[tokio::test]
async fn links_from_before_a_renewal_are_not_kept() {
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
    pools.at(id).put(idle, &config, 0);
    assert_eq!((pools.count().idle, pools.count().open), (1, 2));
    let era = pools.renew();
    assert_eq!((pools.count().idle, pools.count().open), (0, 1), "who carries an exchange goes on");
    pools.at(id).put(busy, &config, 0);
    // Whoever goes on as before may still connect.
    for era in [0, era] {
        let fresh = link(&mut pools, era);
        pools.at(id).put(fresh, &config, 0);
    }
    assert_eq!((pools.count().idle, pools.count().open), (1, 1));
}
