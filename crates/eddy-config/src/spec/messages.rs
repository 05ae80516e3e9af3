//! The keys of the filters that look into protobuf messages.

use crate::read::{NamedMap, Spanned};
use crate::value::{
    AnyValuesName, BoundedText, ByteSize, DirectionsName, FieldName, FilePath, Number, RecordKey,
    RedactEditName, UnreadableName, WhichMessageName,
};

mapping! {
    /// Takes fields out of protobuf messages, of gRPC or alone in a body: into the metadata `message_fields`, from where
    /// they go into access records (`access_log.metadata`), and into headers, by which rules can match. Messages stay as
    /// they are. Values come from the first message of a stream.
    MessageFieldsSpec as "message_fields" {
        /// A `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it. It is read when the
        /// configuration is. A relative path begins where the configuration file lies.
        required descriptors: FilePath, example "./orders.binpb";
        /// Fields of messages in requests, by the key that they get in the metadata.
        optional request: NamedMap<RecordKey, RequestFieldSpec>, otherwise "none", example "{tenant: {path: customer.tenant, header: x-tenant}}";
        /// Fields of messages in responses, by the key that they get in the metadata.
        optional response: NamedMap<RecordKey, MessageFieldSpec>, otherwise "none", example "{total: {path: total.units}}";
        /// The full name of the message that the body of a request is, where it is of no method: under
        /// `application/x-protobuf` and its like.
        optional request_message: BoundedText<512>, otherwise "such bodies pass unread", example "orders.v1.Order";
        /// The same of responses.
        optional response_message: BoundedText<512>, otherwise "such bodies pass unread", example "orders.v1.Receipt";
        /// From which of several messages fields are taken. Headers come from the first.
        optional which: WhichMessageName, default "first", example "last";
        /// What becomes of a request whose first message can't be read, though a field of it is to become a header:
        /// malformed, compressed, or too large. Where no field becomes a header, such requests always go on.
        optional unreadable: UnreadableName, default "refuse", example "pass";
        /// Largest message that is looked into. The head of a request waits so long where a field becomes a header.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "64KiB", example "1MiB";
        /// Whether the rule is looked up again, with the headers.
        optional reroute: bool, default "false", example "true";
        group OneOrMore of request response;
    }
}

mapping! {
    /// A field of messages in requests.
    RequestFieldSpec as "a field of a request" {
        /// Where it is in the message of a call: `customer.tenant`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "customer.tenant";
        /// Full names of the messages.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all that have such a field", example "[orders.v1.PlaceRequest]";
        /// The header that it becomes. A client's own is removed, from every request. Of a text, what a header can't
        /// hold and `%` stand as `%` and two digits.
        optional header: FieldName, otherwise "it becomes none", example "x-tenant";
        /// Whether the metadata has, under `KEY_at`, where the values stand in the body, too: a list of offsets and
        /// lengths, for filters behind this one. Of a number only where it begins.
        optional places: bool, default "false", example "true";
        /// Most values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
        /// Longest text. One that is longer is cut in the metadata, and is no header: that counts as unreadable.
        optional bytes: Number<1, 4096>, default "256", example "64";
    }
}

mapping! {
    /// A field of messages in responses.
    MessageFieldSpec as "a field of a response" {
        /// Where it is in the message of a call: `total.units`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "total.units";
        /// Full names of the messages.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all that have such a field", example "[orders.v1.PlaceReply]";
        /// Whether the metadata has, under `KEY_at`, where the values stand in the body, too.
        optional places: bool, default "false", example "true";
        /// Most values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
        /// Longest text. One that is longer is cut.
        optional bytes: Number<1, 4096>, default "256", example "64";
    }
}

mapping! {
    /// The fields of protobuf messages that a filter in Go, Lua, Wasm or another language reads: eddy tells it where in the
    /// body they stand, and no message is decoded. They are noted in the metadata `message_fields` in front of the
    /// filter, as the filter `message_fields` does with `places`.
    FilterFieldsSpec as "what a filter reads of messages" {
        /// A `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it. It is read when the
        /// configuration is. A relative path begins where the configuration file lies.
        required descriptors: FilePath, example "./orders.binpb";
        /// Fields of messages in requests, by the key under which the filter asks for them.
        optional request: NamedMap<RecordKey, FilterFieldSpec>, otherwise "none", example "{tenant: {path: customer.tenant}}";
        /// Fields of messages in responses, by the key under which the filter asks for them.
        optional response: NamedMap<RecordKey, FilterFieldSpec>, otherwise "none", example "{total: {path: total.units}}";
        /// The full name of the message that the body of a request is, where it is of no method: under
        /// `application/x-protobuf` and its like.
        optional request_message: BoundedText<512>, otherwise "such bodies have no fields", example "orders.v1.Order";
        /// The same of responses.
        optional response_message: BoundedText<512>, otherwise "such bodies have no fields", example "orders.v1.Receipt";
        group OneOrMore of request response;
    }
}

mapping! {
    /// A field that a filter reads.
    FilterFieldSpec as "a field that a filter reads" {
        /// Where it is in the message of a call: `customer.tenant`, `items.article`, `labels["env"]`.
        required path: BoundedText<1024>, example "customer.tenant";
        /// Full names of the messages.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all that have such a field", example "[orders.v1.PlaceRequest]";
        /// Most values of a field that can have several.
        optional values: Number<1, 64>, default "8", example "1";
    }
}

mapping! {
    /// Takes out of protobuf messages what must not go on, or masks it: in frames of gRPC, message by message, and in bodies
    /// that are a message. What can't be looked into is refused.
    RedactSpec as "redact" {
        /// A `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it. It is read when the
        /// configuration is. A relative path begins where the configuration file lies.
        required descriptors: FilePath, example "./accounts.binpb";
        /// Options that mark fields, in all messages at any depth: `debug_redact`, or extensions of
        /// `google.protobuf.FieldOptions` by their full name: those that are `bool`, and `name=VALUE` for those of an enum.
        optional options: Vec<Spanned<BoundedText<512>>>, otherwise "none", example "[debug_redact, 'accounts.v1.privacy=SECRET']";
        /// Fields by their full name, in all messages at any depth.
        optional fields: Vec<Spanned<BoundedText<512>>>, otherwise "none", example "[accounts.v1.Account.email]";
        /// Places in the messages of calls.
        optional paths: Vec<Spanned<MessagePathSpec>>, otherwise "none", example "[{path: 'labels[\"ssn\"]'}]";
        /// What is done to all of them.
        optional edit: RedactEditName, default "mask", example "drop";
        /// The text that stands for texts and bytes, with `edit: mask`.
        optional text: BoundedText<32>, default "'***'", example "(hidden)";
        /// Which messages it is done to.
        optional direction: DirectionsName, default "both", example "response";
        /// The full name of the message that the body of a request is, where it is of no method: under
        /// `application/x-protobuf` and its like.
        optional request_message: BoundedText<512>, otherwise "`unknown` says what becomes of it", example "accounts.v1.Account";
        /// The same of responses.
        optional response_message: BoundedText<512>, otherwise "`unknown` says what becomes of it", example "accounts.v1.Account";
        /// What becomes of compressed messages. Endpoints are asked for plain ones, unless it is `pass`.
        optional compressed: UnreadableName, default "refuse", example "pass";
        /// What becomes of messages of methods that the descriptors don't have, of bodies whose message is not known, and of
        /// other forms, such as gRPC-Web.
        optional unknown: UnreadableName, default "refuse", example "pass";
        /// What becomes of values in a `google.protobuf.Any`, which are not looked into, with `options` or `fields`.
        optional any: AnyValuesName, default "drop", example "pass";
        /// Largest message that is held because its length changes. Beyond it the exchange is refused. With
        /// `edit: same_length` messages of any size pass as they come.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "4MiB", example "1MiB";
        group OneOrMore of options fields paths;
    }
}

mapping! {
    /// A place in messages.
    MessagePathSpec as "a place in messages" {
        /// The path, from the message of a call on: `owner.email`, `cards.number`, `labels["ssn"]`.
        required path: BoundedText<1024>, example "owner.email";
        /// Full names of the messages.
        optional messages: Vec<Spanned<BoundedText<512>>>, otherwise "all that have such a field", example "[accounts.v1.Account]";
    }
}
