//! Processing of a request: the directives of the server, the location search, the directives of the location, and
//! another round where a rewrite requests it.

use super::escape::Escape;
use super::names::{NameForm, find_sequentially};
use super::request::SiteRequest;
use super::search::{Located, SearchMode, find};
use super::sites::Sites;
use super::spec::{BlockSpec, ErrorPage, LocationHandler, ProxyPassTarget, TryFilesFallback};
use super::state::{NginxOutcome, NginxRequestState};
use super::trace::Trace;
use crate::compile::PatternScratch;
use crate::normalise::{self, Slashes};

/// A lookup in progress, or one that has ended, of which the texts of its place are written.
pub struct NginxLookup<'r, 's> {
    pub(crate) sites: &'s Sites,
    pub(crate) request: &'r SiteRequest<'r>,
    pub(crate) walk: &'r mut NginxRequestState,
    pub(crate) scratch: &'r mut PatternScratch,
    pub(crate) means: SearchMode,
    pub(crate) trace: Option<&'r mut Trace>,
}

/// Next step of a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NextStep {
    /// Run the directives of the server.
    ServerSteps,
    /// Search a location.
    Search,
    /// Run the directives of the place.
    PlaceSteps,
    /// Pass the request to the handler of the place.
    Hand,
    /// Respond with this status, or with an error page for it.
    Status(u16),
    /// The lookup is complete.
    End(NginxOutcome),
}

impl<'s> NginxLookup<'_, 's> {
    /// Starts with host and path as sent.
    pub(crate) fn walk_from_start(mut self, address: usize) -> NginxOutcome {
        let Some(listening) = self.sites.addresses().get(address) else { return status(404) };
        // The path is normalised before the host is known, with the setting of the default server.
        self.enter_server(listening.default);
        let merges = self.sites.servers()[listening.default as usize].merges_slashes;
        let slashes = if merges { Slashes::Merged } else { Slashes::Kept };
        match normalise::nginx(self.request.path, slashes, &mut self.walk.path) {
            Ok(spelling) => self.walk.spelling = spelling,
            Err(fault) => {
                if let Some(trace) = &mut self.trace {
                    trace.refuse(fault);
                }
                return status(400);
            }
        }
        self.walk.query.extend_from_slice(self.request.query.unwrap_or_default());
        self.choose_server(address, listening.default);
        self.go(NextStep::ServerSteps)
    }

    /// Continues after an upstream failure or for an intercepted response, with the `error_page` of the place.
    ///
    /// `None` if there is no error page for the status; the response is then unchanged.
    pub fn walk_on_error(&mut self, code: u16) -> Option<NginxOutcome> {
        let place = self.place();
        let is_known = place.error_pages.iter().any(|page| page.statuses.contains(&code));
        if !is_known || self.walk.has_error_page || self.walk.changes_left == 0 {
            return None;
        }
        Some(self.go(NextStep::Status(code)))
    }

    fn go(&mut self, mut next: NextStep) -> NginxOutcome {
        loop {
            next = match next {
                NextStep::ServerSteps => {
                    let place = self.server_block();
                    self.walk.place = place;
                    self.run_steps(place).unwrap_or(NextStep::Search)
                }
                NextStep::Search => self.search(),
                NextStep::PlaceSteps => self.run_block_steps(),
                NextStep::Hand => self.hand_over(),
                NextStep::Status(code) => self.answer(code),
                NextStep::End(outcome) => {
                    if self.walk.is_too_long {
                        return status(500);
                    }
                    return outcome;
                }
            };
        }
    }

    fn choose_server(&mut self, address: usize, default: u32) {
        let host = self.request.host.strip_suffix(b".").unwrap_or(self.request.host);
        self.walk.host.extend(host.iter().map(u8::to_ascii_lowercase));
        let Self { sites, walk, scratch, .. } = self;
        let NginxRequestState { host, groups, .. } = &mut **walk;
        let found = match self.means {
            SearchMode::Index => sites.names_at(address).find(host, |server, at| {
                let form = &sites.names_of(server)[at].form;
                matches!(form, NameForm::Pattern(pattern) if pattern.find(host, scratch, groups))
            }),
            SearchMode::Plain => {
                let servers = &sites.addresses()[address].servers;
                let names = servers.iter().map(|server| (*server, sites.names_of(*server)));
                find_sequentially(names, host, scratch)
            }
        };
        if let Some(trace) = &mut self.trace {
            trace.choose_server(sites, address, host, found);
        }
        let server = found.map_or(default, |found| found.server);
        if let Some(at) = found.and_then(|found| found.pattern)
            && let NameForm::Pattern(pattern) = &sites.names_of(server)[at].form
        {
            let host = std::mem::take(&mut self.walk.host);
            if self.means == SearchMode::Plain {
                pattern.find(&host, self.scratch, &mut self.walk.groups);
            }
            self.store_captures(pattern, &host);
            self.walk.host = host;
        }
        self.enter_server(server);
    }

    fn enter_server(&mut self, server: u32) {
        self.walk.server = server;
        self.walk.place = self.server_block();
    }

    fn server_block(&self) -> u32 {
        self.sites.servers()[self.walk.server as usize].place
    }

    pub(crate) fn place(&self) -> &'s BlockSpec {
        &self.sites.places()[self.walk.place as usize]
    }

    fn search(&mut self) -> NextStep {
        self.walk.is_path_changed = false;
        let sites = self.sites;
        let server_block = self.server_block();
        let mut last_match = None;
        let NginxRequestState { path, query, groups, .. } = &mut *self.walk;
        let scratch = &mut *self.scratch;
        let located = sites.level_of(server_block).map_or(Located::Nothing, |level| {
            find(sites, level, path, self.means, &mut |place| {
                let is_match =
                    sites.pattern_of(place).is_some_and(|pattern| pattern.find(path, scratch, groups));
                last_match = if is_match { Some(place) } else { last_match };
                is_match
            })
        });
        if let Some(trace) = &mut self.trace {
            trace.locate(sites, server_block, path, query, located);
        }
        if let Some(pattern) = last_match.and_then(|place| sites.pattern_of(place)) {
            let path = std::mem::take(&mut self.walk.path);
            self.store_captures(pattern, &path);
            self.walk.path = path;
        }
        let (place, is_redirect) = match located {
            Located::Nothing => (server_block, false),
            Located::Prefix(place) | Located::Final(place) => (place, false),
            Located::Redirect(place) => (place, true),
        };
        self.walk.place = place;
        let place = self.place();
        if place.is_internal && !self.walk.is_internal {
            return NextStep::Status(404);
        }
        if let (Some(length), Some(max)) = (self.request.body_bytes, place.body_bytes_max)
            && length > max
        {
            return NextStep::Status(413);
        }
        if is_redirect {
            let mut address = self.buffer();
            Escape::Path.write(place.kind.path().unwrap_or_default().as_bytes(), &mut address);
            if !self.walk.query.is_empty() {
                address.push(b'?');
                address.extend_from_slice(&self.walk.query);
            }
            self.set_address(address);
            return NextStep::Status(301);
        }
        NextStep::PlaceSteps
    }

    fn run_block_steps(&mut self) -> NextStep {
        if self.walk.place == self.server_block() {
            return NextStep::Hand;
        }
        if let Some(methods) = &self.place().guard.methods
            && !methods.iter().any(|method| method.as_bytes() == self.method())
        {
            return NextStep::Status(403);
        }
        if let Some(end) = self.run_steps(self.walk.place) {
            return end;
        }
        if !self.walk.is_path_changed {
            return NextStep::Hand;
        }
        match self.count_change() {
            true => NextStep::Search,
            false => NextStep::Status(500),
        }
    }

    /// Returns the current method.
    fn method(&self) -> &[u8] {
        if self.walk.becomes_get { b"GET" } else { self.request.method }
    }

    /// Counts an internal redirect; returns whether it is still allowed.
    fn count_change(&mut self) -> bool {
        self.walk.changes_left = self.walk.changes_left.saturating_sub(1);
        self.walk.changes_left > 0
    }

    fn hand_over(&mut self) -> NextStep {
        let place = self.place();
        if place.guard.is_closed {
            return NextStep::Status(403);
        }
        match &place.try_files_fallback {
            Some(TryFilesFallback::Status(code)) => return NextStep::Status(*code),
            Some(TryFilesFallback::Named(name)) => return self.send_to_name(name.as_bytes()),
            Some(TryFilesFallback::Path(path)) => {
                let target = self.text_of(path);
                return self.send_to_path(target);
            }
            None => {}
        }
        match &place.hand {
            // The page would be a file, which eddy does not serve: the original error stays the response.
            LocationHandler::None if self.walk.shows_error_page => match self.walk.answer_status {
                Some(status) if status >= 400 => NextStep::End(NginxOutcome::Status { status }),
                _ => NextStep::Status(404),
            },
            LocationHandler::None => NextStep::Status(404),
            LocationHandler::Proxy(proxy) => match &proxy.upstream {
                ProxyPassTarget::Fixed { action, .. } => {
                    NextStep::End(NginxOutcome::Proxy { action: *action })
                }
                ProxyPassTarget::Computed { address, choices } => self.compute_upstream(address, choices),
            },
        }
    }

    /// Redirects internally to a named location.
    fn send_to_name(&mut self, name: &[u8]) -> NextStep {
        if !self.count_change() || self.walk.path.is_empty() {
            return NextStep::Status(500);
        }
        let Some(place) = self.sites.named(self.walk.server, name) else { return NextStep::Status(500) };
        self.walk.is_internal = true;
        self.walk.is_path_changed = false;
        self.walk.place = place;
        if let Some(trace) = &mut self.trace {
            trace.send_to_name(self.sites, place, &self.walk.path, &self.walk.query);
        }
        NextStep::PlaceSteps
    }

    /// Redirects internally to a path with an optional query.
    fn send_to_path(&mut self, mut target: Vec<u8>) -> NextStep {
        if !self.count_change() {
            return NextStep::Status(500);
        }
        self.walk.query.clear();
        if let Some(at) = memchr::memchr(b'?', &target) {
            self.walk.query.extend_from_slice(&target[at + 1..]);
            target.truncate(at);
        }
        std::mem::swap(&mut self.walk.path, &mut target);
        self.recycle_buffer(target);
        self.walk.is_internal = true;
        self.walk.is_as_sent = false;
        self.walk.is_location_matched = true;
        NextStep::ServerSteps
    }

    /// Responds with this status, unless an error page replaces it.
    fn answer(&mut self, code: u16) -> NextStep {
        self.walk.answer_status = Some(code);
        let place = self.place();
        if !self.walk.has_error_page && !place.error_pages.is_empty() && self.walk.changes_left > 0 {
            self.walk.has_error_page = !place.has_recursive_error_pages;
            if let Some(page) = place.error_pages.iter().find(|page| page.statuses.contains(&code)) {
                return self.show_error_page(page);
            }
        }
        if self.walk.has_address && is_redirect(code) {
            return NextStep::End(NginxOutcome::Redirect { status: code });
        }
        NextStep::End(NginxOutcome::Status { status: code })
    }

    fn show_error_page(&mut self, page: &'s ErrorPage) -> NextStep {
        if let Some(answer) = page.answer {
            self.walk.answer_status = answer;
        }
        let target = self.text_of(&page.target);
        self.walk.shows_error_page = true;
        match target.first() {
            Some(b'/') => {
                self.walk.becomes_get |= self.request.method != b"HEAD";
                self.send_to_path(target)
            }
            Some(b'@') => {
                let go = self.send_to_name(&target[1..]);
                self.recycle_buffer(target);
                go
            }
            _ => {
                self.set_address(target);
                let status = page.answer.flatten().filter(|code| is_redirect(*code)).unwrap_or(302);
                NextStep::End(NginxOutcome::Redirect { status })
            }
        }
    }

    /// Stores the address of a redirect.
    pub(crate) fn set_address(&mut self, address: Vec<u8>) {
        let before = std::mem::replace(&mut self.walk.address, address);
        self.recycle_buffer(before);
        self.walk.has_address = true;
    }

    /// Returns the status of a response, or the one kept by an error page.
    pub(crate) fn final_status(&self, status: u16) -> u16 {
        self.walk.answer_status.unwrap_or(status)
    }
}

/// Whether a status is a redirect.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn status(status: u16) -> NginxOutcome {
    NginxOutcome::Status { status }
}
