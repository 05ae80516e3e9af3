//! NGINX's location search, level by level.

use super::level::PathFound;
use super::sites::Sites;
use super::spec::BlockKind;

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// No location matches the path: the server itself handles it.
    Nothing,
    /// A prefix location, unless an expression on an outer level matches.
    Prefix(u32),
    /// A final match.
    Final(u32),
    /// A redirect to the text of this location.
    Redirect(u32),
}

/// Search method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// With the index.
    Index,
    /// By comparing with each location: slow and obviously correct.
    Plain,
}

/// Finds the location for a path in `level` and its nested levels; `matches` evaluates the expression of a location.
///
/// The longest prefix is remembered and its nested locations are searched. Then, unless it is `^~`, the expressions of
/// the level are tried in order, and the nested locations of the first match are searched. An exact match ends the
/// search.
pub(crate) fn find(
    sites: &Sites,
    level: u32,
    path: &[u8],
    means: SearchMode,
    matches: &mut impl FnMut(u32) -> bool,
) -> Located {
    let places = sites.places();
    let here = sites.level(level);
    let found = match means {
        SearchMode::Index => here.find_path(path, sites.paths()),
        SearchMode::Plain => here.find_path_sequentially(path, places),
    };
    let mut located = Located::Nothing;
    let mut tries_patterns = true;
    match found {
        PathFound::Exact(place) => return Located::Final(place),
        PathFound::Redirect(place) => return Located::Redirect(place),
        PathFound::Prefix(place) => {
            tries_patterns = !matches!(places[place as usize].kind, BlockKind::FinalPrefix(_));
            located = Located::Prefix(place);
            if let Some(inner) = sites.level_of(place) {
                match find(sites, inner, path, means, matches) {
                    Located::Nothing => {}
                    Located::Prefix(inner) => located = Located::Prefix(inner),
                    inner @ (Located::Final(_) | Located::Redirect(_)) => return inner,
                }
            }
        }
        PathFound::Nothing => {}
    }
    if !tries_patterns {
        return located;
    }
    let Some(place) = here.patterns.iter().copied().find(|place| matches(*place)) else { return located };
    let inner = sites.level_of(place).map(|inner| find(sites, inner, path, means, matches));
    match inner {
        Some(Located::Prefix(inner) | Located::Final(inner) | Located::Redirect(inner)) => {
            Located::Final(inner)
        }
        Some(Located::Nothing) | None => Located::Final(place),
    }
}
