//! How large a head may be.

/// How large a head may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Most bytes of a head, its empty line counted. Default 64 KiB.
    pub head_bytes_max: u32,
    /// Most fields, repeated ones counted each. Default 128.
    pub fields_max: u16,
    /// Most bytes of a request target. Default 8 KiB.
    pub target_bytes_max: u32,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self { head_bytes_max: 64 * 1024, fields_max: 128, target_bytes_max: 8 * 1024 }
    }
}
