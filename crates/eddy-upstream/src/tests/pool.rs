//! The limit on the links to an endpoint.

use crate::pool::LinkPool;

#[test]
fn links_are_as_many_as_allowed_until_one_is_given_back() {
    let pool = LinkPool::default();
    let mut places: Vec<_> = (0..3).map(|_| pool.place(2)).collect();
    assert_eq!(places.iter().filter(|place| place.is_some()).count(), 2);
    places.remove(0);
    assert!(pool.place(2).is_some());
}
