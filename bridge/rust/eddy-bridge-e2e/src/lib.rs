//! What the tests of the bridge call, both ways, and the library of Go with the other side. It is a library for Go itself.

mod everything;
mod library;
mod mirror;
mod random;

pub use self::everything::{Echo, Every, Inner, Leaf, Mirror, Narrow, Refusal, View, Viewed, serve_mirror};
pub use self::library::{build, library, open};
pub use self::mirror::Looking;
pub use self::random::ValueGenerator;

eddy_bridge::export! { eddy_bridge::offer(serve_mirror(Looking::default())) }
