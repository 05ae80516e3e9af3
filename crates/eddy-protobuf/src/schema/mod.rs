//! Messages, enums and services, compiled from descriptors into tables.

mod describe;
mod enumeration;
mod error;
mod field;
mod id;
mod load;
mod lookup;
mod message;
mod option;
mod service;
mod tables;

pub use enumeration::{EnumId, Enumeration};
pub use error::SchemaError;
pub use field::{FieldDescriptor, FieldType, Label};
pub use id::MessageId;
pub use message::{MessageDescriptor, Special};
pub use option::{FieldOption, FieldOptionError};
pub use service::{MethodDescriptor, ServiceDescriptor};
pub use tables::Schema;

pub(crate) use lookup::NumberTable;
