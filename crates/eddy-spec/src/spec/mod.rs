//! The configuration as written: every key of `eddy.yaml`, declared once.
//!
//! Readers, the published schema and the reference page are generated from the declarations; their doc comments are the
//! text of schema and page.

#[macro_use]
mod declare;
mod acme;
mod builtin;
mod cluster;
mod edits;
mod filter;
mod gateway;
mod kubernetes;
mod listener;
mod lua;
mod messages;
mod rule;
mod tls;
mod wasm;

pub use acme::AcmeSpec;
pub use builtin::{
    AbortSpec, AuthCacheSpec, BasicAuthSpec, BodyLimitSpec, ClientSpec, CorsSpec, DelaySpec, FaultSpec,
    GrpcJsonSpec, GrpcWebSpec, HeadersSpec, IpAccessSpec, RateLimitSpec, RequestIdSpec,
};
pub use cluster::{
    BalanceKeySpec, ClusterSpec, DnsSpec, EjectionSpec, EndpointSpec, GrpcProbeSpec, HealthSpec,
    HttpProbeSpec, LimitsSpec, PoolSpec, RetryBudgetSpec, UpstreamHttp2Spec,
};
pub use edits::EditsSpec;
pub use filter::{DynamicModuleSpec, FilterSpec, GoSpec, NativeSpec, RuleFilterSpec};
pub use gateway::{
    AccessLogSpec, AdminSpec, GatewayLimitsSpec, GatewaySpec, LogServiceSpec, LogSpec, QuarantineSpec,
};
pub use kubernetes::{GatewayPlaceSpec, KubernetesSpec};
pub use listener::{
    ForwardSpec, ForwardedSpec, Http2Spec, ListenerLimitsSpec, ListenerSpec, ProxyProtocolSpec, TimeoutsSpec,
};
pub use lua::{LuaRuleSpec, LuaScriptSpec, LuaSharedSpec, LuaSpec};
pub use messages::{
    FilterFieldSpec, FilterFieldsSpec, MessageFieldSpec, MessageFieldsSpec, MessagePathSpec, RedactSpec,
    RequestFieldSpec,
};
pub use rule::{
    FailoverSpec, HedgeSpec, MatchSpec, PathSpec, RedirectSpec, RespondSpec, RetrySpec, RewriteSpec,
    RuleSpec, TableSpec, ValueSpec, WeightedSpec,
};
pub use tls::{CertificateSpec, ClientCertificatesSpec, ClusterTlsSpec, IdentitySpec, ListenerTlsSpec};
pub use wasm::{AllowSpec, WasmSpec};
