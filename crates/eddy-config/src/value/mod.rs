//! Scalar values of the file format: each parses a text into a checked value or a problem.

mod address;
mod choice;
mod duration;
mod filter;
mod grpc;
mod host;
mod json;
mod kubernetes;
mod messages;
mod number;
mod size;
mod text;
mod upgrade;
mod wasm;

pub(crate) use address::{AdminAddress, EndpointAddressText};
pub(crate) use choice::{
    ChallengeName, DialectName, LogLevelName, ProxyVersionName, RedirectStatus, Scheme, ServerCheckName,
    TlsVersionName, TransportName,
};
pub(crate) use duration::Time;
pub(crate) use filter::{
    FailureName, FieldNameOrAll, FilePath, IdFormatName, LuaLibraryName, MethodOrAll, OriginText, Percent,
    RateFieldsName, RateKeyName, UserName,
};
pub(crate) use grpc::GrpcFailure;
pub(crate) use host::{CertifiedHost, DirectoryUrl, EmailAddress, HostAndPort, ServerName};
pub(crate) use json::{EnumFormName, JsonNamesName, StreamFormName, UnknownName, UnknownRequestsName};
pub(crate) use kubernetes::{DomainName, IpText, ObjectName, PortKey, ServiceName};
pub(crate) use messages::{
    AnyValuesName, DirectionsName, MetadataName, RecordKey, RedactEditName, UnreadableName, WhichMessageName,
};
pub(crate) use number::{Number, Rank};
pub(crate) use size::ByteSize;
pub(crate) use text::{
    BoundedText, ConfigName, ContentType, FieldName, MethodName, ParameterName, PathText, Pseudonym,
    TimeZoneName,
};
pub(crate) use upgrade::{ConnectName, UpgradeName};
pub(crate) use wasm::{IsolationName, VariableName};
