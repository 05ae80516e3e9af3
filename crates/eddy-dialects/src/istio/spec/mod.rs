//! Istio objects, as written.

mod access;
mod destination;
mod entry;
mod gateway;
mod policy;
mod service;

pub(super) use access::AccessPolicySpec;
pub(super) use destination::{DestinationSpec, TextMatchSpec};
pub(super) use entry::{
    ClientTlsSpec, DestinationRuleSpec, EntryEndpointSpec, EntryPortSpec, EntrySpec, HashSpec, Labels,
    PolicySpec, SubsetSpec,
};
pub(super) use gateway::{GatewaySpec, ServerSpec, ServerTlsSpec};
pub(super) use policy::{
    CorsSpec, DirectResponseSpec, EditsSpec, FaultSpec, HeadersSpec, PercentSpec, RedirectSpec, RetriesSpec,
};
pub(super) use service::{HttpRouteSpec, MatchSpec, RouteDestinationSpec, Tests, VirtualServiceSpec};
