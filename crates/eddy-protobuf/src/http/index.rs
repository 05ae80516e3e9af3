//! All ways to call the methods of some services.

use std::sync::Arc;

use super::bind;
use super::error::{HttpBindError, HttpRuleError};
use super::load::Loading;
use super::route::HttpRoute;
use super::trie::Trie;
use crate::limits::ProtobufLimits;
use crate::schema::Schema;

/// Finds the method that a request is for.
#[derive(Debug)]
pub struct HttpIndex {
    schema: Arc<Schema>,
    routes: Vec<Arc<HttpRoute>>,
    trie: Trie,
    options: HttpIndexOptions,
}

/// Which ways there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpIndexOptions {
    /// Full names of services; all if there is none.
    pub services: Vec<String>,
    /// Whether methods without a rule are called with `POST /package.Service/Method`, the message as the body.
    pub has_methods_without_rule: bool,
    /// Names of query parameters that are for somebody else.
    pub ignored_parameters: Vec<String>,
    /// Whether query parameters that are no field are passed over.
    pub ignores_unknown_parameters: bool,
}

/// What a request is for.
#[derive(Debug)]
pub enum HttpRouteLookup<'i> {
    /// This way to call a method.
    Route(&'i Arc<HttpRoute>),
    /// Ways that have the path, but are for these methods of HTTP.
    Methods(Vec<&'i str>),
    /// Nothing that is known.
    None,
}

impl HttpIndex {
    /// Reads the rules of services.
    ///
    /// # Errors
    /// All problems that there are.
    pub fn new(schema: Arc<Schema>, options: HttpIndexOptions) -> Result<Self, Vec<HttpRuleError>> {
        let mut loading = Loading::new(&schema);
        loading.services(&options);
        let (routes, trie) = loading.finish()?;
        Ok(Self { schema, routes, trie, options })
    }

    /// The schema that the routes are of.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// All ways there are, in the order of the descriptors.
    pub fn routes(&self) -> &[Arc<HttpRoute>] {
        &self.routes
    }

    /// The way that a method of HTTP and a path (without a query) stand for.
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

    /// Appends, as a message on the wire, the fields that the path and query of a request for `route` tell. Behind the
    /// message of its body they count for more than that.
    ///
    /// # Errors
    /// [`BindError`].
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
