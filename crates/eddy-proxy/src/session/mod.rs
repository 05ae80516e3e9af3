//! A client's connection: one exchange after the other, whatever version of HTTP it speaks.

mod downstream;
mod handshake;
mod rate;
mod serve;

pub(crate) use downstream::Downstream;
pub(crate) use handshake::SecureClient;
pub(crate) use rate::RateGuard;
pub(crate) use serve::{Place, serve};
