//! Builds routes from method options.

use std::sync::Arc;

use super::error::{HttpRuleError, HttpRuleProblem};
use super::options::HttpIndexOptions;
use super::route::{Bound, HttpBodyBinding, HttpRoute};
use super::rule::HttpRule;
use super::template::PathTemplate;
use super::trie::Trie;
use crate::schema::{
    FieldDescriptor, Label, MessageDescriptor, MessageId, MethodDescriptor, Schema, ServiceDescriptor,
};

/// Routes under construction.
pub(super) struct Loading<'s> {
    schema: &'s Schema,
    routes: Vec<Arc<HttpRoute>>,
    trie: Trie,
    errors: Vec<HttpRuleError>,
}

impl<'s> Loading<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema, routes: Vec::new(), trie: Trie::default(), errors: Vec::new() }
    }

    /// Loads the selected services.
    pub(super) fn services(&mut self, options: &HttpIndexOptions) {
        for name in &options.services {
            if self.schema.find_service(name).is_none() {
                let known: Vec<&str> = self.schema.services().iter().map(|service| &*service.name).collect();
                let problem = HttpRuleProblem::ServiceMissing { known: known.join(", ") };
                self.errors.push(HttpRuleError { method: name.clone(), path: String::new(), problem });
            }
        }
        let is_wanted = |service: &&ServiceDescriptor| {
            options.services.is_empty() || options.services.iter().any(|name| **name == *service.name)
        };
        for service in self.schema.services().iter().filter(is_wanted) {
            for method in &service.methods {
                self.method(service, method, options.has_methods_without_rule);
            }
        }
    }

    pub(super) fn finish(self) -> Result<(Vec<Arc<HttpRoute>>, Trie), Vec<HttpRuleError>> {
        if self.errors.is_empty() { Ok((self.routes, self.trie)) } else { Err(self.errors) }
    }

    fn method(&mut self, service: &ServiceDescriptor, method: &MethodDescriptor, has_default: bool) {
        let path = format!("/{}/{}", service.name, method.name);
        let rule = match HttpRule::find(&method.options) {
            Ok(Some(rule)) => rule,
            Ok(None) if has_default => {
                HttpRule { method: "POST", path: &path, body: "*", ..HttpRule::default() }
            }
            Ok(None) => return,
            Err(fault) => return self.report(service, method, "", HttpRuleProblem::Malformed(fault)),
        };
        for (depth, rule) in std::iter::once((0, &rule)).chain(rule.additional.iter().map(|rule| (1, rule))) {
            let is_nested = depth > 0 && !rule.additional.is_empty();
            let added = if is_nested { Err(HttpRuleProblem::Nested) } else { self.rule(&path, method, rule) };
            if let Err(problem) = added {
                self.report(service, method, rule.path, problem);
            }
        }
    }

    fn report(
        &mut self,
        service: &ServiceDescriptor,
        method: &MethodDescriptor,
        path: &str,
        problem: HttpRuleProblem,
    ) {
        let method = format!("{}.{}", service.name, method.name);
        self.errors.push(HttpRuleError { method, path: path.to_owned(), problem });
    }

    fn rule(
        &mut self,
        path: &str,
        method: &MethodDescriptor,
        rule: &HttpRule<'_>,
    ) -> Result<(), HttpRuleProblem> {
        if rule.path.is_empty() || rule.method.is_empty() {
            return Err(HttpRuleProblem::PathMissing);
        }
        let template = PathTemplate::parse(rule.path)?;
        let body = match rule.body {
            "" => HttpBodyBinding::None,
            "*" => HttpBodyBinding::Whole,
            name => HttpBodyBinding::Field(self.field(method.input, name)?.0),
        };
        let response_body = match rule.response_body {
            "" => None,
            name => Some(self.field(method.output, name)?.0),
        };
        let variables: Box<[Bound]> = template
            .variables
            .iter()
            .map(|variable| {
                let fields = self.variable(method.input, &variable.field)?;
                Ok(Bound { variable: variable.clone(), fields })
            })
            .collect::<Result<_, _>>()?;
        let is_body = |bound: &&Bound| matches!((body, &*bound.fields), (HttpBodyBinding::Field(body), [field]) if *field == body);
        if let Some(bound) = variables.iter().find(is_body) {
            return Err(HttpRuleProblem::BodyInPath(bound.variable.field.to_string()));
        }
        self.trie
            .insert(&template, rule.method, self.routes.len())
            .map_err(|other| HttpRuleProblem::Conflict(self.routes[other].path.to_string()))?;
        self.routes.push(Arc::new(HttpRoute {
            path: path.into(),
            method: rule.method.into(),
            template: rule.path.into(),
            input: method.input,
            output: method.output,
            is_client_streaming: method.is_client_streaming,
            is_server_streaming: method.is_server_streaming,
            body,
            response_body,
            variables,
            has_verb: template.verb.is_some(),
        }));
        Ok(())
    }

    fn field(&self, message: MessageId, name: &str) -> Result<(u16, &'s FieldDescriptor), HttpRuleProblem> {
        let message: &MessageDescriptor = self.schema.message(message);
        message.by_name(name.as_bytes()).ok_or_else(|| HttpRuleProblem::FieldMissing {
            field: name.to_owned(),
            message: message.name.to_string(),
        })
    }

    /// Returns the indexes of a field that a path segment sets.
    fn variable(&self, input: MessageId, path: &str) -> Result<Box<[u16]>, HttpRuleProblem> {
        let mut message = Some(input);
        let mut indexes = Vec::new();
        for name in path.split('.') {
            let of = message.ok_or_else(|| HttpRuleProblem::FieldKind(path.to_owned()))?;
            let (index, field) = self.field(of, name)?;
            if field.label != Label::Singular {
                return Err(HttpRuleProblem::FieldKind(path.to_owned()));
            }
            message = field.kind.message();
            indexes.push(index);
        }
        match message {
            Some(message) if !self.schema.message(message).special.has_text_form() => {
                Err(HttpRuleProblem::FieldKind(path.to_owned()))
            }
            _ => Ok(indexes.into()),
        }
    }
}
