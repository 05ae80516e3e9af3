//! Scalar values of the file format: each parses a text into a checked value or a problem.

mod address;
mod choice;
mod duration;
mod filter;
mod host;
mod kubernetes;
mod number;
mod size;
mod text;

pub use address::EndpointAddressText;
pub use choice::{
    DialectName, LogLevelName, LuaLibraryName, RateKeyName, RedactEditName, RedirectStatus, Scheme,
    TransportName,
};
pub use duration::Time;
pub use filter::{FilePath, OrAll, OriginText, UserName};
pub use host::{CertifiedHost, DirectoryUrl, EmailAddress, HostAndPort, ServerName};
pub use kubernetes::{DomainName, IpText, ObjectName, PortKey, ServiceName};
pub use number::{Number, Rank};
pub use size::ByteSize;
pub use text::{
    BoundedText, ConfigName, ContentType, FieldName, MetadataName, MethodName, ParameterName, PathText,
    Pseudonym, RecordKey, TimeZoneName, UpgradeName, VariableName,
};
