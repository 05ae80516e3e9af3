//! Sibling locations: those of a server, or those nested in one location.

use super::spec::{BlockKind, BlockSpec, LocationHandler};
use crate::index::{ByValue, NO_VALUE, Trie};

/// Index of the locations of a level.
#[derive(Debug, Default)]
pub(crate) struct LocationLevel {
    /// Root of the level's paths in the trie.
    root: Option<u32>,
    /// Paths that are redirected because a location has the same text followed by `/`.
    redirects: ByValue<u32>,
    /// Locations with a regular expression, in file order.
    pub(crate) patterns: Vec<u32>,
    /// All locations that are selected by path, in file order.
    pub(crate) listed: Vec<u32>,
}

/// Paths of all levels.
#[derive(Debug, Default)]
pub(crate) struct LevelPaths {
    trie: Trie,
    ends: Vec<PathEnd>,
}

/// Locations whose text is the same path.
#[derive(Clone, Copy, Debug, Default)]
struct PathEnd {
    exact: Option<u32>,
    prefix: Option<u32>,
}

/// Result of a path search in a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathFound {
    /// No match.
    Nothing,
    /// An exact location; expressions are not tried.
    Exact(u32),
    /// The location with the longest prefix.
    Prefix(u32),
    /// A redirect to the text of this location.
    Redirect(u32),
}

impl LocationLevel {
    /// Indexes the locations; in a location with an expression, only nested locations with expressions are used, as in
    /// NGINX.
    pub(crate) fn build(
        locations: &[u32],
        places: &[BlockSpec],
        is_in_pattern: bool,
        paths: &mut LevelPaths,
    ) -> Self {
        let mut level = Self::default();
        let mut keys: std::collections::BTreeMap<&[u8], PathEnd> = std::collections::BTreeMap::new();
        for location in locations {
            let place = &places[*location as usize];
            match &place.kind {
                BlockKind::Pattern(_) => {
                    level.patterns.push(*location);
                    level.listed.push(*location);
                }
                BlockKind::Exact(path) | BlockKind::Prefix(path) | BlockKind::FinalPrefix(path) => {
                    if is_in_pattern {
                        continue;
                    }
                    level.listed.push(*location);
                    let end = keys.entry(path.as_bytes()).or_default();
                    let is_exact = matches!(place.kind, BlockKind::Exact(_));
                    let side = if is_exact { &mut end.exact } else { &mut end.prefix };
                    side.get_or_insert(*location);
                }
                BlockKind::Named(_) | BlockKind::Server | BlockKind::If => {}
            }
        }
        for (path, end) in &keys {
            let sides = [end.exact, end.prefix];
            let redirects = sides.into_iter().flatten().any(|side| redirects_to(&places[side as usize]));
            if let (true, Some(target), Some(short)) =
                (redirects, end.exact.or(end.prefix), path.strip_suffix(b"/"))
            {
                level.redirects.insert(short.into(), target);
            }
        }
        let mut entries = Vec::with_capacity(keys.len());
        for (path, end) in keys {
            entries.push((path, u32::try_from(paths.ends.len()).unwrap_or(NO_VALUE)));
            paths.ends.push(end);
        }
        level.root = (!entries.is_empty()).then(|| paths.trie.add(&entries));
        level
    }

    /// Searches the paths of the level.
    ///
    /// # Cost
    /// One walk along the path.
    pub(crate) fn find_path(&self, path: &[u8], paths: &LevelPaths) -> PathFound {
        let Some(mut node) = self.root else { return PathFound::Nothing };
        let mut longest = None;
        let mut rest = path;
        while let Some(after) = paths.trie.strip_label(node, rest) {
            rest = after;
            let end = paths.ends.get(paths.trie.value(node) as usize);
            let Some(next) = rest.first() else {
                if let Some(exact) = end.and_then(|end| end.exact) {
                    return PathFound::Exact(exact);
                }
                if let Some(prefix) = end.and_then(|end| end.prefix) {
                    return PathFound::Prefix(prefix);
                }
                break;
            };
            longest = end.and_then(|end| end.prefix).or(longest);
            match paths.trie.child(node, *next) {
                Some(child) => node = child,
                None => break,
            }
        }
        if let Some(target) = self.redirects.get(path) {
            return PathFound::Redirect(*target);
        }
        longest.map_or(PathFound::Nothing, PathFound::Prefix)
    }

    /// Searches the paths by comparing the path with every location.
    pub(crate) fn find_path_sequentially(&self, path: &[u8], places: &[BlockSpec]) -> PathFound {
        let text = |location: &u32| places[*location as usize].kind.path().map(str::as_bytes);
        let is_exact = |location: &u32| matches!(places[*location as usize].kind, BlockKind::Exact(_));
        if let Some(exact) = self.listed.iter().find(|at| is_exact(at) && text(at) == Some(path)) {
            return PathFound::Exact(*exact);
        }
        let mut longest: Option<u32> = None;
        for location in self.listed.iter().filter(|at| !is_exact(at)) {
            let Some(prefix) = text(location).filter(|prefix| path.starts_with(prefix)) else { continue };
            if longest.as_ref().and_then(text).is_none_or(|known| known.len() < prefix.len()) {
                longest = Some(*location);
            }
        }
        let is_whole = longest.as_ref().and_then(text) == Some(path);
        let leads_on = |at: &&u32| text(at).is_some_and(|text| text.strip_suffix(b"/") == Some(path));
        let mut targets: Vec<u32> = self.listed.iter().filter(leads_on).copied().collect();
        targets.sort_by_key(|at| !is_exact(at));
        let redirects = targets.iter().any(|at| redirects_to(&places[*at as usize]));
        match (longest, targets.first()) {
            (Some(prefix), _) if is_whole => PathFound::Prefix(prefix),
            (_, Some(target)) if redirects => PathFound::Redirect(*target),
            (Some(prefix), _) => PathFound::Prefix(prefix),
            (None, _) => PathFound::Nothing,
        }
    }
}

/// Whether a request for the location's text without its final `/` is redirected to it.
fn redirects_to(place: &BlockSpec) -> bool {
    matches!(place.hand, LocationHandler::Proxy(_))
        && place.kind.path().is_some_and(|path| path.ends_with('/'))
}
