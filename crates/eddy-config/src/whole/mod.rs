//! Whole configurations, of eddy's own files and of files of other programs.

mod check;
mod embed;
mod tables;

pub(crate) use check::embedded_files;
pub use check::{Checked, check, check_after, check_with};
