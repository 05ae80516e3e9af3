//! Configurations of other programs: from their text to the same config.

pub(crate) mod nginx;
