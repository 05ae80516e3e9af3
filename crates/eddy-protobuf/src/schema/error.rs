//! Errors in descriptors.

use crate::fault::ProtobufError;

/// Error in a `FileDescriptorSet`; every variant names the file, and the message and field if there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The bytes are not a `FileDescriptorSet`.
    #[error(
        "the descriptors can't be read: {fault}; expected a FileDescriptorSet as written by `protoc \
         --include_imports --descriptor_set_out`"
    )]
    Malformed {
        /// The error with its position.
        fault: ProtobufError,
    },
    /// A file is in the set twice with different content.
    #[error("file \"{file}\" is in the descriptors twice with different content")]
    FileTwice {
        /// Path of the file.
        file: String,
    },
    /// A name is defined twice.
    #[error("file \"{file}\" defines \"{name}\", which is already defined")]
    NameTwice {
        /// File of the second definition.
        file: String,
        /// Full name.
        name: String,
    },
    /// The set lacks the type of a field.
    #[error(
        "file \"{file}\": field \"{field}\" of \"{message}\" has type \"{missing}\", which the descriptors lack; include imports (`protoc --include_imports`)"
    )]
    TypeMissing {
        /// Path of the file.
        file: String,
        /// Full name of the message.
        message: String,
        /// Name of the field.
        field: String,
        /// Name of the missing type.
        missing: String,
    },
    /// The set lacks the request or response type of a method.
    #[error(
        "file \"{file}\": method \"{method}\" of \"{service}\" has type \"{missing}\", which the descriptors lack; include imports (`protoc --include_imports`)"
    )]
    MethodTypeMissing {
        /// Path of the file.
        file: String,
        /// Full name of the service.
        service: String,
        /// Name of the method.
        method: String,
        /// Name of the missing type.
        missing: String,
    },
    /// An invalid field.
    #[error("file \"{file}\": field \"{field}\" of \"{message}\": {problem}")]
    Field {
        /// Path of the file.
        file: String,
        /// Full name of the message.
        message: String,
        /// Name of the field.
        field: String,
        /// Description of the problem.
        problem: &'static str,
    },
    /// More messages, fields or values than the tables can index.
    #[error("file \"{file}\": \"{name}\" has more than {max} {what}")]
    TooMany {
        /// Path of the file.
        file: String,
        /// Name of the container.
        name: String,
        /// Kind of items.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// An unsupported edition.
    #[error(
        "file \"{file}\" has the unsupported edition {edition}; supported: proto2, proto3, 2023 and 2024"
    )]
    Edition {
        /// Path of the file.
        file: String,
        /// Edition number.
        edition: u64,
    },
    /// An unsupported syntax.
    #[error(
        "file \"{file}\" has the unsupported syntax \"{syntax}\"; supported: proto2, proto3 and editions"
    )]
    Syntax {
        /// Path of the file.
        file: String,
        /// Syntax name.
        syntax: String,
    },
}
