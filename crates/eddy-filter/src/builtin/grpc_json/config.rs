//! The configuration of `grpc_json`.

use std::path::PathBuf;
use std::sync::Arc;

use eddy_protobuf::{EnumForm, JsonFieldNaming, StreamForm, Unknown};

/// The configuration of `grpc_json`, checked; the descriptors are read when the filter is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcJsonConfig {
    /// The file with the descriptors.
    pub descriptors: PathBuf,
    /// Full names of services; all of the descriptors if there is none.
    pub services: Vec<Arc<str>>,
    /// Whether methods without a rule are called by their path in gRPC.
    pub has_methods_without_rule: bool,
    /// What becomes of requests that are none of a method.
    pub unknown_requests: UnknownRequests,
    /// What becomes of parameters that are no field.
    pub unknown_parameters: Unknown,
    /// What becomes of members of JSON that are no field.
    pub unknown_fields: Unknown,
    /// Parameters that are for somebody else.
    pub ignored_parameters: Vec<Arc<str>>,
    /// How several messages stand in a response, where the client does not say.
    pub stream: StreamForm,
    /// Names of fields in responses.
    pub names: JsonFieldNaming,
    /// How enums stand in responses.
    pub enums: EnumForm,
    /// Whether fields with their default stand in responses.
    pub prints_defaults: bool,
    /// Largest message, on the wire or as JSON, bytes.
    pub message_bytes_max: usize,
    /// Whether the rule is looked up again, by the path of the method.
    pub is_rerouted: bool,
}

/// What becomes of requests that are none of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownRequests {
    /// They go on as they are.
    #[default]
    Pass,
    /// They are answered 404, or 405 where the path is known.
    Refuse,
}

impl GrpcJsonConfig {
    /// All methods of all services in a file.
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

/// What gRPC's libraries take unless they are told otherwise.
const MESSAGE_BYTES_DEFAULT: usize = 4 << 20;
