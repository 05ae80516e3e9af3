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

pub(crate) use acme::AcmeSpec;
pub(crate) use builtin::{
    BasicAuthSpec, BodyLimitSpec, ClientSpec, CorsSpec, FaultSpec, GrpcJsonSpec, GrpcWebSpec, HeadersSpec,
    IpAccessSpec, RateLimitSpec, RequestIdSpec,
};
pub(crate) use cluster::{
    BalanceKeySpec, ClusterSpec, DnsSpec, EjectionSpec, EndpointSpec, HealthSpec, HttpProbeSpec, LimitsSpec,
    PoolSpec, RetryBudgetSpec, UpstreamHttp2Spec,
};
pub(crate) use edits::EditsSpec;
pub(crate) use filter::{FilterSpec, GoSpec, NativeSpec, RuleFilterSpec};
pub(crate) use gateway::{
    AccessLogSpec, AdminSpec, GatewayLimitsSpec, GatewaySpec, LogServiceSpec, LogSpec, QuarantineSpec,
};
pub(crate) use kubernetes::KubernetesSpec;
pub(crate) use listener::{
    ForwardSpec, ForwardedSpec, Http2Spec, ListenerLimitsSpec, ListenerSpec, ProxyProtocolSpec, TimeoutsSpec,
};
pub(crate) use lua::{LuaRuleSpec, LuaScriptSpec, LuaSpec};
pub(crate) use messages::{
    FilterFieldSpec, FilterFieldsSpec, MessageFieldSpec, MessageFieldsSpec, MessagePathSpec, RedactSpec,
    RequestFieldSpec,
};
pub(crate) use rule::{
    FailoverSpec, HedgeSpec, MatchSpec, PathSpec, RedirectSpec, RespondSpec, RetrySpec, RuleSpec, TableSpec,
    ValueSpec, WeightedSpec,
};
pub(crate) use tls::{
    CertificateSpec, ClientCertificatesSpec, ClusterTlsSpec, IdentitySpec, ListenerTlsSpec,
};
pub(crate) use wasm::WasmSpec;
