//! Trie that finds the template of a path.

use std::collections::HashMap;

use super::percent::{Within, decode};
use super::template::{PathTemplate, PathTemplateSegment};

/// Templates by segment: literals take precedence over `*`, `*` over `**`, from left to right.
#[derive(Debug, Default)]
pub(super) struct Trie {
    nodes: Vec<PathTrieNode>,
}

#[derive(Debug, Default)]
struct PathTrieNode {
    literals: HashMap<Box<str>, usize>,
    one: Option<usize>,
    /// Routes that end here.
    ends: Vec<PathTrieRoute>,
    /// Routes that have `**` here.
    catch_all_routes: Vec<PathTrieRoute>,
}

/// A route at the end of its template.
#[derive(Debug)]
struct PathTrieRoute {
    verb: Option<Box<str>>,
    method: Box<str>,
    route: usize,
}

/// State and result of a search.
#[derive(Debug, Default)]
pub(super) struct PathTrieSearch<'r> {
    method: &'r str,
    verb: Option<&'r str>,
    /// Routes whose template matches the path.
    pub(super) methods: Vec<usize>,
}

impl Trie {
    /// Adds a route; or returns an existing one that matches the same requests.
    pub(super) fn insert(
        &mut self,
        template: &PathTemplate,
        method: &str,
        route: usize,
    ) -> Result<(), usize> {
        if self.nodes.is_empty() {
            self.nodes.push(PathTrieNode::default());
        }
        let mut at = 0;
        let mut is_rest = false;
        for segment in &template.segments {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return Ok(()) };
            at = match segment {
                PathTemplateSegment::Literal(literal) => {
                    *node.literals.entry(literal.clone()).or_insert(next)
                }
                PathTemplateSegment::One => *node.one.get_or_insert(next),
                PathTemplateSegment::Rest => {
                    is_rest = true;
                    break;
                }
            };
            if at == next {
                self.nodes.push(PathTrieNode::default());
            }
        }
        let Some(node) = self.nodes.get_mut(at) else { return Ok(()) };
        let ends = if is_rest { &mut node.catch_all_routes } else { &mut node.ends };
        let same = ends.iter().find(|end| end.verb == template.verb && *end.method == *method);
        if let Some(same) = same {
            return Err(same.route);
        }
        ends.push(PathTrieRoute { verb: template.verb.clone(), method: method.into(), route });
        Ok(())
    }

    /// Returns the route of a path, and routes for other HTTP methods that match this path.
    ///
    /// # Cost
    /// At most as many steps as there are nodes: a node is at one depth only.
    pub(super) fn find<'r>(&self, method: &'r str, path: &'r [u8]) -> (Option<usize>, PathTrieSearch<'r>) {
        let mut search = PathTrieSearch { method, verb: None, methods: Vec::new() };
        let Some(path) = path.strip_prefix(b"/") else { return (None, search) };
        let last = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let colon = path.iter().rposition(|byte| *byte == b':').filter(|colon| *colon > last);
        if let Some((path, verb)) = colon.and_then(|colon| path.split_at_checked(colon)) {
            search.verb = verb.get(1..).and_then(|verb| std::str::from_utf8(verb).ok());
            if search.verb.is_some()
                && let Some(route) = self.descend(0, Some(path), &mut search)
            {
                return (Some(route), search);
            }
        }
        search.verb = None;
        (self.descend(0, Some(path), &mut search), search)
    }

    fn descend(&self, at: usize, path: Option<&[u8]>, search: &mut PathTrieSearch<'_>) -> Option<usize> {
        let node = self.nodes.get(at)?;
        let Some(path) = path else {
            return search.choose(&node.ends).or_else(|| search.choose(&node.catch_all_routes));
        };
        let (segment, rest) = match path.iter().position(|byte| *byte == b'/') {
            Some(slash) => (path.get(..slash).unwrap_or_default(), path.get(slash + 1..)),
            None => (path, None),
        };
        let literal = if segment.contains(&b'%') {
            decode(segment, Within::Segment).and_then(|segment| node.literals.get(segment.as_str()))
        } else {
            std::str::from_utf8(segment).ok().and_then(|segment| node.literals.get(segment))
        };
        literal
            .and_then(|next| self.descend(*next, rest, search))
            .or_else(|| {
                node.one.filter(|_| !segment.is_empty()).and_then(|next| self.descend(next, rest, search))
            })
            .or_else(|| search.choose(&node.catch_all_routes))
    }
}

impl PathTrieSearch<'_> {
    fn choose(&mut self, ends: &[PathTrieRoute]) -> Option<usize> {
        let mut any = None;
        for end in ends.iter().filter(|end| end.verb.as_deref() == self.verb) {
            if *end.method == *self.method {
                return Some(end.route);
            }
            if &*end.method == "*" {
                any = Some(end.route);
            }
            self.methods.push(end.route);
        }
        any
    }
}
