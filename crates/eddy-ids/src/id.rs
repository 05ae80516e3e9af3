//! Identifiers of the parts of a configuration: a slot and its generation.

use std::fmt;
use std::hash::Hash;

/// An identifier that [`Slots`](crate::Slots) hand out.
///
/// A part keeps its identifier in all later configurations that define its key. When the key is gone, no later part
/// gets the same identifier: the slot is used again under another generation.
pub trait SlotId: Copy + Eq + Hash + fmt::Debug {
    /// Makes an identifier of slot and generation.
    fn from_parts(parts: IdParts) -> Self;

    /// Returns slot and generation.
    fn parts(self) -> IdParts;
}

/// Slot and generation of an identifier; only [`Slots`](crate::Slots) make new ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdParts {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl IdParts {
    /// Returns the slot as a position in a list of all slots.
    pub(crate) fn position(self) -> usize {
        self.slot as usize
    }
}

impl fmt::Debug for IdParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $label:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(IdParts);

        impl SlotId for $name {
            fn from_parts(parts: IdParts) -> Self {
                Self(parts)
            }

            fn parts(self) -> IdParts {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($label, "#{:?}"), self.0)
            }
        }
    )* };
}

ids! {
    /// Identifier of a listener.
    ListenerId = "listener";
    /// Identifier of a table of rules.
    TableId = "table";
    /// Identifier of an NGINX configuration.
    SitesId = "sites";
    /// Identifier of a cluster.
    ClusterId = "cluster";
    /// Identifier of a filter.
    FilterId = "filter";
}

/// Position of an action in the list of the route table or NGINX configuration that owns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(u32);

impl ActionId {
    /// Returns the identifier of the action at a position of its owner's list.
    ///
    /// # Panics
    /// When the position is 2^32 or greater: no configuration is as large.
    pub fn at(position: usize) -> Self {
        Self(u32::try_from(position).expect("a list of actions has fewer than 2^32 entries"))
    }

    /// Returns the position in the owner's list.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}
