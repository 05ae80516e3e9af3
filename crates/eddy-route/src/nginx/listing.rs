//! Listing of the servers of an address and their locations, in the order in which they are tried.

use std::fmt;

use serde::Serialize;

use super::sites::Sites;
use super::spec::{BlockKind, BlockSpec, LocationHandler};

/// Servers of an address. The JSON form is stable: fields may be added, never renamed.
#[derive(Clone, Debug, Serialize)]
pub struct SiteListing {
    /// Servers in file order.
    pub servers: Vec<ListedServer>,
}

/// A server.
#[derive(Clone, Debug, Serialize)]
pub struct ListedServer {
    /// Server names.
    pub names: Vec<String>,
    /// Whether it serves hosts that match no server name.
    pub is_default: bool,
    /// Configuration file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Locations in the order in which they are tried, each followed by its nested locations.
    pub locations: Vec<ListedLocation>,
}

/// A location.
#[derive(Clone, Debug, Serialize)]
pub struct ListedLocation {
    /// Text of the location.
    pub location: String,
    /// Nesting depth.
    pub depth: u32,
    /// Configuration file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Reason for its position.
    pub why: String,
    /// Reason why no request can reach it.
    pub dead: Option<String>,
}

impl Sites {
    /// Lists the servers and locations of an address.
    ///
    /// # Cost
    /// Linear in the number of locations, and allocates; not for the request path.
    pub fn listing(&self, address: usize) -> SiteListing {
        let Some(listening) = self.addresses().get(address) else {
            return SiteListing { servers: Vec::new() };
        };
        let servers = listening.servers.iter().map(|server| {
            let spec = &self.servers()[*server as usize];
            let place = &self.places()[spec.place as usize];
            let mut locations = Vec::new();
            add_level(self, place, &spec.locations, 0, &mut locations);
            ListedServer {
                names: spec.names.iter().map(|name| name.text.to_string()).collect(),
                is_default: *server == listening.default,
                file: place.origin.file.to_string(),
                line: place.origin.line,
                locations,
            }
        });
        SiteListing { servers: servers.collect() }
    }
}

/// Adds the locations of a level, each followed by its nested locations. `outer` is the server or location of the level.
fn add_level(
    sites: &Sites,
    outer: &BlockSpec,
    locations: &[u32],
    depth: u32,
    listed: &mut Vec<ListedLocation>,
) {
    let is_in_pattern = matches!(outer.kind, BlockKind::Pattern(_));
    let mut order: Vec<(u32, &BlockSpec)> =
        locations.iter().map(|location| (*location, &sites.places()[*location as usize])).collect();
    order.sort_by_key(|(_, place)| match &place.kind {
        BlockKind::Exact(_) => (0, 0),
        BlockKind::FinalPrefix(text) | BlockKind::Prefix(text) => (1, usize::MAX - text.len()),
        BlockKind::Pattern(_) => (2, 0),
        BlockKind::Named(_) | BlockKind::Server | BlockKind::If => (3, 0),
    });
    let mut patterns: Vec<(&str, u32)> = Vec::new();
    for (_, place) in order {
        let mut dead = None;
        let why = match &place.kind {
            BlockKind::Exact(_) => "an exact path ends the search",
            BlockKind::FinalPrefix(_) => {
                "a prefix by its length; ^~ disables the regex locations of its level"
            }
            BlockKind::Prefix(_) => "a prefix by its length; regex locations come before it",
            BlockKind::Pattern(pattern) => {
                if let Some((_, line)) = patterns.iter().find(|(text, _)| *text == pattern.text()) {
                    dead = Some(format!("same expression as in line {line}"));
                }
                patterns.push((pattern.text(), place.origin.line));
                "a regex by its position in the file"
            }
            BlockKind::Named(_) | BlockKind::Server | BlockKind::If => "only reached by internal redirects",
        };
        if is_in_pattern && !matches!(place.kind, BlockKind::Pattern(_)) {
            dead = Some("prefix locations inside a regex location are never tried".to_owned());
        }
        listed.push(ListedLocation {
            location: place.name.to_string(),
            depth,
            file: place.origin.file.to_string(),
            line: place.origin.line,
            why: if matches!(place.hand, LocationHandler::None)
                && place.steps.is_empty()
                && place.try_files_fallback.is_none()
            {
                format!("{why}; no handler, responds with 404")
            } else {
                why.to_owned()
            },
            dead,
        });
        add_level(sites, place, &place.locations, depth + 1, listed);
    }
}

impl fmt::Display for SiteListing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for server in &self.servers {
            let default = if server.is_default { ", default" } else { "" };
            writeln!(
                out,
                "server {}{default}  {}:{}",
                if server.names.is_empty() { "without a name".to_owned() } else { server.names.join(" ") },
                server.file,
                server.line
            )?;
            for place in &server.locations {
                let indent = "  ".repeat(place.depth as usize + 1);
                let dead = place.dead.as_ref().map_or_else(String::new, |dead| format!("DEAD: {dead}; "));
                writeln!(
                    out,
                    "{indent}{}  {}:{}  {dead}{}",
                    place.location, place.file, place.line, place.why
                )?;
            }
        }
        Ok(())
    }
}
