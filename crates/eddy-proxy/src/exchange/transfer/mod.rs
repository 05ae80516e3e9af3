//! Moves both messages of an exchange at once, and ends the attempt.

mod download;
mod end;
mod race;
mod run;
mod upload;

pub(crate) use run::run;
