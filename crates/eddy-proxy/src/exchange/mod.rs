//! One request and its response, from the first byte of the head to the access log entry.
//!
//! [`phase::ExchangePhase`] is the table of contents; [`run::run_exchange`] drives an exchange through it.

mod action;
mod answer;
mod attempt;
mod context;
mod demo;
mod due;
mod filter;
mod finish;
mod flush;
mod grpc;
mod head;
mod hedge;
mod matching;
mod mirror;
mod phase;
mod reply;
mod route;
mod rules;
mod run;
mod site;
mod state;
mod target;
mod transfer;
mod tunnel;
mod upgrade;
mod upload_wait;
mod watch;

pub(crate) use filter::flush_ended;
pub(crate) use finish::ConnectionDisposition;
pub(crate) use run::run_exchange;
