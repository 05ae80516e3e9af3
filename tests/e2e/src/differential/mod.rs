//! Independent parsers that read what the gateway sent upstream, and what it means that they agree.

mod hyper;
mod panel;
mod peer;
mod recorded;
mod scan;
mod seen;
mod tiny;

pub use panel::{Panel, PanelVerdict};
pub use seen::{ParserObservation, SeenMessage};
