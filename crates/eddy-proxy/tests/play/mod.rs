//! Those who take part in random orders: clients, filters, threads that resume, an origin, and a book of what they saw.

pub(crate) mod book;
pub(crate) mod client;
pub(crate) mod origin;
pub(crate) mod resumer;
pub(crate) mod script;
