//! Checked configuration of TCP and UDP forwarding.

use std::net::IpAddr;
use std::num::NonZeroU32;

use eddy_ids::ClusterId;
use eddy_route::{HostPattern, SourceLocation};

use crate::address_block::AddressBlock;

/// Forwarding of a listener's connections or datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// The targets, in the order of the file; at least one.
    pub ways: Vec<Forward>,
    /// Position in the configuration.
    pub origin: SourceLocation,
}

/// One target of forwarded connections or datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Server names (SNI) of this target; empty for all connections that no other target names.
    pub names: Vec<HostPattern>,
    /// The cluster.
    pub cluster: ClusterId,
    /// Version of the PROXY protocol header that tells the endpoint the client address, if one is sent.
    pub proxy: Option<ProxyVersion>,
    /// When a UDP session ends before its idle timeout; without effect for connections.
    pub ends: SessionEnds,
}

/// When a UDP session ends before its idle timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionEnds {
    /// Client datagrams after which the next one begins another session; `None` for no limit.
    pub datagrams_max: Option<NonZeroU32>,
    /// Datagrams that the endpoint sends for each client datagram; `None` if unknown.
    pub responses: Option<NonZeroU32>,
}

/// A version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyVersion {
    /// Text header.
    V1,
    /// Binary header.
    V2,
}

/// Connections that begin with a PROXY protocol header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyProtocolConfig {
    /// Source addresses of these connections; `None` for all connections.
    pub from: Option<Vec<AddressBlock>>,
}

impl Forward {
    /// Returns the server names as they are written in the file.
    pub fn names_written(&self) -> Vec<String> {
        let written = |pattern: &HostPattern| match pattern {
            HostPattern::Exact(name) => name.clone(),
            HostPattern::Suffix(parent) | HostPattern::OneLabel(parent) => format!("*.{parent}"),
            HostPattern::ByteSuffix(end) => format!("*{end}"),
            HostPattern::BytePrefix(start) => format!("{start}*"),
            HostPattern::Any => "*".to_owned(),
        };
        self.names.iter().map(written).collect()
    }
}

impl Forwarding {
    /// Whether the target depends on the server name (SNI).
    pub fn routes_by_server_name(&self) -> bool {
        self.ways.iter().any(|way| !way.names.is_empty())
    }

    /// Returns the target for a server name: the exact name first, then the longest matching `*.`, then a target
    /// without names. `None` if nothing matches.
    ///
    /// # Cost
    /// Linear in the number of names.
    pub fn find(&self, name: Option<&str>) -> Option<&Forward> {
        self.ways.get(self.position(name)?)
    }

    /// Returns the index of the target for a server name, as [`Self::find`].
    pub fn position(&self, name: Option<&str>) -> Option<usize> {
        let rank = |way: &Forward| -> Option<usize> {
            if way.names.is_empty() {
                return Some(0);
            }
            way.names.iter().filter_map(|pattern| rank_of(pattern, name?)).max()
        };
        let ranked = self.ways.iter().enumerate().filter_map(|(index, way)| Some((rank(way)?, index)));
        // Of equal ranks the first wins.
        ranked
            .fold(None, |best: Option<(usize, usize)>, (rank, index)| match best {
                Some((highest, _)) if highest >= rank => best,
                _ => Some((rank, index)),
            })
            .map(|(_, index)| index)
    }
}

/// Returns how specific `pattern` is if `name` matches it, else `None`.
fn rank_of(pattern: &HostPattern, name: &str) -> Option<usize> {
    match pattern {
        HostPattern::Exact(exact) => (exact == name).then_some(usize::MAX),
        HostPattern::Suffix(parent) => {
            let rest = name.strip_suffix(parent.as_str())?;
            (rest.len() > 1 && rest.ends_with('.')).then_some(parent.len() + 1)
        }
        HostPattern::Any
        | HostPattern::OneLabel(_)
        | HostPattern::ByteSuffix(_)
        | HostPattern::BytePrefix(_) => {
            // Of these the file format has only `*`.
            Some(1)
        }
    }
}

impl ProxyProtocolConfig {
    /// Whether a connection from `peer` must begin with a PROXY protocol header.
    pub fn is_due(&self, peer: IpAddr) -> bool {
        self.from.as_ref().is_none_or(|blocks| blocks.iter().any(|block| block.contains(peer)))
    }
}

#[cfg(test)]
mod tests {
    use eddy_ids::{Shared, Slots};
    use eddy_model::ClusterConfig;

    use super::*;

    fn way(names: &[&str], cluster: ClusterId) -> Forward {
        let names = names.iter().map(|name| match name.strip_prefix("*.") {
            Some(parent) => HostPattern::Suffix(parent.to_owned()),
            None => HostPattern::Exact((*name).to_owned()),
        });
        Forward { names: names.collect(), cluster, proxy: None, ends: SessionEnds::default() }
    }

    fn of(ways: Vec<Forward>) -> Forwarding {
        Forwarding { ways, origin: SourceLocation { file: "eddy.yaml".into(), line: 1 } }
    }

    #[test]
    fn the_most_specific_name_wins_in_any_order() {
        let last = Slots::<ClusterId, Shared<str>, ClusterConfig>::default();
        let mut clusters = last.draft();
        let c = ["0", "1", "2", "3", "4"].map(|name| clusters.reserve(name.into()));
        let mut ways = vec![
            way(&[], c[0]),
            way(&["*.test"], c[1]),
            way(&["*.db.test"], c[2]),
            way(&["a.db.test", "b.test"], c[3]),
            way(&["a.db.test"], c[4]),
        ];
        for _ in 0..2 {
            let forwarding = of(ways.clone());
            let find = |name| forwarding.find(name).map(|way| way.cluster);
            let first = forwarding.ways.iter().find(|way| way.cluster > c[2]).map(|way| way.cluster);
            assert_eq!(find(Some("a.db.test")), first, "of two alike the first");
            assert_eq!(find(Some("b.test")), Some(c[3]));
            assert_eq!(find(Some("c.db.test")), Some(c[2]));
            assert_eq!(find(Some("d.c.db.test")), Some(c[2]));
            assert_eq!(find(Some("db.test")), Some(c[1]));
            assert_eq!(find(Some("test")), Some(c[0]));
            assert_eq!(find(Some("xtest")), Some(c[0]));
            assert_eq!(find(None), Some(c[0]));
            ways.reverse();
        }
        let closed = of(vec![way(&["a.test"], c[0])]);
        assert!(closed.routes_by_server_name());
        assert_eq!(closed.find(Some("b.test")), None);
        assert_eq!(closed.find(None), None);
        assert!(!of(vec![way(&[], c[0])]).routes_by_server_name());
    }
}
