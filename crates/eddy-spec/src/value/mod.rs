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

pub use address::{AdminAddress, EndpointAddressText};
pub use choice::{
    ChallengeName, DialectName, LogLevelName, ProxyVersionName, RedirectStatus, Scheme, ServerCheckName,
    TlsVersionName, TransportName,
};
pub use duration::Time;
pub use filter::{
    FailureName, FieldNameOrAll, FilePath, IdFormatName, LuaLibraryName, MethodOrAll, OriginText, Percent,
    RateFieldsName, RateKeyName, UserName,
};
pub use grpc::GrpcFailure;
pub use host::{CertifiedHost, DirectoryUrl, EmailAddress, HostAndPort, ServerName};
pub use json::{EnumFormName, JsonNamesName, StreamFormName, UnknownName, UnknownRequestsName};
pub use kubernetes::{DomainName, IpText, ObjectName, PortKey, ServiceName};
pub use messages::{
    AnyValuesName, DirectionsName, MetadataName, RecordKey, RedactEditName, UnreadableName, WhichMessageName,
};
pub use number::{Number, Rank};
pub use size::ByteSize;
pub use text::{
    BoundedText, ConfigName, ContentType, FieldName, MethodName, ParameterName, PathText, Pseudonym,
    TimeZoneName,
};
pub use upgrade::{ConnectName, UpgradeName};
pub use wasm::{IsolationName, VariableName};
