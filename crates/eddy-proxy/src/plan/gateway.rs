//! The compiled configuration that workers run on; immutable after it is built.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eddy_config::{
    ActionKind, Forwarding, GatewayConfig, ListenAddress, ListenerConfig, Serve, SitesAt, TableConfig,
};
use eddy_ids::{BySlot, ClusterId, Shared};
use eddy_model::ClusterConfig;
use eddy_route::Router;
use eddy_tls::{Challenges, ClientTls, ServerTls};

use crate::error::ProxyError;
use crate::plan::AccessPlan;
use crate::plan::chain::{FilterChains, build_chains};
use crate::plan::filter_set::FilterSet;

/// A compiled configuration. An exchange ends on the plan that it began with.
#[derive(Debug)]
pub(crate) struct GatewayPlan {
    /// Configuration that the plan was compiled from.
    pub(crate) config: Arc<GatewayConfig>,
    /// Listeners, in the order of the configuration.
    pub(crate) listeners: Vec<Shared<ListenerPlan>>,
    /// TLS client settings of clusters: eddy's certificate and how endpoints are verified.
    pub(crate) cluster_tls: BySlot<ClusterId, ClientTls>,
    /// Filters, ready to be called.
    pub(crate) filters: FilterSet,
    /// Responses to ACME HTTP-01 challenges, if certificates are obtained that way.
    pub(crate) challenges: Option<Arc<Challenges>>,
    /// Access log settings, if an access log is configured.
    pub(crate) access: Option<AccessPlan>,
}

/// Resources that a configuration names and that are prepared outside this crate.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    /// Filters, by index.
    pub filters: FilterSet,
    /// TLS server settings of each listener, by listener index. Listeners beyond the end have none.
    pub tls: Vec<Option<ServerTls>>,
    /// TLS client settings of clusters.
    pub cluster_tls: BySlot<ClusterId, ClientTls>,
    /// Responses to ACME HTTP-01 challenges, if certificates are obtained that way.
    pub challenges: Option<Arc<Challenges>>,
}

/// TLS settings of a listener.
#[derive(Debug)]
pub(crate) struct ListenerTls {
    pub(crate) server: ServerTls,
    pub(crate) handshake_timeout: Duration,
}

/// A listener and the router compiled from its tables.
#[derive(Debug)]
pub(crate) struct ListenerPlan {
    pub(crate) config: ListenerConfig,
    pub(crate) handler: ListenerHandler,
    pub(crate) tls: Option<ListenerTls>,
    /// Filter chains that exchanges pass.
    pub(crate) chains: FilterChains,
    /// Listener address as text, as filters see it.
    pub(crate) address_text: String,
    /// The address without its port, as rules refer to it.
    pub(crate) local_address: String,
    /// Names of the router's rules by index, followed by those of the NGINX places served here.
    pub(crate) rule_names: Vec<Shared<str>>,
    /// Index of each NGINX configuration served here, with the index of its first place's name.
    pub(crate) site_rules: Vec<(usize, usize)>,
}

/// Handler of a listener's requests.
#[derive(Debug)]
pub(crate) enum ListenerHandler {
    /// Rules of the listener's tables.
    Router(Shared<Router>),
    /// Servers of an NGINX configuration.
    Sites(SitesAt),
    /// The embedded demo endpoint.
    Demo,
    /// Endpoints to which connections or datagrams are forwarded unchanged.
    Forward(Shared<Forwarding>),
}

/// Read-only view of a plan, for questions about what it would do.
#[derive(Clone, Debug)]
pub struct PlanView(pub(crate) Arc<GatewayPlan>);

impl PlanView {
    /// Returns the configuration that the plan was compiled from.
    pub fn config(&self) -> &GatewayConfig {
        &self.0.config
    }

    /// Returns the router of a listener, by its index in the configuration, or `None` when the listener has no rules.
    pub fn router(&self, listener: usize) -> Option<&Router> {
        match &self.0.listeners.get(listener)?.handler {
            ListenerHandler::Router(router) => Some(router),
            ListenerHandler::Sites(_) | ListenerHandler::Demo | ListenerHandler::Forward(_) => None,
        }
    }
}

impl GatewayPlan {
    /// Compiles a checked configuration. A listener whose tables are those of `last` keeps its router.
    ///
    /// # Errors
    /// [`ProxyError::Routes`] when the tables of a listener cannot be compiled together. [`ProxyError::Filters`] when
    /// its filters cannot form a chain. [`ProxyError::TlsMissing`] when a listener uses TLS and `ready` has no settings
    /// for it; [`ProxyError::ClusterTlsMissing`] when a cluster does.
    pub(crate) fn build(
        config: Arc<GatewayConfig>,
        ready: &Ready,
        last: Option<&Self>,
    ) -> Result<Self, ProxyError> {
        let routers = last.map(KnownRouters::of).unwrap_or_default();
        let tls = ready.tls.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let listeners = config
            .listeners
            .iter()
            .zip(tls)
            .map(|(listener, tls)| {
                let known = routers.find(listener, &config);
                build_listener(listener, &config, &ready.filters, tls, known).map(Shared::new)
            })
            .collect::<Result<_, _>>()?;
        let without_tls = |(id, cluster): &(ClusterId, &Shared<ClusterConfig>)| {
            cluster.tls.is_some() && ready.cluster_tls.get(*id).is_none()
        };
        if let Some((_, cluster)) = config.clusters.iter().find(without_tls) {
            return Err(ProxyError::ClusterTlsMissing { cluster: Shared::clone(&cluster.name) });
        }
        let cluster_tls = ready.cluster_tls.clone();
        let access = config.settings.access_log.as_ref().map(AccessPlan::new);
        let (filters, challenges) = (ready.filters.clone(), ready.challenges.clone());
        Ok(Self { config, listeners, cluster_tls, filters, challenges, access })
    }
}

/// Routers of a plan, by the name of their listener, with the tables that they were compiled from.
#[derive(Default)]
struct KnownRouters<'p>(HashMap<&'p str, (&'p Shared<Router>, Vec<&'p Shared<TableConfig>>)>);

impl<'p> KnownRouters<'p> {
    fn of(plan: &'p GatewayPlan) -> Self {
        let known = plan.listeners.iter().filter_map(|listener| match &listener.handler {
            ListenerHandler::Router(router) => {
                Some((&*listener.config.name, (router, plan.config.tables_of(&listener.config))))
            }
            ListenerHandler::Sites(_) | ListenerHandler::Demo | ListenerHandler::Forward(_) => None,
        });
        Self(known.collect())
    }

    /// Returns the router of a listener, if its tables have not changed.
    fn find(&self, listener: &ListenerConfig, config: &GatewayConfig) -> Option<Shared<Router>> {
        let (router, tables) = self.0.get(&*listener.name)?;
        let wanted = config.tables_of(listener);
        let is_same = tables.len() == wanted.len()
            && tables.iter().zip(wanted).all(|(known, wanted)| known.is_same(wanted));
        is_same.then(|| (*router).clone())
    }
}

fn build_listener(
    listener: &ListenerConfig,
    config: &GatewayConfig,
    filters: &FilterSet,
    tls: Option<&ServerTls>,
    known: Option<Shared<Router>>,
) -> Result<ListenerPlan, ProxyError> {
    let tls = match (&listener.tls, tls) {
        (None, _) => None,
        (Some(config), Some(server)) => {
            Some(ListenerTls { server: server.clone(), handshake_timeout: config.handshake_timeout })
        }
        (Some(_), None) => return Err(ProxyError::TlsMissing { listener: Shared::clone(&listener.name) }),
    };
    let mut rule_names = Vec::new();
    let mut site_rules = Vec::new();
    let mut add_places = |at: SitesAt, rule_names: &mut Vec<Shared<str>>| {
        if site_rules.iter().all(|(number, _)| *number != at.sites) {
            site_rules.push((at.sites, rule_names.len()));
            let places = config.sites.get(at.sites).map_or(&[][..], |sites| sites.program.places());
            rule_names.extend(places.iter().map(|place| Shared::clone(&place.name)));
        }
    };
    let handler = match &listener.serve {
        Serve::Demo => ListenerHandler::Demo,
        Serve::Forward(forwarding) => ListenerHandler::Forward(Shared::clone(forwarding)),
        Serve::Sites(at) => {
            add_places(*at, &mut rule_names);
            ListenerHandler::Sites(*at)
        }
        Serve::Routes(_) => {
            let router = match known {
                Some(known) => known,
                None => config
                    .router(listener)
                    .map_err(|errors| ProxyError::Routes { listener: Shared::clone(&listener.name), errors })?
                    .map(Shared::new)
                    .expect("this listener serves routes"),
            };
            rule_names.extend(router.rules().iter().map(|rule| Shared::clone(&rule.name)));
            for rule in router.rules() {
                if let ActionKind::Sites(at) = config.action_of(listener, rule).kind {
                    add_places(at, &mut rule_names);
                }
            }
            ListenerHandler::Router(router)
        }
    };
    let chains = build_chains(listener, config, filters)
        .map_err(|source| ProxyError::Filters { listener: Shared::clone(&listener.name), source })?;
    let address_text = listener.address.to_string();
    let local_address = match &listener.address {
        ListenAddress::Tcp(address) | ListenAddress::Udp(address) => address.ip().to_string(),
        ListenAddress::Unix(path) => format!("unix:{}", path.display()),
    };
    Ok(ListenerPlan {
        config: listener.clone(),
        handler,
        tls,
        chains,
        address_text,
        local_address,
        rule_names,
        site_rules,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_dialects::{check_after, check_with};
    use eddy_spec::Leniency;
    use eddy_spec::problem::SourceText;

    fn sources(first: &str, second: &str) -> [SourceText; 1] {
        let text = format!(
            "listeners: [{{address: 127.0.0.1:8080, routes: a}}, {{address: 127.0.0.1:8081, routes: [a, b]}}]
clusters: {{one: {{endpoints: [127.0.0.1:1]}}, two: {{endpoints: [127.0.0.1:2]}}}}
routes:
  a: [{{cluster: {first}}}]
  b: [{{match: {{path: /b}}, cluster: {second}}}]
"
        );
        [SourceText::new("eddy.yaml", &text)]
    }

    fn routers(plan: &GatewayPlan) -> Vec<&Shared<Router>> {
        plan.listeners
            .iter()
            .filter_map(|listener| match &listener.handler {
                ListenerHandler::Router(router) => Some(router),
                ListenerHandler::Sites(_) | ListenerHandler::Demo | ListenerHandler::Forward(_) => None,
            })
            .collect()
    }

    #[test]
    fn only_listeners_with_changed_tables_get_another_router() {
        let first = check_with(&sources("one", "one"), Leniency::Strict).unwrap().config;
        let before = GatewayPlan::build(Arc::new(first), &Ready::default(), None).unwrap();
        let next = check_after(&sources("one", "two"), Leniency::Strict, &before.config).unwrap().config;
        let after = GatewayPlan::build(Arc::new(next), &Ready::default(), Some(&before)).unwrap();
        let same: Vec<bool> =
            routers(&before).into_iter().zip(routers(&after)).map(|(old, new)| old.is_same(new)).collect();
        assert_eq!(same, [true, false]);
    }
}
