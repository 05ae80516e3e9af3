//! The way that a request takes through the plan.

use std::rc::Rc;

use eddy_config::{Action, Respond};
use eddy_http::FieldEdits;

use crate::resolved::action::{ActionPlan, Destination};
use crate::resolved::listener::{RulePlan, WorkerChain, WorkerSites};
use crate::upstream::WorkerCluster;

/// The way that a request takes, as far as it is known. It belongs to the exchange and holds references of this worker
/// alone.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// Matching rule or NGINX place.
    pub(crate) rule: Option<Rc<RulePlan>>,
    /// Action to carry out: the rule's, that of its NGINX place, or the share that was drawn.
    pub(crate) action: Option<Rc<ActionPlan>>,
    /// Cluster that the request is currently at.
    pub(crate) cluster: Option<Rc<WorkerCluster>>,
    /// Filters of the request. They stay until the request matches another rule.
    pub(crate) chain: Option<Rc<WorkerChain>>,
    /// NGINX servers that handle the request.
    pub(crate) sites: Option<Rc<WorkerSites>>,
}

impl Route {
    /// Forgets everything but the filters, before the request is matched again.
    pub(crate) fn forget(&mut self) {
        let Self { rule, action, cluster, chain: _, sites } = self;
        (*rule, *action, *cluster, *sites) = (None, None, None, None);
    }

    /// Returns the configuration of the action; `None` before a rule is found, and for the demo endpoint.
    pub(crate) fn action(&self) -> Option<&Action> {
        self.action.as_ref().map(|action| &*action.config)
    }

    /// Returns the edits of the action to response heads.
    pub(crate) fn response_edits(&self) -> &FieldEdits {
        match self.action() {
            Some(action) => &action.response_edits,
            None => FieldEdits::none(),
        }
    }

    /// Returns the fixed response, if that is the action.
    pub(crate) fn respond(&self) -> Option<&Respond> {
        if let Destination::Respond(respond) = &self.action.as_ref()?.to { Some(respond) } else { None }
    }

    /// Returns the name of the rule.
    pub(crate) fn rule_name(&self) -> Option<&str> {
        self.rule.as_ref().map(|rule| &*rule.name)
    }

    /// Returns the name of the cluster.
    pub(crate) fn cluster_name(&self) -> Option<&str> {
        self.cluster.as_ref().map(|cluster| &*cluster.config.name)
    }
}
