//! Index of all HTTP routes to the methods of some services.

use std::sync::Arc;

use super::bind;
use super::error::{HttpBindError, HttpRuleError};
use super::load::Loading;
use super::options::HttpIndexOptions;
use super::route::HttpRoute;
use super::trie::Trie;
use crate::limits::ProtobufLimits;
use crate::schema::Schema;

/// Finds the method that a request calls.
#[derive(Debug)]
pub struct HttpIndex {
    schema: Arc<Schema>,
    routes: Vec<Arc<HttpRoute>>,
    trie: Trie,
    options: HttpIndexOptions,
}

/// Result of a route lookup.
#[derive(Debug)]
pub enum HttpRouteLookup<'i> {
    /// The route.
    Route(&'i Arc<HttpRoute>),
    /// The path matches, but only for these HTTP methods.
    Methods(Vec<&'i str>),
    /// The path is unknown.
    None,
}

impl HttpIndex {
    /// Loads the rules of services.
    ///
    /// # Errors
    /// All problems found.
    pub fn new(schema: Arc<Schema>, options: HttpIndexOptions) -> Result<Self, Vec<HttpRuleError>> {
        let mut loading = Loading::new(&schema);
        loading.services(&options);
        let (routes, trie) = loading.finish()?;
        Ok(Self { schema, routes, trie, options })
    }

    /// Returns the schema of the routes.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns all routes, in the order of the descriptors.
    pub fn routes(&self) -> &[Arc<HttpRoute>] {
        &self.routes
    }

    /// Returns the route of an HTTP method and a path (without query).
    ///
    /// # Cost
    /// At most as many steps as all templates have segments.
    pub fn find(&self, method: &str, path: &[u8]) -> HttpRouteLookup<'_> {
        let (route, search) = self.trie.find(method, path);
        if let Some(route) = route.and_then(|route| self.routes.get(route)) {
            return HttpRouteLookup::Route(route);
        }
        let mut methods: Vec<&str> = search
            .methods
            .iter()
            .filter_map(|route| self.routes.get(*route))
            .map(|route| &*route.method)
            .collect();
        methods.sort_unstable();
        methods.dedup();
        if methods.is_empty() { HttpRouteLookup::None } else { HttpRouteLookup::Methods(methods) }
    }

    /// Appends the encoded fields that the path and query of a request for `route` set. Appended to the message of
    /// its body, they override the body's fields.
    ///
    /// # Errors
    /// [`HttpBindError`].
    pub fn bind(
        &self,
        route: &HttpRoute,
        path: &[u8],
        query: &[u8],
        limits: &ProtobufLimits,
        out: &mut Vec<u8>,
    ) -> Result<(), HttpBindError> {
        bind::bind(&self.schema, route, (path, query), &self.options, limits, out)
    }
}
