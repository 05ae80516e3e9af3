//! Limits of a cluster.

/// Maximum of each kind in use at once; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Connections to all endpoints together: idle, busy and being established.
    pub connections: Option<u32>,
    /// Requests at endpoints, including those that wait for a connection, and tunnels.
    pub requests: Option<u32>,
    /// Requests that wait for a connection to be established.
    pub pending: Option<u32>,
    /// Requests that are being retried.
    pub retries: Option<u32>,
}

/// Limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// See [`LimitsConfig::connections`].
    Connections,
    /// See [`LimitsConfig::requests`].
    Requests,
    /// See [`LimitsConfig::pending`].
    Pending,
    /// See [`LimitsConfig::retries`].
    Retries,
}

impl LimitsConfig {
    /// Whether no limit is set.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the limit of a kind.
    pub fn of(&self, kind: LimitKind) -> Option<u32> {
        match kind {
            LimitKind::Connections => self.connections,
            LimitKind::Requests => self.requests,
            LimitKind::Pending => self.pending,
            LimitKind::Retries => self.retries,
        }
    }
}

impl LimitKind {
    /// All kinds, by index.
    pub const ALL: [Self; 4] = [Self::Connections, Self::Requests, Self::Pending, Self::Retries];

    /// Returns the configuration key.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Requests => "requests",
            Self::Pending => "pending",
            Self::Retries => "retries",
        }
    }
}
