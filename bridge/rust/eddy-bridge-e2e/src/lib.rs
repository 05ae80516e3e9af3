//! What the tests of the bridge call, both ways, and the library of Go with the other side.

#![forbid(unsafe_code)]

mod everything;
mod library;
mod mirror;
mod random;

pub use self::everything::{Echo, Every, Leaf, Mirror, Refusal, View, Viewed, serve_mirror};
pub use self::library::{build, library, open};
pub use self::mirror::Looking;
pub use self::random::Random;
