//! `location`: places, their settings and programs, and nested locations.

use std::collections::HashSet;

use eddy_ids::Shared;
use eddy_route::SourceLocation;
use eddy_route::nginx::{BlockKind, BlockSpec, LetterCase, LocationHandler, TryFilesFallback};
use eddy_spec::problem::{SourceSpan, shown};

use super::block::{IF, LOCATION};
use super::constants::VariableValues;
use super::guard;
use super::reader::NginxReader;
use super::scope::BlockSettings;
use super::tree::{Directive, NginxWord};

/// Context of a location.
pub(super) struct LocationContext<'o> {
    pub(super) scope: &'o BlockSettings,
    /// Prefix of the names of places.
    pub(super) label: &'o str,
    /// Text of the enclosing location, with which nested ones must begin.
    pub(super) text: Option<&'o str>,
    /// Whether locations are allowed here.
    pub(super) may_hold: bool,
    /// Whether the context is a server.
    pub(super) is_server: bool,
}

impl NginxReader<'_, '_> {
    /// Reads a location; returns its index among the places.
    pub(super) fn location(&mut self, directive: &Directive, outer: &LocationContext<'_>) -> Option<u32> {
        let place = directive.name.place;
        if !outer.may_hold {
            self.report
                .error(place, "a location is not allowed inside a named location or one with `=`")
                .hint("move it next to that location");
            return None;
        }
        let (kind, text) = self.location_kind(&directive.arguments, outer)?;
        let written: Vec<&str> = directive.arguments.iter().map(|word| word.text.as_str()).collect();
        let name = format!("{} {}", outer.label, written.join(" "));
        let block = directive.block.as_deref().unwrap_or_default();
        let directives = self.accepted(block, LOCATION);
        let scope = outer.scope.within(&directives, self).guarded(outer.scope, block);
        let held = self.constants.after(block);
        let replaced = match &kind {
            BlockKind::Exact(text) | BlockKind::Prefix(text) | BlockKind::FinalPrefix(text) => Some(&**text),
            BlockKind::Server | BlockKind::Pattern(_) | BlockKind::Named(_) | BlockKind::If => None,
        };
        let may_hold = !matches!(kind, BlockKind::Exact(_) | BlockKind::Named(_));
        let hand = self.location_handler(&directives, &scope, replaced, &held);
        let index = self.add_block(place_of(&scope, &name, self.origin(place), kind));
        let inner_hand = hand.clone();
        let mut if_block = |reader: &mut Self, directive: &Directive| {
            Some(reader.if_block(directive, &scope, &name, &inner_hand, &held))
        };
        let steps = self.steps(&directives, LOCATION, &mut if_block);
        let inner = LocationContext {
            scope: &scope,
            label: outer.label,
            text: text.as_deref(),
            may_hold,
            is_server: false,
        };
        let locations = self.locations(&directives, &inner);
        let try_files_fallback = self.try_files_fallback(&directives);
        let is_internal = directives.iter().any(|directive| directive.name.text == "internal");
        if matches!(hand, LocationHandler::None)
            && steps.is_empty()
            && try_files_fallback.is_none()
            && locations.is_empty()
        {
            self.report
                .warning(
                    place,
                    "no handler in this location: NGINX would look for a file, eddy responds with 404",
                )
                .hint("add a `proxy_pass` or a `return`");
        }
        if let Some(spec) = self.spec.places.get_mut(index as usize) {
            spec.hand = hand;
            spec.steps = steps;
            spec.locations = locations;
            spec.try_files_fallback = try_files_fallback;
            spec.is_internal = is_internal;
            spec.guard.methods = guard::methods(block);
        }
        Some(index)
    }

    /// Reads the locations among some directives; returns their indices.
    pub(super) fn locations(&mut self, directives: &[Directive], outer: &LocationContext<'_>) -> Vec<u32> {
        let mut locations = Vec::new();
        let mut known = HashSet::new();
        for directive in directives.iter().filter(|directive| directive.name.text == "location") {
            let Some(location) = self.location(directive, outer) else { continue };
            self.report_duplicate_location(&mut known, location, directive.name.place);
            locations.push(location);
        }
        locations
    }

    /// Adds a place; returns its index.
    pub(super) fn add_block(&mut self, place: BlockSpec) -> u32 {
        self.spec.places.push(place);
        u32::try_from(self.spec.places.len() - 1).expect("fewer places than `u32` counts")
    }

    /// Returns the last argument of `try_files` in a block.
    pub(super) fn try_files_fallback(&mut self, directives: &[Directive]) -> Option<TryFilesFallback> {
        let directive = directives.iter().find(|directive| directive.name.text == "try_files")?;
        let last = directive.arguments.last()?;
        if let Some(code) = last.text.strip_prefix('=') {
            let code = NginxWord { text: code.to_owned(), place: last.place };
            return Some(TryFilesFallback::Status(u16::try_from(self.number(&code, 200, 599)?).ok()?));
        }
        if let Some(name) = last.text.strip_prefix('@') {
            return Some(TryFilesFallback::Named(name.into()));
        }
        match self.text(last) {
            Some(path) => Some(TryFilesFallback::Path(path)),
            None => {
                self.note_denial(directive.name.place);
                Some(TryFilesFallback::Status(403))
            }
        }
    }

    fn location_kind(
        &mut self,
        words: &[NginxWord],
        outer: &LocationContext<'_>,
    ) -> Option<(BlockKind, Option<String>)> {
        let (sign, text) = match words {
            [text] => match ["=", "^~", "~*", "~"]
                .iter()
                .find_map(|sign| text.text.strip_prefix(sign).map(|rest| (*sign, rest.to_owned())))
            {
                Some((sign, rest)) => (sign.to_owned(), NginxWord { text: rest, place: text.place }),
                None => (String::new(), text.clone()),
            },
            [sign, text] => (sign.text.clone(), text.clone()),
            _ => return None,
        };
        if let Some(name) = text.text.strip_prefix('@').filter(|_| sign.is_empty()) {
            if !outer.is_server {
                self.report
                    .error(text.place, "a named location is only allowed in a server, not in a location");
                return None;
            }
            return Some((BlockKind::Named(name.into()), None));
        }
        let path: Box<str> = text.text.as_str().into();
        let is_outside = outer.text.is_some_and(|around| !text.text.starts_with(around));
        if matches!(sign.as_str(), "" | "=" | "^~") && is_outside {
            let message =
                format!("`{}` does not begin with the path of the enclosing location", shown(&text.text));
            self.report.error(text.place, message).hint("move it next to that location");
            return None;
        }
        if path.contains('\0') {
            return self.misfit(&text, "a valid path: it contains a NUL");
        }
        let inner = Some(text.text.clone());
        match sign.as_str() {
            "" => Some((BlockKind::Prefix(path), inner)),
            "=" => Some((BlockKind::Exact(path), inner)),
            "^~" => Some((BlockKind::FinalPrefix(path), inner)),
            "~" | "~*" => {
                let case = if sign == "~" { LetterCase::Counts } else { LetterCase::Ignored };
                let pattern = self.pattern(&text.text, text.place, case)?;
                Some((BlockKind::Pattern(pattern), inner))
            }
            _ => self.misfit(words.first()?, "`=`, `^~`, `~` or `~*`"),
        }
    }

    /// Adds the place of an `if` in a location; returns its index.
    fn if_block(
        &mut self,
        directive: &Directive,
        outer: &BlockSettings,
        label: &str,
        around: &LocationHandler,
        held: &VariableValues,
    ) -> u32 {
        let block = directive.block.as_deref().unwrap_or_default();
        let directives: Vec<Directive> =
            block.iter().filter(|directive| self.catalogued(directive, IF)).cloned().collect();
        let scope = outer.within(&directives, self).guarded(outer, block);
        let own = self.location_handler(&directives, &scope, None, held);
        let hand = match (own, around) {
            (own @ LocationHandler::Proxy(_), _) => own,
            (LocationHandler::None, around) => around.clone(),
        };
        let origin = self.origin(directive.name.place);
        let mut place = place_of(&scope, &format!("{label} if"), origin, BlockKind::If);
        place.hand = hand;
        self.add_block(place)
    }

    fn location_handler(
        &mut self,
        directives: &[Directive],
        scope: &BlockSettings,
        replaced: Option<&str>,
        held: &VariableValues,
    ) -> LocationHandler {
        let mut passes = directives.iter().filter(|directive| directive.name.text == "proxy_pass");
        let Some(directive) = passes.next() else { return LocationHandler::None };
        if let Some(second) = passes.next() {
            self.report.error(second.name.place, "duplicate `proxy_pass` in this block");
        }
        let Some(word) = directive.arguments.first() else { return LocationHandler::None };
        self.proxy_pass(word, scope, replaced, held)
    }

    /// Reports a location that is written twice.
    fn report_duplicate_location(
        &mut self,
        known: &mut HashSet<(u8, Box<str>)>,
        location: u32,
        place: SourceSpan,
    ) {
        let kind = self.spec.places.get(location as usize).map(|place| &place.kind);
        let own = match kind {
            Some(BlockKind::Exact(path)) => (0, path.clone()),
            // A prefix with `^~` is the same location as one without.
            Some(BlockKind::Prefix(path) | BlockKind::FinalPrefix(path)) => (1, path.clone()),
            Some(BlockKind::Named(name)) => (2, name.clone()),
            Some(BlockKind::Server | BlockKind::Pattern(_) | BlockKind::If) | None => return,
        };
        if !known.insert(own) {
            self.report.error(place, "duplicate location").hint("merge the two");
        }
    }
}

/// Returns a place with the settings of a block.
pub(super) fn place_of(
    scope: &BlockSettings,
    name: &str,
    origin: SourceLocation,
    kind: BlockKind,
) -> BlockSpec {
    BlockSpec {
        name: name.into(),
        origin,
        kind,
        steps: Vec::new(),
        locations: Vec::new(),
        hand: LocationHandler::None,
        is_internal: false,
        guard: scope.guards.block_access(),
        error_pages: Shared::clone(&scope.error_pages),
        has_recursive_error_pages: scope.has_recursive_error_pages,
        default_type: scope.typed_text(),
        charset: scope.charset.clone(),
        charset_types: Shared::clone(&scope.charset_types),
        body_bytes_max: scope.body_bytes_max,
        try_files_fallback: None,
        added_headers: Shared::clone(&scope.added_headers),
        names_host_in_redirects: scope.names_host_in_redirects,
        names_server_in_redirects: scope.names_server_in_redirects,
        names_port_in_redirects: scope.names_port_in_redirects,
    }
}
