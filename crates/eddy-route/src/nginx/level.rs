//! The locations that stand beside each other: in a server, or in another location.

use super::spec::{LocationHandler, PlaceKind, PlaceSpec};
use crate::index::{ByValue, NO_VALUE, Trie};

/// The locations of a level, ready to be searched.
#[derive(Debug, Default)]
pub(crate) struct LocationLevel {
    /// The root of the level's paths in the trie.
    root: Option<u32>,
    /// Paths that lead to a redirect since a location is named as they are with a `/` behind.
    redirects: ByValue<u32>,
    /// The locations with an expression, in the order of the file.
    pub(crate) patterns: Vec<u32>,
    /// All locations that paths lead to, in the order of the file.
    pub(crate) listed: Vec<u32>,
}

/// The paths of all levels.
#[derive(Debug, Default)]
pub(crate) struct LevelPaths {
    trie: Trie,
    ends: Vec<PathEnd>,
}

/// The locations whose text is one path.
#[derive(Clone, Copy, Debug, Default)]
struct PathEnd {
    exact: Option<u32>,
    prefix: Option<u32>,
}

/// What the paths of a level say of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathFound {
    /// None of them is for it.
    Nothing,
    /// This location, whatever the expressions say.
    Exact(u32),
    /// The longest prefix.
    Prefix(u32),
    /// A redirect to the text of this location.
    Redirect(u32),
}

impl LocationLevel {
    /// Indexes the locations; those in a location with an expression are looked at for expressions alone, as NGINX does.
    pub(crate) fn build(
        locations: &[u32],
        places: &[PlaceSpec],
        is_in_pattern: bool,
        paths: &mut LevelPaths,
    ) -> Self {
        let mut level = Self::default();
        let mut keys: std::collections::BTreeMap<&[u8], PathEnd> = std::collections::BTreeMap::new();
        for location in locations {
            let place = &places[*location as usize];
            match &place.kind {
                PlaceKind::Pattern(_) => {
                    level.patterns.push(*location);
                    level.listed.push(*location);
                }
                PlaceKind::Exact(path) | PlaceKind::Prefix(path) | PlaceKind::FinalPrefix(path) => {
                    if is_in_pattern {
                        continue;
                    }
                    level.listed.push(*location);
                    let end = keys.entry(path.as_bytes()).or_default();
                    let is_exact = matches!(place.kind, PlaceKind::Exact(_));
                    let side = if is_exact { &mut end.exact } else { &mut end.prefix };
                    side.get_or_insert(*location);
                }
                PlaceKind::Named(_) | PlaceKind::Server | PlaceKind::If => {}
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

    /// What the paths say.
    ///
    /// # Cost
    ///
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

    /// The same by comparing the path with every location.
    pub(crate) fn find_path_plainly(&self, path: &[u8], places: &[PlaceSpec]) -> PathFound {
        let text = |location: &u32| places[*location as usize].kind.path().map(str::as_bytes);
        let is_exact = |location: &u32| matches!(places[*location as usize].kind, PlaceKind::Exact(_));
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

/// Whether a request for the location's text without its last `/` is redirected there.
fn redirects_to(place: &PlaceSpec) -> bool {
    matches!(place.hand, LocationHandler::Proxy(_))
        && place.kind.path().is_some_and(|path| path.ends_with('/'))
}
