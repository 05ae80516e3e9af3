//! Istio objects, as written.

mod access;
mod entry;
mod gateway;
mod policy;
mod service;

pub(super) use access::AccessPolicySpec;
pub(super) use entry::{
    ClientTlsSpec, DestinationRuleSpec, EntryEndpointSpec, EntryPortSpec, EntrySpec, HashSpec, Labels,
    PolicySpec, SubsetSpec,
};
pub(super) use gateway::{GatewaySpec, ServerSpec, ServerTlsSpec};
pub(super) use policy::{
    CorsSpec, DirectResponseSpec, EditsSpec, FaultSpec, HeadersSpec, PercentSpec, RedirectSpec, RetriesSpec,
};
pub(super) use service::{
    DestinationSpec, HttpRouteSpec, MatchSpec, RouteDestinationSpec, Tests, TextMatchSpec, VirtualServiceSpec,
};
