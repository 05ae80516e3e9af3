//! What the rules of forwarding say of a well-known field.

/// A set of rules that hold for a field.
#[derive(Clone, Copy)]
pub(crate) struct Traits(u8);

impl Traits {
    /// End to end, nothing special: Connection can't remove it, a trailer can't carry it.
    pub(crate) const PLAIN: Self = Self(0);
    /// Ends at each hop: never forwarded (RFC 9110 §7.6.1).
    pub(crate) const HOP: Self = Self(1);
    /// Says where the message ends or goes; eddy writes it anew.
    pub(crate) const FRAMING: Self = Self(2);
    /// Tells of the client; only a trusted peer's is believed.
    pub(crate) const FORWARDED: Self = Self(4);
    /// Means the same in a trailer section.
    pub(crate) const TRAILER: Self = Self(8);
    /// Of no known meaning: Connection may nominate it.
    pub(crate) const UNKNOWN: Self = Self(16);

    /// Both sets together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any rule of `other` is in this set.
    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
