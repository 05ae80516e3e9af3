//! Test requests from plain text.

use eddy_http::{Field, FieldId, Fields, Span};
use eddy_route::{RouteRequest, RouteScratch, Router};

/// A request in text form.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteTestRequest {
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) random: u64,
}

impl RouteTestRequest {
    pub(crate) fn get(host: &str, path: &str) -> Self {
        Self { method: "GET".to_owned(), host: host.to_owned(), path: path.to_owned(), ..Self::default() }
    }

    pub(crate) fn method(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    pub(crate) fn query(mut self, query: &str) -> Self {
        query.clone_into(&mut self.query);
        self
    }

    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns path and query.
    pub(crate) fn target(&self) -> String {
        let sign = if self.query.is_empty() { "" } else { "?" };
        format!("{}{sign}{}", self.path, self.query)
    }

    /// Calls `look` with the request.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&RouteRequest<'_>) -> T) -> T {
        let mut bytes = Vec::new();
        let mut span = |text: &str| {
            let start = u32::try_from(bytes.len()).unwrap();
            bytes.extend_from_slice(text.as_bytes());
            Span { start, end: u32::try_from(bytes.len()).unwrap() }
        };
        let mut fields = Vec::new();
        for (name, value) in &self.fields {
            let id = FieldId::from_name(name.as_bytes());
            fields.push(Field { name: span(name), value: span(value), id, ..Field::default() });
        }
        let target = self.target();
        look(&RouteRequest {
            host: self.host.split(':').next().unwrap().as_bytes(),
            authority: self.host.as_bytes(),
            path: self.path.as_bytes(),
            query: self.query.as_bytes(),
            target: target.as_bytes(),
            scheme: b"http",
            method: self.method.as_bytes(),
            random: self.random,
            fields: Fields::new(&bytes, &fields),
        })
    }

    /// Returns the name of the matching rule; asserts that both search methods agree.
    pub(crate) fn winner(&self, router: &Router) -> Option<String> {
        self.with(|request| {
            let mut scratch = RouteScratch::new();
            let found = router.lookup(request, &mut scratch).map(|found| (found.rank, found.rule.index));
            let plain =
                router.lookup_sequentially(request, &mut scratch).map(|found| (found.rank, found.rule.index));
            assert_eq!(found, plain, "the index agrees with the plain scan: {self:?}");
            found.map(|(_, index)| router.rules()[index as usize].name.to_string())
        })
    }
}
