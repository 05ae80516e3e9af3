//! The compiled configuration that workers run on.

mod access;
mod chain;
mod filter_set;
mod gateway;
mod log_service;

pub(crate) use access::AccessPlan;
pub(crate) use chain::FilterChain;
pub use filter_set::{FilterSet, RuleFilter, RuleFilterKey};
pub(crate) use gateway::{GatewayPlan, ListenerHandler, ListenerPlan};
pub use gateway::{PlanView, Ready};
pub(crate) use log_service::{METHOD as LOG_SERVICE_METHOD, QueueLimits, ServicePlan};
