//! Messages, enums and services, compiled from descriptors into tables.

mod enumeration;
mod error;
mod field;
mod load;
mod lookup;
mod message;
mod option;
mod service;
mod tables;

pub use enumeration::{EnumId, Enumeration};
pub use error::SchemaError;
pub use field::{Field, Kind, Label};
pub use message::{Message, MessageId};
pub use option::{FieldOption, FieldOptionError};
pub use service::{Method, Service};
pub use tables::Schema;

pub(crate) use lookup::NumberTable;
pub(crate) use message::Special;
