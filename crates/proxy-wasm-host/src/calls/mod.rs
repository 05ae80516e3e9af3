//! Host functions that modules import.

mod buffers;
mod contexts;
mod define;
mod fields;
mod foreign;
mod grpc;
mod higress;
mod http;
mod logs;
mod metrics;
mod properties;
mod queues;
mod shared_data;
mod streams;
mod table;

pub(crate) use define::define;
