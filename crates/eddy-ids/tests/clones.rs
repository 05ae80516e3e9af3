//! The counter of clones, in a process of its own: no other test clones meanwhile.

use eddy_ids::{Shared, shared_clones};

#[test]
fn clones_are_counted() {
    let name: Shared<str> = "a".into();
    assert_eq!(shared_clones(), 0, "a new value is not a clone");
    let copies = vec![name.clone(); 3];
    let other = Shared::clone(&copies[0]);
    assert!(other.is_same(&name));
    let expected = if cfg!(debug_assertions) { 4 } else { 0 };
    assert_eq!(shared_clones(), expected);
    drop((copies, other, name));
    assert_eq!(shared_clones(), expected, "dropping counts nothing");
}
