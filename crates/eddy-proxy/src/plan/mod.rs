//! The compiled configuration that workers run on.

mod access;
mod chain;
mod filter_set;
mod gateway;

pub(crate) use access::{AccessPlan, LOG_SERVICE_METHOD, QueueLimits, ServicePlan};
pub(crate) use chain::FilterChain;
pub use filter_set::{FilterSet, RuleFilter, RuleFilterKey};
pub(crate) use gateway::{GatewayPlan, ListenerHandler, ListenerPlan};
pub use gateway::{PlanView, Ready};
