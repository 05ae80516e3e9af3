//! Differential testing: independent parsers read what the gateway sent upstream, and must agree.

mod hyper;
mod panel;
mod peer;
mod recorded;
mod scan;
mod seen;
mod tiny;

pub use panel::{Panel, PanelVerdict};
pub use seen::{ParserObservation, SeenMessage};
