//! Services that the bridge tests call in both directions, and the Go library that implements the other side. This
//! crate is also a library that Go loads.

mod everything;
mod library;
mod mirror;
mod random;

pub use self::everything::{Echo, Every, Inner, Leaf, Mirror, Narrow, Refusal, View, Viewed, serve_mirror};
pub use self::library::{build, library, open};
pub use self::mirror::Looking;
pub use self::random::ValueGenerator;

eddy_bridge::export! { eddy_bridge::offer(serve_mirror(Looking::default())) }
