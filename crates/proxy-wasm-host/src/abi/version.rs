//! ABI versions of modules.

use std::fmt;

/// Version of the proxy-wasm ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AbiVersion {
    /// 0.1.0: no end-of-stream argument with headers; the configuration is read with a function of its own.
    V0_1_0,
    /// 0.2.0: streams are continued and closed by type.
    V0_2_0,
    /// 0.2.1: the log level can be queried.
    V0_2_1,
    /// 0.2.100: the version of Higress' SDKs. It behaves as 0.2.1; its modules may import [more host
    /// functions](super::Family::Higress).
    V0_2_100,
}

impl AbiVersion {
    /// All versions, oldest first.
    pub const ALL: [Self; 4] = [Self::V0_1_0, Self::V0_2_0, Self::V0_2_1, Self::V0_2_100];

    /// Returns the export by which a module declares this version.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::V0_1_0 => "proxy_abi_version_0_1_0",
            Self::V0_2_0 => "proxy_abi_version_0_2_0",
            Self::V0_2_1 => "proxy_abi_version_0_2_1",
            Self::V0_2_100 => "proxy_abi_version_0_2_100",
        }
    }
}

impl fmt::Display for AbiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0_1_0 => "0.1.0",
            Self::V0_2_0 => "0.2.0",
            Self::V0_2_1 => "0.2.1",
            Self::V0_2_100 => "0.2.100",
        })
    }
}
