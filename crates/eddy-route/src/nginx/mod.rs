//! Servers and locations of NGINX: selection for a request, and the rewrite directives that each runs.
//!
//! [`Sites`] is built from a [`SitesSpec`] and immutable. A [`NginxRequestState`] is the state of one request:
//! [`Sites::walk`] takes it from host and path to an [`NginxOutcome`].
//!
//! The order of NGINX is not a list of rules: of the prefixes only the longest counts, it may disable expressions, and
//! its nested locations are searched in turn. Therefore the search follows NGINX's algorithm, with a trie per level
//! ([`search`](self)); a version without index exists for comparison in tests.

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
mod state;
mod step;
mod target;
mod text;
mod trace;
mod value;
mod variable;
mod walk;

pub use explain::SiteExplanation;
pub use listing::{ListedLocation, ListedServer, SiteListing};
pub use names::{NameFault, NameForm, ServerName};
pub use pattern::{LetterCase, SearchPattern};
pub use pcre::group_names;
pub use request::{SiteRequest, SiteTls};
pub use run::NginxLookup;
pub use sites::Sites;
pub use spec::{
    Address, BlockAccess, BlockKind, BlockSpec, ErrorPage, FieldFilter, FieldNames, FieldText,
    LocationHandler, MapForm, MapRow, MapSpec, ProxyPassSettings, ProxyPassTarget, RedirectForm,
    RedirectRule, ServerSpec, SitesSpec, TryFilesFallback, UpstreamScheme,
};
pub use state::{NginxOutcome, NginxRequestState};
pub use step::{IfCondition, RewriteDirective, RewriteEnd, RewriteStep};
pub use target::BadTarget;
pub use text::{TextFault, TextTemplate};
pub use trace::{BlockRef, Hop, Other, ServerChoice};
pub use variable::{TlsVariable, Variable, Variables};
