//! Forwarding rules of well-known fields.

/// A set of forwarding rules of a field.
#[derive(Clone, Copy)]
pub(crate) struct Traits(u8);

impl Traits {
    /// End-to-end, nothing special: `Connection` cannot remove it, a trailer section cannot contain it.
    pub(crate) const PLAIN: Self = Self(0);
    /// Hop-by-hop: never forwarded (RFC 9110 §7.6.1).
    pub(crate) const HOP: Self = Self(1);
    /// Determines the end or the destination of the message; eddy writes it itself.
    pub(crate) const FRAMING: Self = Self(2);
    /// Describes the client; accepted only from a trusted peer.
    pub(crate) const FORWARDED: Self = Self(4);
    /// Has the same meaning in a trailer section.
    pub(crate) const TRAILER: Self = Self(8);
    /// Unknown meaning: `Connection` may nominate it.
    pub(crate) const UNKNOWN: Self = Self(16);

    /// Returns the union of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this set has any rule of `other`.
    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
