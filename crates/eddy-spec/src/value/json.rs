//! Scalar values in `grpc_json` configurations.

use eddy_builtin::{EnumForm, JsonFieldNaming, StreamForm, Unknown, UnknownRequests};

use super::choice::{Meaning, keywords};

/// Handling of requests that match no method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRequestsName(pub UnknownRequests);

/// Handling of unknown parameters, members and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName(pub Unknown);

/// Format of streamed messages in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFormName(pub StreamForm);

/// Field names in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonNamesName(pub JsonFieldNaming);

/// Format of enums in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumFormName(pub EnumForm);

keywords! {
    UnknownRequestsName: UNKNOWN_REQUESTS;
    UnknownName: UNKNOWN;
    StreamFormName: STREAM_FORMS;
    JsonNamesName: JSON_NAMES;
    EnumFormName: ENUM_FORMS;
}

const UNKNOWN_REQUESTS: &[Meaning<UnknownRequestsName>] = &[
    ("pass", UnknownRequestsName(UnknownRequests::Pass), "they are forwarded unchanged"),
    (
        "refuse",
        UnknownRequestsName(UnknownRequests::Refuse),
        "the response is 404, or 405 if the path is known",
    ),
];

const UNKNOWN: &[Meaning<UnknownName>] = &[
    ("refuse", UnknownName(Unknown::Refuse), "the response is 400"),
    ("ignore", UnknownName(Unknown::Ignore), "they are ignored"),
];

const STREAM_FORMS: &[Meaning<StreamFormName>] = &[
    ("array", StreamFormName(StreamForm::Array), "as elements of a JSON array"),
    ("lines", StreamFormName(StreamForm::Lines), "one per line, as `application/x-ndjson`"),
    ("events", StreamFormName(StreamForm::Events), "as events of a `text/event-stream`"),
];

const JSON_NAMES: &[Meaning<JsonNamesName>] = &[
    (
        "json",
        JsonNamesName(JsonFieldNaming::Json),
        "JSON names, in camel case unless `json_name` specifies another",
    ),
    ("declared", JsonNamesName(JsonFieldNaming::Declared), "names as declared"),
];

const ENUM_FORMS: &[Meaning<EnumFormName>] = &[
    ("names", EnumFormName(EnumForm::Names), "by name"),
    ("numbers", EnumFormName(EnumForm::Numbers), "by number"),
];
