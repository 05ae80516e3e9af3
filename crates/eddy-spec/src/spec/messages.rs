//! Configuration keys of the filters that inspect protobuf messages.

use eddy_builtin::{AnyValues, Directions, Unreadable, WhichMessage};

use crate::read::{NamedMap, Spanned};
use crate::value::{BoundedText, ByteSize, FieldName, FilePath, Number, RecordKey, RedactEditName};

mapping! {
    /// Extracts fields of protobuf messages, in gRPC calls or as a whole body. Values are stored in the metadata
    /// `message_fields`, from where access logs (`access_log.metadata`) use them, and in request headers, which rules
    /// can match. Messages stay unchanged. Values come from the first message of a stream.
    MessageFieldsSpec as "message_fields" {
        /// Protobuf descriptors: a `FileDescriptorSet` file as `protoc --include_imports --descriptor_set_out` writes
        /// it. It is read together with the configuration. Relative paths are resolved against the directory of the
        /// configuration file.
        required descriptors: FilePath, example "./orders.binpb";
        /// Fields of request messages, by their key in the metadata.
        optional request: NamedMap<RecordKey, RequestFieldSpec>, otherwise "none", example "{tenant: {path: customer.tenant, header: x-tenant}}";
        /// Fields of response messages, by their key in the metadata.
        optional response: NamedMap<RecordKey, MessageFieldSpec>, otherwise "none", example "{total: {path: total.units}}";
        /// Full name of the message type of request bodies under `application/x-protobuf` and similar content types, if
        /// the path is not that of a method.
        optional request_message: BoundedText<512>, otherwise "such bodies are not inspected", example "orders.v1.Order";
        /// Full name of the message type of response bodies under such content types, if the path is not that of a
        /// method.
        optional response_message: BoundedText<512>, otherwise "such bodies are not inspected", example "orders.v1.Receipt";
        /// Message of a stream from which fields are extracted. Headers always come from the first.
        optional which: WhichMessage, default "first", example "last";
        /// Handling of a request whose first message cannot be read (malformed, compressed or too large) although one
        /// of its fields becomes a header. If no field becomes a header, such requests are always forwarded.
        optional unreadable: Unreadable, default "refuse", example "pass";
        /// Maximum size of a message that is inspected. If a field becomes a header, the request head waits for the
        /// message.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "64KiB", example "1MiB";
        /// Whether the rule is looked up again, with the new headers.
        optional reroute: bool, default "false", example "true";
        group OneOrMore of request response;
    }
}

mapping! {
    /// A field of request messages.
    RequestFieldSpec as "a request message field" {
        /// Path of the field, starting at the message of the call: `customer.tenant`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "customer.tenant";
        /// Full names of the message types.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all types that have such a field", example "[orders.v1.PlaceRequest]";
        /// Request header that receives the value. A client's own header of this name is removed from every request. In
        /// strings, `%` and characters that a header cannot contain are written as `%` and two digits.
        optional header: FieldName, otherwise "no header is set", example "x-tenant";
        /// Whether the metadata also has the positions of the values in the body, under `KEY_at`: a list of offsets and
        /// lengths, for filters after this one. For a number only the offset is given.
        optional places: bool, default "false", example "true";
        /// Maximum number of values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
        /// Maximum length of a string in bytes. A longer one is truncated in the metadata and does not become a header:
        /// it counts as unreadable.
        optional bytes: Number<1, 4096>, default "256", example "64";
    }
}

mapping! {
    /// A field of response messages.
    MessageFieldSpec as "a response message field" {
        /// Path of the field, starting at the message of the call: `total.units`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "total.units";
        /// Full names of the message types.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all types that have such a field", example "[orders.v1.PlaceReply]";
        /// Whether the metadata also has the positions of the values in the body, under `KEY_at`.
        optional places: bool, default "false", example "true";
        /// Maximum number of values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
        /// Maximum length of a string in bytes. A longer one is truncated.
        optional bytes: Number<1, 4096>, default "256", example "64";
    }
}

mapping! {
    /// Protobuf message fields that a Go, Lua, Wasm or native filter reads: eddy passes it their positions in the body,
    /// and no message is decoded. They are stored in the metadata `message_fields` directly before the filter runs, as
    /// by the filter `message_fields` with `places`.
    FilterFieldsSpec as "fields of a filter" {
        /// Protobuf descriptors: a `FileDescriptorSet` file as `protoc --include_imports --descriptor_set_out` writes
        /// it. It is read together with the configuration. Relative paths are resolved against the directory of the
        /// configuration file.
        required descriptors: FilePath, example "./orders.binpb";
        /// Fields of request messages, by the key under which the filter asks for them.
        optional request: NamedMap<RecordKey, FilterFieldSpec>, otherwise "none", example "{tenant: {path: customer.tenant}}";
        /// Fields of response messages, by the key under which the filter asks for them.
        optional response: NamedMap<RecordKey, FilterFieldSpec>, otherwise "none", example "{total: {path: total.units}}";
        /// Full name of the message type of request bodies under `application/x-protobuf` and similar content types, if
        /// the path is not that of a method.
        optional request_message: BoundedText<512>, otherwise "no fields are extracted from such bodies", example "orders.v1.Order";
        /// Full name of the message type of response bodies under such content types, if the path is not that of a
        /// method.
        optional response_message: BoundedText<512>, otherwise "no fields are extracted from such bodies", example "orders.v1.Receipt";
        group OneOrMore of request response;
    }
}

mapping! {
    /// A field that a filter reads.
    FilterFieldSpec as "a message field of a filter" {
        /// Path of the field, starting at the message of the call: `customer.tenant`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "customer.tenant";
        /// Full names of the message types.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all types that have such a field", example "[orders.v1.PlaceRequest]";
        /// Maximum number of values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
    }
}

mapping! {
    /// Removes or masks sensitive fields of protobuf messages, in gRPC calls message by message, and in bodies that are
    /// a single message. Messages that cannot be inspected are refused.
    RedactSpec as "redact" {
        /// Protobuf descriptors: a `FileDescriptorSet` file as `protoc --include_imports --descriptor_set_out` writes
        /// it. It is read together with the configuration. Relative paths are resolved against the directory of the
        /// configuration file.
        required descriptors: FilePath, example "./accounts.binpb";
        /// Options that mark fields as sensitive, in all messages at any depth: `debug_redact`, or extensions of
        /// `google.protobuf.FieldOptions` by their full name: `name` for those of type `bool`, `name=VALUE` for those
        /// of an enum type.
        optional options: Vec<Spanned<BoundedText<512>>>, otherwise "none", example "[debug_redact, 'accounts.v1.privacy=SECRET']";
        /// Sensitive fields by their full name, in all messages at any depth.
        optional fields: Vec<Spanned<BoundedText<512>>>, otherwise "none", example "[accounts.v1.Account.email]";
        /// Sensitive fields by their paths in the messages of calls.
        optional paths: Vec<Spanned<MessagePathSpec>>, otherwise "none", example "[{path: 'labels[\"ssn\"]'}]";
        /// Change that is made to the selected fields.
        optional edit: RedactEditName, default "mask", example "drop";
        /// Text that replaces strings and bytes, with `edit: mask`.
        optional text: BoundedText<32>, default "'***'", example "(hidden)";
        /// Direction of the messages that are changed.
        optional direction: Directions, default "both", example "response";
        /// Full name of the message type of request bodies under `application/x-protobuf` and similar content types, if
        /// the path is not that of a method.
        optional request_message: BoundedText<512>, otherwise "`unknown` applies", example "accounts.v1.Account";
        /// Full name of the message type of response bodies under such content types, if the path is not that of a
        /// method.
        optional response_message: BoundedText<512>, otherwise "`unknown` applies", example "accounts.v1.Account";
        /// Handling of compressed messages. Unless it is `pass`, endpoints are asked not to compress messages.
        optional compressed: Unreadable, default "refuse", example "pass";
        /// Handling of messages whose method is not in the descriptors, of bodies whose message type is unknown, and of
        /// other formats such as gRPC-Web.
        optional unknown: Unreadable, default "refuse", example "pass";
        /// Handling of values in a `google.protobuf.Any`, which are not inspected, with `options` or `fields`.
        optional any: AnyValues, default "drop", example "pass";
        /// Maximum size of a message that is buffered because its length changes. Exchanges with larger messages are
        /// refused. With `edit: same_length` messages of any size are streamed.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "4MiB", example "1MiB";
        group OneOrMore of options fields paths;
    }
}

mapping! {
    /// A field of messages, by its path.
    MessagePathSpec as "a message path" {
        /// Path of the field, starting at the message of the call: `owner.email`, `cards.number`, `labels["ssn"]`.
        required path: BoundedText<1024>, example "owner.email";
        /// Full names of the message types.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all types that have such a field", example "[accounts.v1.Account]";
    }
}
