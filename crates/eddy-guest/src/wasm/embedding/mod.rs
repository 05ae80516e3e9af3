//! What eddy does for its modules: the other side of their host functions.
//!
//! One [`Embedding`] lives in each machine. While a callback of a stream is under way its [`MessageView`] shows the exchange;
//! streams that wait have a message_view of their own, so that an answer to a call, a tick or a queue can look at them, change
//! them and go on with them.

mod answer;
mod call;
mod foreign;
mod host;
mod metric;
mod property;
mod queue;
mod reply;
mod state;
mod waiting;

pub(super) use answer::CallAnswer;
pub(super) use call::CallToken;
pub(super) use metric::Metrics;
pub(super) use queue::Queues;
pub(super) use state::{Common, Embedding, Plugin, Wishes};
pub(super) use waiting::PausedMessage;
