//! NGINX's search for a location, level by level.

use super::level::PathFound;
use super::sites::Sites;
use super::spec::PlaceKind;

/// What a search ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// No location is for the path: the server itself.
    Nothing,
    /// This one, unless an expression further out is for the path.
    Prefix(u32),
    /// This one.
    Final(u32),
    /// A redirect to the text of this one.
    Redirect(u32),
}

/// How the paths of a level are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// By the index.
    Index,
    /// By comparing with each: slowly and obviously right.
    Plain,
}

/// Finds the location for a path among `level` and what it holds; `matches` tries the expression of a location.
///
/// The longest prefix is kept in mind; what it holds is searched; then, unless it says otherwise, the expressions beside
/// it are tried in order, and the first that matches is searched in turn. An exact path ends all.
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
        SearchMode::Plain => here.find_path_plainly(path, places),
    };
    let mut located = Located::Nothing;
    let mut tries_patterns = true;
    match found {
        PathFound::Exact(place) => return Located::Final(place),
        PathFound::Redirect(place) => return Located::Redirect(place),
        PathFound::Prefix(place) => {
            tries_patterns = !matches!(places[place as usize].kind, PlaceKind::FinalPrefix(_));
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
