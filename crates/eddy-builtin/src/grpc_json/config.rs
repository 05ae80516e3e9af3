//! Configuration of `grpc_json`.

use std::path::PathBuf;
use std::sync::Arc;

use eddy_protobuf::{EnumForm, JsonFieldNaming, StreamForm, Unknown};

/// Checked configuration of `grpc_json`; the descriptors are read when the filter is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcJsonConfig {
    /// Descriptor file.
    pub descriptors: PathBuf,
    /// Full names of the services to transcode; all services of the descriptors if empty.
    pub services: Vec<Arc<str>>,
    /// Whether methods without an HTTP rule are called by their gRPC path.
    pub has_methods_without_rule: bool,
    /// Handling of requests that match no method.
    pub unknown_requests: UnknownRequests,
    /// Handling of query parameters that match no field.
    pub unknown_parameters: Unknown,
    /// Handling of JSON members that match no field.
    pub unknown_fields: Unknown,
    /// Query parameters that are ignored, because they are meant for other components.
    pub ignored_parameters: Vec<Arc<str>>,
    /// Format of several messages in a response, if the client has no preference.
    pub stream: StreamForm,
    /// Field names in responses.
    pub names: JsonFieldNaming,
    /// Format of enums in responses.
    pub enums: EnumForm,
    /// Whether responses include fields with default values.
    pub prints_defaults: bool,
    /// Maximum message size in bytes, on the wire or as JSON.
    pub message_bytes_max: usize,
    /// Whether the route is selected again, with the path of the method.
    pub is_rerouted: bool,
}

/// Handling of requests that match no method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownRequests {
    /// The request is passed unchanged.
    #[default]
    Pass,
    /// The request is answered 404, or 405 if the path is known.
    Refuse,
}

impl GrpcJsonConfig {
    /// Configuration for all methods of all services in a descriptor file.
    pub fn new(descriptors: PathBuf) -> Self {
        Self {
            descriptors,
            services: Vec::new(),
            has_methods_without_rule: false,
            unknown_requests: UnknownRequests::Pass,
            unknown_parameters: Unknown::Refuse,
            unknown_fields: Unknown::Refuse,
            ignored_parameters: Vec::new(),
            stream: StreamForm::Array,
            names: JsonFieldNaming::Json,
            enums: EnumForm::Names,
            prints_defaults: false,
            message_bytes_max: MESSAGE_BYTES_DEFAULT,
            is_rerouted: false,
        }
    }
}

/// Default of gRPC libraries.
const MESSAGE_BYTES_DEFAULT: usize = 4 << 20;
