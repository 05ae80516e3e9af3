//! Moves both messages of an exchange at once, and ends the attempt.

mod end;
mod race;
mod run;

pub(crate) use run::run;
