//! Limits on the size of a head.

/// Limits on the size of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Maximum bytes of a head, including its empty line. Default 64 KiB.
    pub head_bytes_max: u32,
    /// Maximum fields; repeated fields count each. Default 128.
    pub fields_max: u16,
    /// Maximum bytes of a request target. Default 8 KiB.
    pub target_bytes_max: u32,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self { head_bytes_max: 64 * 1024, fields_max: 128, target_bytes_max: 8 * 1024 }
    }
}
