//! Host side of the modules' host functions.
//!
//! Each VM has one [`Embedding`]. While a callback of a stream is in progress, its [`MessageView`] shows the exchange.
//! Paused streams have a message view of their own, so that the response to a call, a tick or a queue callback can
//! inspect, change and resume them.

mod answer;
mod call;
mod foreign;
mod grpc;
mod grpc_response;
mod host;
mod metric;
mod property;
mod queue;
mod reply;
mod state;
mod unknown;
mod waiting;

pub(super) use answer::CallAnswer;
pub(super) use call::CallToken;
pub(super) use grpc_response::GrpcDelivery;
pub(super) use metric::Metrics;
pub(super) use queue::Queues;
pub(super) use state::{Common, Embedding, PausedMessage, Plugin, RequestedActions};
pub(super) use unknown::UnknownFunctions;
