//! Lets addresses in or keeps them out.

use super::address::{ClientConfig, IpBlock};

/// The configuration of `ip_access`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpAccessConfig {
    /// Addresses that are kept out, whatever `allow` says.
    pub deny: Vec<IpBlock>,
    /// Addresses that are let in; where there are any, all others are kept out.
    pub allow: Vec<IpBlock>,
    /// Whose address counts.
    pub client: ClientConfig,
}
