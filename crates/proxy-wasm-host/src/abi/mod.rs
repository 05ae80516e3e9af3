//! proxy-wasm ABI: versions, names, enumerations and the serialized form of header maps.

mod callback;
mod function;
mod kinds;
mod pairs;
mod status;
mod version;
mod wire_enum;

pub use callback::Callback;
pub use function::{FUNCTIONS, Family, Function, Number};
pub use kinds::{Action, BufferType, LogLevel, MapType, MetricType, PeerType, StreamType};
pub use pairs::{Pairs, PairsError};
pub(crate) use status::wire;
pub use status::{HostResult, Status};
pub use version::AbiVersion;

pub(crate) use callback::Signature;
pub(crate) use pairs::{PairsSize, PairsWriter};
pub(crate) use wire_enum::wire_enum;
