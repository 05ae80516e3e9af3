//! Host API that filters can call from any thread, and its message queues to the workers.

mod filter_host;
mod inbox;
mod order;
mod slots;
mod upload_queue;
mod worker_state;

#[cfg(test)]
mod schedule_tests;

pub use filter_host::FilterHost;
pub(crate) use filter_host::note_worker;
pub(crate) use inbox::WorkerMessage;
pub(crate) use order::OutboundOrder;
pub(crate) use upload_queue::UploadQueue;
pub(crate) use worker_state::{CrossingScratch, EndedExchanges, WorkerFilterState};
