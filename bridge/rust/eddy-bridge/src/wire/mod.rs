//! Encoding of values in messages.

mod composite;
mod map;
mod scalar;
mod text;
mod traits;
mod tuple;

pub use self::scalar::Scalar;
pub use self::traits::{BridgeRead, BridgeWrite, Wire};
