//! Data path of the gateway: accept loop, session, exchange.
//!
//! A [`Gateway`] runs one worker per core. A worker accepts connections and serves each one in a session. A session
//! takes one exchange after the other through its phases. Workers share nothing on the request path.

#![forbid(unsafe_code)]

mod access;
mod control;
mod downstream;
mod error;
mod event_loop;
mod exchange;
mod fault;
mod gateway;
mod h2;
mod host;
mod message;
mod outbound;
mod plan;
mod report;
mod resolved;
mod runtime;
mod session;
pub mod stats;
mod upstream;
mod worker;

pub use error::{BadChain, ProxyError};
pub use event_loop::Sockets;
pub use gateway::{Gateway, worker_count};
pub use host::FilterHost;
pub use plan::{FilterSet, PlanView, Ready, RuleFilter, RuleFilterKey};
pub use report::{ClusterReport, ClusterView, EndpointView, LimitView};
pub use stats::Stats;
