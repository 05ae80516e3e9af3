//! One worker's share of a limit of the whole gateway.

/// Returns one worker's share of a limit of the whole gateway; at least 1.
pub(crate) fn share(limit: u32, workers: usize) -> u32 {
    limit.div_ceil(u32::try_from(workers).unwrap_or(u32::MAX).max(1)).max(1)
}
