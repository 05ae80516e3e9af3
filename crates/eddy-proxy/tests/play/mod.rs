//! Participants of the random runs: clients, filters, threads that resume, an origin, and a record of what they
//! observed.

pub(crate) mod book;
pub(crate) mod client;
pub(crate) mod origin;
pub(crate) mod resumer;
pub(crate) mod script;
