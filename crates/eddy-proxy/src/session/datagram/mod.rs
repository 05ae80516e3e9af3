//! Datagrams that are passed on by session: each client's go to one endpoint, and what that answers goes back.

mod end;
mod flows;
mod reach;
mod session;
mod take;

pub(crate) use flows::Flows;
pub(crate) use take::take_datagrams;
