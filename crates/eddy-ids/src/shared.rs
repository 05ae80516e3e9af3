//! `Shared`: a reference to a part of a configuration or plan, whose clones are counted in debug builds.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A reference to an immutable value that configurations, plans and all workers share.
///
/// Each clone changes a reference count that all workers share, so the request path borrows instead. Tests hold it to
/// that with [`shared_clones`].
pub struct Shared<T: ?Sized>(Arc<T>);

/// Number of clones of any [`Shared`] since the start of the process; always 0 without debug assertions.
pub fn shared_clones() -> u64 {
    #[cfg(debug_assertions)]
    let clones = CLONES.load(Relaxed);
    #[cfg(not(debug_assertions))]
    let clones = 0;
    clones
}

impl<T> Shared<T> {
    /// Makes a value shareable.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> Shared<T> {
    /// Whether both refer to the same object, not just to equal values.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Shared<T> {
    /// Returns the value for a change; others that refer to it keep the value as it was.
    pub fn make_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        #[cfg(debug_assertions)]
        CLONES.fetch_add(1, Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> AsRef<T> for Shared<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Shared<T> {
    fn borrow(&self) -> &T {
        self
    }
}

/// Compares the values; the same object is equal to itself without a comparison.
impl<T: ?Sized + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Shared<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> Default for Shared<T>
where
    Arc<T>: Default,
{
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Shared<str> {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Shared<str> {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl<T: Clone> From<&[T]> for Shared<[T]> {
    fn from(values: &[T]) -> Self {
        Self(values.into())
    }
}

impl<T> From<Vec<T>> for Shared<[T]> {
    fn from(values: Vec<T>) -> Self {
        Self(values.into())
    }
}

impl<T, const N: usize> From<[T; N]> for Shared<[T]> {
    fn from(values: [T; N]) -> Self {
        Self(values.into())
    }
}

impl<T> FromIterator<T> for Shared<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// From crates with plain references; the value is not copied.
impl<T: ?Sized> From<Arc<T>> for Shared<T> {
    fn from(value: Arc<T>) -> Self {
        Self(value)
    }
}

/// For crates with plain references; the value is not copied, and later clones are not counted.
impl<T: ?Sized> From<Shared<T>> for Arc<T> {
    fn from(shared: Shared<T>) -> Self {
        shared.0
    }
}

#[cfg(feature = "serde")]
impl<T: ?Sized + serde::Serialize> serde::Serialize for Shared<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(debug_assertions)]
static CLONES: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn equality_compares_values_and_identity_compares_objects() {
        let name: Shared<str> = "a".into();
        let (same, equal, other): (_, Shared<str>, Shared<str>) =
            (name.clone(), "a".to_owned().into(), "b".into());
        assert!(name.is_same(&same) && name == same);
        assert!(!name.is_same(&equal) && name == equal);
        assert!(name != other && name < other);
    }

    #[test]
    fn a_map_by_shared_text_is_searched_with_plain_text() {
        let ports = HashMap::from([(Shared::<str>::from("a"), 1)]);
        assert_eq!(ports.get("a"), Some(&1));
        assert_eq!(ports.get("b"), None);
    }

    #[test]
    fn texts_and_lists_are_read_like_their_values() {
        let text: Shared<str> = "a\"".into();
        assert_eq!((format!("{text}"), format!("{text:?}")), ("a\"".to_owned(), "\"a\\\"\"".to_owned()));
        let bytes: Shared<[u8]> = vec![1, 2].into();
        assert_eq!((bytes.len(), &*bytes), (2, &*Shared::<[u8]>::from(&[1, 2][..])));
        assert_eq!((&*Shared::<str>::default(), *Shared::<u32>::default()), ("", 0));
    }
}
