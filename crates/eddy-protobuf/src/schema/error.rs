//! Why descriptors were refused.

use crate::fault::ProtobufError;

/// What is wrong with a `FileDescriptorSet`; every variant names the file, and the message and field where there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The bytes are no `FileDescriptorSet`.
    #[error(
        "the descriptors can't be read: {fault}; they should be a FileDescriptorSet, as `protoc --include_imports --descriptor_set_out` writes it"
    )]
    Malformed {
        /// What and where.
        fault: ProtobufError,
    },
    /// A file is in the set twice with different content.
    #[error("file \"{file}\" is in the descriptors twice, and differs")]
    FileTwice {
        /// Its path.
        file: String,
    },
    /// Two things have one name.
    #[error("file \"{file}\" defines \"{name}\", which is defined already")]
    NameTwice {
        /// Where the second is.
        file: String,
        /// The full name.
        name: String,
    },
    /// A type that is nowhere in the set.
    #[error(
        "file \"{file}\": field \"{field}\" of \"{message}\" has type \"{missing}\", which the descriptors lack; include imports (`protoc --include_imports`)"
    )]
    TypeMissing {
        /// The file.
        file: String,
        /// The full name of the message.
        message: String,
        /// The name of the field.
        field: String,
        /// The type it names.
        missing: String,
    },
    /// A method whose request or response is nowhere in the set.
    #[error(
        "file \"{file}\": method \"{method}\" of \"{service}\" has type \"{missing}\", which the descriptors lack; include imports (`protoc --include_imports`)"
    )]
    MethodTypeMissing {
        /// The file.
        file: String,
        /// The full name of the service.
        service: String,
        /// The name of the method.
        method: String,
        /// The type it names.
        missing: String,
    },
    /// A field that can't be.
    #[error("file \"{file}\": field \"{field}\" of \"{message}\": {problem}")]
    Field {
        /// The file.
        file: String,
        /// The full name of the message.
        message: String,
        /// The name of the field.
        field: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// More messages, fields or values than the tables can number.
    #[error("file \"{file}\": \"{name}\" has more than {max} {what}")]
    TooMany {
        /// The file.
        file: String,
        /// What holds them.
        name: String,
        /// Of what.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// An edition that is not known.
    #[error(
        "file \"{file}\" is of edition {edition}, which is not known; known are proto2, proto3, 2023 and 2024"
    )]
    Edition {
        /// The file.
        file: String,
        /// Its number.
        edition: u64,
    },
    /// A syntax that is not known.
    #[error("file \"{file}\" is of syntax \"{syntax}\"; known are proto2, proto3 and editions")]
    Syntax {
        /// The file.
        file: String,
        /// Its name.
        syntax: String,
    },
}
