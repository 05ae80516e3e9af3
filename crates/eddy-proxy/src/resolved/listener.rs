//! A listener with its rules, filter chains and NGINX places on one worker.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use eddy_config::{Forward, SitesConfig};
use eddy_ids::{ActionId, Shared};
use eddy_route::nginx::{BlockSpec, Sites};

use crate::plan::{FilterChain, ListenerHandler, ListenerPlan};
use crate::resolved::action::ActionPlan;
use crate::resolved::retire::{RetiredPart, Retirement};
use crate::stats::{FilterSeries, ListenerSeries, RuleSeries};
use crate::upstream::WorkerCluster;

/// A listener of a plan on one worker.
#[derive(Debug)]
pub(crate) struct WorkerListener {
    pub(super) plan: Shared<ListenerPlan>,
    pub(crate) series: Arc<ListenerSeries>,
    /// Filter chain of requests whose rule has none of its own.
    pub(crate) chain: Option<Rc<WorkerChain>>,
    /// Rules, by index in the router.
    pub(super) rules: Box<[Rc<RulePlan>]>,
    /// NGINX servers, if they handle all requests.
    pub(crate) sites: Option<SitesEntry>,
    /// Clusters of [`eddy_config::Forwarding::ways`], in its order.
    pub(super) ways: Box<[Rc<WorkerCluster>]>,
    pub(super) retirement: Retirement,
}

impl Drop for WorkerListener {
    fn drop(&mut self) {
        self.retirement.take([RetiredPart::list(std::mem::take(&mut self.rules).into())]);
    }
}

/// A rule, or a place of an NGINX configuration, on one worker.
#[derive(Debug)]
pub(crate) struct RulePlan {
    pub(crate) name: Shared<str>,
    pub(crate) series: Arc<RuleSeries>,
    /// Action of the rule; `None` for a place, whose action the walk determines.
    pub(crate) action: Option<Rc<ActionPlan>>,
    pub(crate) chain: Option<Rc<WorkerChain>>,
    /// NGINX servers that handle the requests of this rule.
    pub(crate) sites: Option<SitesEntry>,
}

/// A filter chain with the counters of its filters.
#[derive(Debug)]
pub(crate) struct WorkerChain {
    pub(super) chain: Shared<FilterChain>,
    /// Counters, by step.
    pub(super) series: Box<[Arc<FilterSeries>]>,
}

/// An NGINX configuration that a listener serves, with the listener's counters.
#[derive(Debug)]
pub(crate) struct WorkerSites {
    pub(super) config: Shared<SitesConfig>,
    /// Places, by index in the program.
    pub(super) places: Box<[Rc<RulePlan>]>,
    /// Actions of the configuration.
    pub(super) actions: Rc<[Rc<ActionPlan>]>,
}

/// The address of an NGINX configuration at which requests enter it.
#[derive(Clone, Debug)]
pub(crate) struct SitesEntry {
    pub(crate) sites: Rc<WorkerSites>,
    /// Index of the address in its program.
    pub(crate) address: usize,
}

impl WorkerListener {
    /// Returns the rule that the listener's router has found.
    pub(crate) fn rule(&self, index: u32) -> &Rc<RulePlan> {
        self.rules.get(index as usize).expect("every rule of the router was resolved")
    }

    /// Returns the forwarding target for a server name, and its cluster; `None` when no target takes the connection.
    pub(crate) fn way(&self, server_name: Option<&str>) -> Option<(&Forward, &Rc<WorkerCluster>)> {
        let ListenerHandler::Forward(forwarding) = &self.handler else { return None };
        let index = forwarding.position(server_name)?;
        forwarding.ways.get(index).zip(self.ways.get(index))
    }
}

impl Deref for WorkerListener {
    type Target = ListenerPlan;

    fn deref(&self) -> &ListenerPlan {
        &self.plan
    }
}

impl WorkerChain {
    /// Returns the counters of the filter of a step.
    pub(crate) fn series(&self, step: u8) -> &FilterSeries {
        self.series.get(usize::from(step)).expect("each step of a chain has counters")
    }
}

impl Deref for WorkerChain {
    type Target = FilterChain;

    fn deref(&self) -> &FilterChain {
        &self.chain
    }
}

impl WorkerSites {
    /// Returns the servers and locations.
    pub(crate) fn program(&self) -> &Sites {
        &self.config.program
    }

    /// Returns a place as a rule.
    pub(crate) fn rule(&self, place: u32) -> &Rc<RulePlan> {
        self.places.get(place as usize).expect("every place of the program was resolved")
    }

    /// Returns a place.
    pub(crate) fn place(&self, place: u32) -> &BlockSpec {
        self.program().places().get(place as usize).expect("the walk ends at a place of its program")
    }

    /// Returns an action that the program refers to.
    pub(crate) fn action(&self, id: ActionId) -> &Rc<ActionPlan> {
        self.actions.get(id.position()).expect("every action of the configuration was resolved")
    }
}
