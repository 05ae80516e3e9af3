//! `eddy filter`: projects for the user's own filters, from an empty folder to a library.

mod build;
mod command;
mod name;
mod new;
mod output;
mod specs;
mod template;
mod test;

pub(super) use command::run;
pub(super) use output::say_linking;
