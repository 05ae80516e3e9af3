//! Connections and datagrams that are passed on as they are, as configured.

use std::net::IpAddr;
use std::num::NonZeroU32;

use eddy_route::{HostPattern, SourceLocation};

use crate::config::AddressBlock;

/// Where the connections of a listener go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// The ways, in the order of the file; at least one.
    pub ways: Vec<Forward>,
    /// Where that is written.
    pub origin: SourceLocation,
}

/// One of the ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The names that clients ask for; none for whatever no other way names.
    pub names: Vec<HostPattern>,
    /// The cluster, by index.
    pub cluster: usize,
    /// How the endpoint is told who the client is, if it is.
    pub proxy: Option<ProxyVersion>,
    /// When a session of datagrams ends before it has been silent for long; nothing of connections.
    pub ends: SessionEnds,
}

/// When a session of datagrams ends before it has been silent for long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionEnds {
    /// Datagrams of the client after which its next one begins another session; `None` for no limit.
    pub datagrams_max: Option<NonZeroU32>,
    /// Datagrams that the endpoint sends for each of the client's; `None` where that is not known.
    pub responses: Option<NonZeroU32>,
}

/// A version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyVersion {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// Which connections begin with a header of the PROXY protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyProtocolConfig {
    /// Those from here; all of them where nothing is said.
    pub from: Option<Vec<AddressBlock>>,
}

impl Forward {
    /// The names as they are written in the file.
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
    /// Whether the name that a client asks for decides.
    pub fn goes_by_name(&self) -> bool {
        self.ways.iter().any(|way| !way.names.is_empty())
    }

    /// The way for a client that asks for this name: the exact name first, then the longest `*.` that fits, then a way
    /// without names. `None` where there is none of these.
    ///
    /// # Cost
    /// Linear in the names.
    pub fn find(&self, name: Option<&str>) -> Option<&Forward> {
        let rank = |way: &Forward| -> Option<usize> {
            if way.names.is_empty() {
                return Some(0);
            }
            way.names.iter().filter_map(|pattern| rank_of(pattern, name?)).max()
        };
        let ranked = self.ways.iter().filter_map(|way| Some((rank(way)?, way)));
        // The first of the best.
        ranked
            .fold(None, |best: Option<(usize, &Forward)>, (rank, way)| match best {
                Some((highest, _)) if highest >= rank => best,
                _ => Some((rank, way)),
            })
            .map(|(_, way)| way)
    }
}

/// How specific a pattern is that a name fits; `None` where it does not.
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
            // The file form has `*` alone of these.
            Some(1)
        }
    }
}

impl ProxyProtocolConfig {
    /// Whether a connection from this address begins with a header.
    pub fn is_due(&self, peer: IpAddr) -> bool {
        self.from.as_ref().is_none_or(|blocks| blocks.iter().any(|block| block.contains(peer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(names: &[&str], cluster: usize) -> Forward {
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
    fn the_most_specific_name_wins_whatever_the_order() {
        let mut ways = vec![
            way(&[], 0),
            way(&["*.test"], 1),
            way(&["*.db.test"], 2),
            way(&["a.db.test", "b.test"], 3),
            way(&["a.db.test"], 4),
        ];
        for _ in 0..2 {
            let forwarding = of(ways.clone());
            let find = |name| forwarding.find(name).map(|way| way.cluster);
            let first = forwarding.ways.iter().find(|way| way.cluster > 2).map(|way| way.cluster);
            assert_eq!(find(Some("a.db.test")), first, "of two alike the first");
            assert_eq!(find(Some("b.test")), Some(3));
            assert_eq!(find(Some("c.db.test")), Some(2));
            assert_eq!(find(Some("d.c.db.test")), Some(2));
            assert_eq!(find(Some("db.test")), Some(1));
            assert_eq!(find(Some("test")), Some(0));
            assert_eq!(find(Some("xtest")), Some(0));
            assert_eq!(find(None), Some(0));
            ways.reverse();
        }
        let closed = of(vec![way(&["a.test"], 0)]);
        assert!(closed.goes_by_name());
        assert_eq!(closed.find(Some("b.test")), None);
        assert_eq!(closed.find(None), None);
        assert!(!of(vec![way(&[], 0)]).goes_by_name());
    }
}
