//! Route tables and NGINX configurations, each with the actions of its own rules.

use eddy_ids::{ActionId, Shared};
use eddy_route::nginx::Sites;
use eddy_route::{Dialect, RouteTable};

use crate::action::Action;

/// A route table and the actions of its rules.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConfig {
    /// The rules; their actions are in `actions`.
    pub routes: RouteTable,
    /// Actions by [`ActionId`].
    pub actions: Vec<Shared<Action>>,
}

/// An NGINX configuration and the actions of its locations.
#[derive(Debug)]
pub struct SitesConfig {
    /// Servers and locations; the upstreams that they name are in `actions`.
    pub program: Sites,
    /// Actions by [`ActionId`].
    pub actions: Vec<Shared<Action>>,
}

impl TableConfig {
    /// Creates a table without rules.
    pub fn new(name: &str, dialect: Dialect) -> Self {
        Self { routes: RouteTable::new(name, dialect), actions: Vec::new() }
    }

    /// Adds an action, for rules of this table.
    pub fn add(&mut self, action: Action) -> ActionId {
        self.actions.push(Shared::new(action));
        ActionId::at(self.actions.len() - 1)
    }

    /// Returns an action of a rule of this table.
    ///
    /// # Panics
    /// When the identifier belongs to another table.
    pub fn action(&self, id: ActionId) -> &Shared<Action> {
        self.actions.get(id.position()).expect("rules name actions of their own table")
    }
}

impl SitesConfig {
    /// Returns an action of a location of this configuration.
    ///
    /// # Panics
    /// When the identifier belongs to another configuration.
    pub fn action(&self, id: ActionId) -> &Shared<Action> {
        self.actions.get(id.position()).expect("locations name actions of their own configuration")
    }
}
