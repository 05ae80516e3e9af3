//! Datagrams forwarded by session: each client's datagrams go to one endpoint, whose responses are sent back.

mod flows;
mod reach;
mod receive;
mod session;

pub(crate) use receive::take_datagrams;
pub(crate) use session::SessionFlows;
