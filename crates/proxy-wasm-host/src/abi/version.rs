//! Which contract a module was built for.

use std::fmt;

/// A version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AbiVersion {
    /// 0.1.0: no end-of-stream argument with headers, configuration by a function of its own.
    V0_1_0,
    /// 0.2.0: streams are continued and closed by kind.
    V0_2_0,
    /// 0.2.1: the level of the log can be asked for.
    V0_2_1,
}

impl AbiVersion {
    /// From old to new.
    pub const ALL: [Self; 3] = [Self::V0_1_0, Self::V0_2_0, Self::V0_2_1];

    /// The function whose export says that a module was built for this version.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::V0_1_0 => "proxy_abi_version_0_1_0",
            Self::V0_2_0 => "proxy_abi_version_0_2_0",
            Self::V0_2_1 => "proxy_abi_version_0_2_1",
        }
    }
}

impl fmt::Display for AbiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0_1_0 => "0.1.0",
            Self::V0_2_0 => "0.2.0",
            Self::V0_2_1 => "0.2.1",
        })
    }
}
