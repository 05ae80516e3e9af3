//! Hedging: a second attempt before the first has responded, where a rule configures it.
//!
//! The current attempt belongs to the transfer, as without hedging; [`state::Hedge`] holds the others. The attempt that
//! got its link last is current until another one responds; the one that responds becomes current.
//! [`crate::exchange::transfer`] decides when the others are dropped.

mod begin;
mod state;

pub(super) use begin::{arm, begin_due, obtain, poll_connecting};
pub(crate) use state::{Hedge, HedgedAttempt};
