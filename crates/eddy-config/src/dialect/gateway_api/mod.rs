//! The Gateway API: GatewayClass, Gateway, HTTPRoute, GRPCRoute and ReferenceGrant, from manifests to tables.
//!
//! `gateway` and `route` make objects ready, `attach` finds which listeners a route is attached to and for which hosts,
//! `action` makes what rules do, `lower` makes a table for each address, `status` tells what a cluster would show.

mod action;
mod attach;
mod filter;
mod gateway;
mod grant;
mod host;
mod lower;
mod matching;
mod route;
mod spec;
mod status;

use std::sync::Arc;

pub(crate) use gateway::CONTROLLER;
pub(crate) use lower::add;
pub use status::{Condition, ObjectStatus, PartStatus};

use crate::dialect::kubernetes::Metadata;

/// The group of the Gateway API.
pub(crate) const GROUP: &str = "gateway.networking.k8s.io";

/// What decides between objects that are alike otherwise: the older first, those without a time of creation last; then the
/// text `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seniority {
    created: i64,
    name: Arc<str>,
}

impl Seniority {
    fn of(metadata: &Metadata) -> Self {
        let created = metadata.created.unwrap_or(i64::MAX);
        Self { created, name: format!("{}/{}", metadata.namespace, metadata.name).into() }
    }

    /// The time of creation, seconds since 1970, where there is one.
    fn created(&self) -> Option<i64> {
        (self.created != i64::MAX).then_some(self.created)
    }
}
