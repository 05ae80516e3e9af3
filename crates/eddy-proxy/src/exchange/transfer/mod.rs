//! Transfer of both messages of an exchange at once, to the end of the attempt.

mod download;
mod end;
mod hedging;
mod run;
mod upload;

pub(crate) use run::run;
