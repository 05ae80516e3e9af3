//! Istio's objects as written.

mod entry;
mod gateway;
mod policy;
mod service;

pub(super) use entry::{
    DestinationRuleSpec, EntryEndpointSpec, EntryPortSpec, EntrySpec, PolicySpec, SubsetSpec,
};
pub(super) use gateway::{GatewaySpec, ServerSpec};
pub(super) use policy::{
    CorsSpec, DirectResponseSpec, EditsSpec, FaultSpec, HeadersSpec, PercentSpec, RedirectSpec, RetriesSpec,
};
pub(super) use service::{
    DestinationSpec, HttpRouteSpec, MatchSpec, RouteDestinationSpec, TextMatchSpec, VirtualServiceSpec,
};

use crate::dialect::kubernetes::{ApiText, Label};
use crate::read::Named;

/// Tests by name.
pub(super) type Tests = Named<Label, TextMatchSpec>;
/// Labels.
pub(super) type Labels = Named<Label, ApiText>;
