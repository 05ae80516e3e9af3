//! All servers of a configuration, indexed for lookups.

use std::collections::HashMap;

use eddy_ids::ActionId;

use super::level::{LevelPaths, LocationLevel};
use super::names::{NameIndex, ServerName};
use super::pattern::SearchPattern;
use super::spec::{Address, BlockKind, BlockSpec, FieldNames, MapForm, MapSpec, ServerSpec, SitesSpec};
use super::step::RewriteDirective;
use super::text::TextTemplate;
use super::variable::Variables;

/// Servers and locations with their index. Immutable; shared by all workers.
#[derive(Debug)]
pub struct Sites {
    servers: Vec<ServerSpec>,
    places: Vec<BlockSpec>,
    addresses: Vec<Address>,
    names: Vec<NameIndex>,
    /// Allowed header names at each address, where its servers agree.
    field_names: Vec<Option<FieldNames>>,
    /// Level of each server's locations, then those nested in locations.
    levels: Vec<LocationLevel>,
    paths: LevelPaths,
    /// Level in each place, if it has locations.
    level_of: Vec<Option<u32>>,
    /// Named locations of each server.
    named: Vec<HashMap<Box<str>, u32>>,
    /// Server of each place.
    server_of: Vec<u32>,
    maps: Vec<SiteMap>,
    /// Map that fills each slot.
    map_of: Vec<Option<u32>>,
    variables: Variables,
    hash_keys: Vec<Option<TextTemplate>>,
}

/// A `map`, indexed.
#[derive(Debug)]
pub(crate) struct SiteMap {
    pub(crate) spec: MapSpec,
    /// Texts in lower case.
    texts: HashMap<Box<[u8]>, usize>,
    /// Rows that are host names, each treated as a server with one name.
    hosts: NameIndex,
    /// Rows that are expressions, in file order.
    patterns: Vec<usize>,
}

impl Sites {
    /// Indexes the servers.
    pub fn build(spec: SitesSpec) -> Self {
        let SitesSpec { servers, places, addresses, maps, variables, hash_keys } = spec;
        let mut sites = Self {
            names: Vec::new(),
            field_names: Vec::new(),
            levels: Vec::new(),
            paths: LevelPaths::default(),
            level_of: vec![None; places.len()],
            named: Vec::new(),
            server_of: vec![0; places.len()],
            map_of: vec![None; variables.len()],
            maps: maps.into_iter().map(SiteMap::build).collect(),
            servers,
            places,
            addresses,
            variables,
            hash_keys,
        };
        let names = |address: &Address| {
            NameIndex::build(address.servers.iter().map(|server| (*server, sites.names_of(*server))))
        };
        sites.names = sites.addresses.iter().map(names).collect();
        sites.field_names = sites.addresses.iter().map(|address| sites.agreed_names(address)).collect();
        for (number, map) in (0..).zip(&sites.maps) {
            sites.map_of[map.spec.slot as usize] = Some(number);
        }
        for server in 0..sites.servers.len() {
            sites.add_server(server);
        }
        sites
    }

    fn agreed_names(&self, address: &Address) -> Option<FieldNames> {
        let own = |server: &u32| self.servers[*server as usize].field_names;
        let first = own(&address.default);
        address.servers.iter().all(|server| own(server) == first).then_some(first)
    }

    fn add_server(&mut self, server: usize) {
        let (place, locations) = (self.servers[server].place, self.servers[server].locations.clone());
        let named = locations.iter().filter_map(|location| {
            let BlockKind::Named(name) = &self.places[*location as usize].kind else { return None };
            Some((name.clone(), *location))
        });
        self.named.push(named.collect());
        let mut pending = vec![(place, locations)];
        while let Some((place, locations)) = pending.pop() {
            self.server_of[place as usize] = u32::try_from(server).unwrap_or(u32::MAX);
            let inner = self.places[place as usize].steps.iter().filter_map(|step| {
                let RewriteDirective::If { place, .. } = step else { return None };
                *place
            });
            pending.extend(inner.map(|place| (place, Vec::new())));
            if locations.is_empty() {
                continue;
            }
            let is_in_pattern = matches!(self.places[place as usize].kind, BlockKind::Pattern(_));
            let level = LocationLevel::build(&locations, &self.places, is_in_pattern, &mut self.paths);
            self.level_of[place as usize] = u32::try_from(self.levels.len()).ok();
            self.levels.push(level);
            for location in locations {
                pending.push((location, self.places[location as usize].locations.clone()));
            }
        }
    }

    /// Returns the places by index: servers, locations and `if` blocks in locations.
    pub fn places(&self) -> &[BlockSpec] {
        &self.places
    }

    /// Returns the servers in file order.
    pub fn servers(&self) -> &[ServerSpec] {
        &self.servers
    }

    /// Returns the addresses on which servers listen.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the variables of the configuration.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Returns the server that contains a place.
    pub fn server_of(&self, place: u32) -> u32 {
        self.server_of[place as usize]
    }

    pub(crate) fn hash_key(&self, action: ActionId) -> Option<&TextTemplate> {
        self.hash_keys.get(action.position())?.as_ref()
    }

    pub(crate) fn names_of(&self, server: u32) -> &[ServerName] {
        &self.servers[server as usize].names
    }

    pub(crate) fn names_at(&self, address: usize) -> &NameIndex {
        &self.names[address]
    }

    /// Returns the allowed header names at an address; `None` where its servers differ.
    pub(crate) fn common_field_names(&self, address: usize) -> Option<FieldNames> {
        self.field_names[address]
    }

    pub(crate) fn level(&self, level: u32) -> &LocationLevel {
        &self.levels[level as usize]
    }

    pub(crate) fn level_of(&self, place: u32) -> Option<u32> {
        self.level_of[place as usize]
    }

    pub(crate) fn paths(&self) -> &LevelPaths {
        &self.paths
    }

    pub(crate) fn named(&self, server: u32, name: &[u8]) -> Option<u32> {
        self.named[server as usize].get(std::str::from_utf8(name).ok()?).copied()
    }

    pub(crate) fn map_of(&self, slot: u32) -> Option<&SiteMap> {
        self.map_of.get(slot as usize).copied().flatten().map(|map| &self.maps[map as usize])
    }

    pub(crate) fn pattern_of(&self, place: u32) -> Option<&SearchPattern> {
        let BlockKind::Pattern(pattern) = &self.places[place as usize].kind else { return None };
        Some(pattern)
    }
}

impl SiteMap {
    fn build(spec: MapSpec) -> Self {
        let mut texts = HashMap::new();
        let mut patterns = Vec::new();
        let mut hosts: Vec<(u32, &[ServerName])> = Vec::new();
        for (at, row) in spec.rows.iter().enumerate() {
            match &row.form {
                MapForm::Text(text) => {
                    texts.entry(text.to_ascii_lowercase().into_bytes().into()).or_insert(at);
                }
                MapForm::Host(name) => {
                    hosts.push((u32::try_from(at).unwrap_or(u32::MAX), std::slice::from_ref(name)));
                }
                MapForm::Pattern(_) => patterns.push(at),
            }
        }
        let hosts = NameIndex::build(hosts.into_iter());
        Self { texts, hosts, patterns, spec }
    }

    /// Returns the value for a text; `matches` evaluates an expression. `folded` is scratch memory.
    pub(crate) fn value(
        &self,
        text: &[u8],
        folded: &mut Vec<u8>,
        mut matches: impl FnMut(&SearchPattern) -> bool,
    ) -> (&TextTemplate, Option<&SearchPattern>) {
        folded.clear();
        folded.extend_from_slice(text);
        folded.make_ascii_lowercase();
        let mut key = folded.as_slice();
        if self.spec.has_hostnames {
            key = key.strip_suffix(b".").unwrap_or(key);
        }
        if let Some(at) = self.texts.get(key) {
            return (&self.spec.rows[*at].value, None);
        }
        if self.spec.has_hostnames
            && let Some(found) = self.hosts.find(key, |_, _| false)
        {
            return (&self.spec.rows[found.server as usize].value, None);
        }
        let mut rows = self.patterns.iter().map(|at| &self.spec.rows[*at]);
        let found = rows.find_map(|row| match &row.form {
            MapForm::Pattern(pattern) if matches(pattern) => Some((&row.value, Some(pattern))),
            MapForm::Pattern(_) | MapForm::Text(_) | MapForm::Host(_) => None,
        });
        found.unwrap_or((&self.spec.default, None))
    }
}
