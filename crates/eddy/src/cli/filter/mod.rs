//! `eddy filter`: projects for the user's own filters, from an empty folder to a library.

mod build;
mod name;
mod new;
mod output;
mod specs;
mod template;
mod test;

pub(super) use build::run as run_build;
pub(super) use new::run as run_new;
pub(super) use output::print_linking;
pub(super) use test::run as run_test;
