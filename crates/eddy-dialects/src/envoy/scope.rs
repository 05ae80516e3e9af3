//! Settings that routes inherit, and state that they share.

use eddy_check::{ClusterDraft, RulePositions, TableDraft};
use eddy_config::{Action, ActionKind, RetryConfig, RuleFilterConfig, Upgrades};
use eddy_http::FieldEdits;
use eddy_route::{HostPattern, Rule};
use eddy_spec::problem::SourceSpan;
use eddy_spec::yaml::YamlNode;

use super::hash::RouteKeys;
use super::module_filter::ModuleInChain;

/// Header edits of the virtual host and of the route configuration.
pub(super) struct Levels<'l> {
    pub(super) outer: [&'l (FieldEdits, FieldEdits); 2],
    /// Whether these edits come before those of the route, so that the route's win; otherwise they come after.
    pub(super) come_first: bool,
}

/// Settings of a virtual host that its routes inherit.
pub(super) struct HostScope<'s> {
    pub(super) name: &'s str,
    pub(super) hosts: &'s [HostPattern],
    pub(super) levels: Levels<'s>,
    /// Retry policy of routes without their own.
    pub(super) retry: Option<&'s YamlNode<'s>>,
    /// Whether requests are hedged on routes without a hedge policy of their own.
    pub(super) is_hedged: bool,
    /// Request mirror policies of routes without their own.
    pub(super) mirrors: Option<&'s YamlNode<'s>>,
    /// Settings for filters of dynamic modules.
    pub(super) filters: Vec<RuleFilterConfig>,
}

/// State shared by the routes of a configuration.
pub(super) struct RouteConfigContext<'f, 'l> {
    /// Table that the rules go to.
    pub(super) table: TableDraft,
    /// Clusters; with `may_add_clusters`, a route may name a cluster that is not defined.
    pub(super) clusters: &'f mut ClusterDraft<'l>,
    pub(super) may_add_clusters: bool,
    /// Hash keys of each cluster, as its routes define them.
    pub(super) keys: &'f mut RouteKeys,
    /// Upgrade protocols allowed on routes that do not configure them.
    pub(super) protocols: Vec<Box<str>>,
    /// Filters of dynamic modules that all requests pass.
    pub(super) modules: Vec<ModuleInChain>,
}

impl RouteConfigContext<'_, '_> {
    /// Adds a rule with its action.
    pub(super) fn push(&mut self, mut rule: Rule, action: Action, place: SourceSpan) {
        rule.action = self.table.action(action);
        self.table.push(rule, RulePositions::of(place));
    }
}

/// Returns an action without edits, timeout and retries.
pub(super) fn plain_action(kind: ActionKind) -> Action {
    Action {
        retry: RetryConfig { attempts: 0, ..RetryConfig::default() },
        upgrades: Upgrades::none(),
        ..Action::new(kind)
    }
}
