//! What modules share: values and queues, for hosts that don't have their own.

mod services;
#[cfg(test)]
mod tests;
mod view;

pub use services::{QueueListener, SharedLimits, SharedServices};
pub use view::SharedView;
