//! Datagrams forwarded by session: each client's datagrams go to one endpoint, whose responses are sent back.

mod flows;
mod reach;
mod session;
mod take;

pub(crate) use session::SessionFlows;
pub(crate) use take::take_datagrams;
