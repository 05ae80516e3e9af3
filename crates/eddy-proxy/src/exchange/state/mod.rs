//! State of an exchange: the data that its phases work on.

mod exchange;
mod local;
mod site;
mod upgrade;

pub(crate) use exchange::Exchange;
pub(in crate::exchange) use exchange::{HeadSource, MirrorCopy, Mirroring};
pub(in crate::exchange) use local::{Drip, LocalBody};
pub(in crate::exchange) use site::SiteState;
pub(in crate::exchange) use upgrade::UpgradeStage;
