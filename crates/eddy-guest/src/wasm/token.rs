//! Wake-up tokens of a library.

use proxy_wasm_host::QueueId;

/// Reason why a library is woken on a worker's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeToken {
    /// Tick of a plugin.
    Tick { generation: u32, plugin: u16, turn: u8 },
    /// Responses to calls arrived on another worker.
    CallReplies,
    /// Queue with an item.
    Queue(QueueId),
    /// Another VM may be started now.
    Refill,
}

impl WakeToken {
    pub(super) fn of_number(number: u64) -> Option<Self> {
        let [kind, turn, p0, p1, g0, g1, g2, g3] = number.to_be_bytes();
        let wide = u32::from_be_bytes([g0, g1, g2, g3]);
        match kind {
            0 => Some(Self::Tick { generation: wide, plugin: u16::from_be_bytes([p0, p1]), turn }),
            1 => Some(Self::CallReplies),
            2 => Some(Self::Queue(QueueId(wide))),
            3 => Some(Self::Refill),
            _ => None,
        }
    }

    pub(super) fn number(self) -> u64 {
        let (kind, turn, plugin, wide) = match self {
            Self::Tick { generation, plugin, turn } => (0, turn, plugin, generation),
            Self::CallReplies => (1, 0, 0, 0),
            Self::Queue(queue) => (2, 0, 0, queue.0),
            Self::Refill => (3, 0, 0, 0),
        };
        u64::from_be_bytes([kind, turn, 0, 0, 0, 0, 0, 0]) | u64::from(plugin) << 32 | u64::from(wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_token_round_trips() {
        for token in [
            WakeToken::Tick { generation: u32::MAX, plugin: 513, turn: 255 },
            WakeToken::CallReplies,
            WakeToken::Queue(QueueId(7)),
            WakeToken::Refill,
        ] {
            assert_eq!(WakeToken::of_number(token.number()), Some(token));
        }
        assert_eq!(WakeToken::of_number(u64::MAX), None);
    }
}
