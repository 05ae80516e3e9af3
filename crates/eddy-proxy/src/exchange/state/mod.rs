//! State of an exchange: the data that its phases work on.

mod exchange;
mod grpc;
mod head_source;
mod local;
mod mirroring;
mod site;
mod upgrade;

pub(crate) use exchange::Exchange;
pub(in crate::exchange) use head_source::HeadSource;
pub(in crate::exchange) use local::{Drip, LocalBody};
pub(in crate::exchange) use mirroring::{MirrorCopy, Mirroring};
pub(in crate::exchange) use site::SiteState;
pub(in crate::exchange) use upgrade::UpgradeStage;
