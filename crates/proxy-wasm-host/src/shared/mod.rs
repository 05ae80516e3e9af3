//! Shared data and queues, for hosts that do not have their own.

mod services;
#[cfg(test)]
mod tests;
mod view;

pub use services::{QueueListener, SharedLimits, SharedServices};
pub use view::SharedView;
