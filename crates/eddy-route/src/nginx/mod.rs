//! Servers and locations as NGINX has them: which one answers a request, and the small program that each runs.
//!
//! [`Sites`] is made of a [`SitesSpec`] once and never changed. A [`Walk`] is what one request remembers on its way
//! through: [`Sites::walk`] takes it from its host and path to an [`Outcome`].
//!
//! NGINX's order is no list of rules: of the prefixes only the longest counts, it may switch expressions off, and what it
//! holds is searched in turn. So the search is NGINX's own, over a trie a level ([`search`](self)), beside one without
//! any index that tests compare it with.

mod escape;
mod explain;
mod level;
mod listing;
mod names;
mod pattern;
mod pcre;
mod program;
mod redirect;
mod request;
mod run;
mod search;
mod sites;
mod spec;
mod step;
mod target;
mod text;
mod value;
mod variable;
mod walk;

pub use explain::{Hop, Other, PlaceRef, ServerChoice, SiteExplanation};
pub use listing::{ListedPlace, ListedServer, SiteListing};
pub use names::{NameFault, NameForm, ServerName};
pub use pattern::{LetterCase, SearchPattern};
pub use pcre::group_names;
pub use request::{SiteRequest, SiteTls};
pub use sites::Sites;
pub use spec::{
    Address, ErrorPage, FieldFilter, FieldNames, FieldText, LastTry, LocationHandler, MapForm, MapRow,
    MapSpec, PlaceGuard, PlaceKind, PlaceSpec, ProxyHand, ProxyPassTarget, RedirectForm, RedirectRule,
    ServerSpec, SitesSpec, UpstreamScheme,
};
pub use step::{IfCondition, RewriteDirective, RewriteEnd, RewriteStep};
pub use target::BadTarget;
pub use text::{TextFault, TextTemplate};
pub use variable::{TlsVariable, Variable, Variables};
pub use walk::{NginxOutcome, NginxRequestState};
