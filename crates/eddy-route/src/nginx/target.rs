//! Request target and headers for an upstream.

use eddy_ids::ActionId;
use thiserror::Error;

use super::escape::Escape;
use super::request::SiteRequest;
use super::run::{NextStep, NginxLookup};
use super::search::SearchMode;
use super::sites::Sites;
use super::spec::{FieldFilter, FieldText, LocationHandler, ProxyPassTarget, UpstreamScheme};
use super::state::{NginxOutcome, NginxRequestState};
use super::text::TextTemplate;
use crate::request::RouteScratch;

/// A path or query produced by rewrites and variables has invalid bytes; the request must be answered 500.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the request target for the upstream is invalid")]
pub struct BadTarget;

impl Sites {
    /// Writes the redirect address of the response, if there is one; a path is prefixed with the host if the place is
    /// configured so. An error page that replaces a redirect keeps the address.
    pub fn write_location(&self, request: &SiteRequest<'_>, walk: &mut NginxRequestState, out: &mut Vec<u8>) {
        out.clear();
        if walk.has_address {
            self.write_origin(&walk.address, request, walk, out);
            out.extend_from_slice(&walk.address);
        }
    }

    /// Returns the filter for the header fields of a request.
    ///
    /// # Cost
    /// Where the servers of the address differ, a search for the server of the host, which allocates.
    pub fn field_filter(&self, address: usize, host: &[u8], scratch: &mut RouteScratch) -> FieldFilter {
        if let Some(names) = self.common_field_names(address) {
            return FieldFilter { names, behind_host: names };
        }
        let host = host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase();
        let found = self.names_at(address).find(&host, |server, at| {
            self.names_of(server).get(at).is_some_and(|name| name.matches(&host, &mut scratch.pattern))
        });
        let default = self.addresses()[address].default;
        let names = |server: u32| self.servers()[server as usize].field_names;
        FieldFilter { names: names(default), behind_host: names(found.map_or(default, |found| found.server)) }
    }

    /// Writes the prefix of an address that is a path, if the place is configured so.
    pub(crate) fn write_origin(
        &self,
        address: &[u8],
        request: &SiteRequest<'_>,
        walk: &NginxRequestState,
        out: &mut Vec<u8>,
    ) {
        let place = &self.places()[walk.place as usize];
        if address.first() == Some(&b'/') && place.names_host_in_redirects {
            out.extend_from_slice(request.scheme().as_bytes());
            out.extend_from_slice(b"://");
            match (walk.host.as_slice(), self.names_of(walk.server).first()) {
                (_, Some(name)) if place.names_server_in_redirects => name.write_display_name(out),
                (_, None) if place.names_server_in_redirects => {}
                (b"", _) => out.extend_from_slice(request.local_address),
                (host, _) => out.extend_from_slice(host),
            }
            let usual_port = if request.tls.is_some() { 443 } else { 80 };
            if request.local_port != usual_port && place.names_port_in_redirects {
                out.push(b':');
                out.extend_from_slice(request.local_port.to_string().as_bytes());
            }
        }
    }

    /// Returns the lookup of a request, to go on from where `walk` has ended.
    pub fn lookup<'r>(
        &self,
        request: &'r SiteRequest<'r>,
        walk: &'r mut NginxRequestState,
        scratch: &'r mut RouteScratch,
    ) -> NginxLookup<'r, '_> {
        NginxLookup {
            sites: self,
            request,
            walk,
            scratch: &mut scratch.pattern,
            means: SearchMode::Index,
            trace: None,
        }
    }
}

impl<'s> NginxLookup<'_, 's> {
    /// Writes path and query for the upstream of the place where the lookup ended.
    ///
    /// # Errors
    /// [`BadTarget`].
    pub fn write_target(&mut self, out: &mut Vec<u8>) -> Result<(), BadTarget> {
        out.clear();
        self.append_target(out);
        let is_sound = out.first() == Some(&b'/') && out.iter().all(|byte| (0x21..0x7f).contains(byte));
        if is_sound { Ok(()) } else { Err(BadTarget) }
    }

    /// Writes the host for the upstream.
    pub fn write_host(&mut self, out: &mut Vec<u8>) {
        out.clear();
        let LocationHandler::Proxy(proxy) = &self.place().hand else { return };
        self.append(&proxy.host, out);
    }

    /// Writes the key of hash balancing for an action; nothing if the action has none.
    pub fn write_hash_key(&mut self, action: ActionId, out: &mut Vec<u8>) {
        out.clear();
        let Some(key) = self.sites.hash_key(action) else { return };
        self.append(key, out);
    }

    /// Calls back with the fields of `proxy_set_header` and their values; an empty value means that the field is
    /// removed.
    pub fn for_each_field(&mut self, each: impl FnMut(&str, &[u8])) {
        let LocationHandler::Proxy(proxy) = &self.place().hand else { return };
        self.write_fields(proxy.fields.iter(), each);
    }

    /// Calls back with the fields of `add_header` and their values, for a response with this status; empty ones are
    /// skipped.
    pub fn for_each_added_header(&mut self, status: u16, mut each: impl FnMut(&str, &[u8])) {
        let is_usual = matches!(status, 200 | 201 | 204 | 206 | 301 | 302 | 303 | 304 | 307 | 308);
        let fields = self.place().added_headers.iter().filter(|field| is_usual || field.is_for_all);
        self.write_fields(fields, |name, value| {
            if !value.is_empty() {
                each(name, value);
            }
        });
    }

    /// Finds the upstream that a value names, and stores the URI of the value.
    pub(crate) fn compute_upstream(
        &mut self,
        address: &'s TextTemplate,
        choices: &'s [(Box<str>, ActionId)],
    ) -> NextStep {
        let address = self.text_of(address);
        let Some((scheme, rest)) = UpstreamScheme::split(&address) else { return NextStep::Status(500) };
        let end = memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len());
        let (host, uri) = rest.split_at(end);
        if host.is_empty() {
            return NextStep::Status(500);
        }
        let named = &address[..address.len() - uri.len()];
        let found = choices.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(named));
        let plain = host.strip_suffix(scheme.port().as_bytes()).and_then(|rest| rest.strip_suffix(b":"));
        let plain = plain.unwrap_or(host);
        let port = plain.rsplit(|byte| *byte == b':').next().filter(|port| port.len() < plain.len());
        let port = port.filter(|port| port.iter().all(u8::is_ascii_digit));
        let walk = &mut *self.walk;
        walk.upstream_host.clear();
        walk.upstream_host.extend_from_slice(plain);
        walk.upstream_port.clear();
        walk.upstream_port.extend_from_slice(port.unwrap_or_else(|| scheme.port().as_bytes()));
        walk.upstream_uri.clear();
        if uri.first() == Some(&b'?') {
            walk.upstream_uri.push(b'/');
        }
        walk.upstream_uri.extend_from_slice(uri);
        let action = found.map(|(_, action)| *action);
        self.recycle_buffer(address);
        match action {
            Some(action) => NextStep::End(NginxOutcome::Proxy { action }),
            None => NextStep::Status(502),
        }
    }

    fn append_target(&mut self, out: &mut Vec<u8>) {
        let LocationHandler::Proxy(proxy) = &self.place().hand else { return };
        let walk = &*self.walk;
        if matches!(proxy.upstream, ProxyPassTarget::Computed { .. }) && !walk.upstream_uri.is_empty() {
            out.extend_from_slice(&walk.upstream_uri);
            return;
        }
        let start = match &proxy.uri {
            None if walk.is_as_sent => {
                out.extend_from_slice(self.request.target);
                return;
            }
            // Once `break` has kept a rewritten path, no part of it corresponds to the location's text.
            Some(uri) if walk.is_location_matched => {
                out.extend_from_slice(uri.as_bytes());
                proxy.location_len
            }
            None | Some(_) => 0,
        };
        let path = walk.path.get(start..).unwrap_or_default();
        if walk.spelling.is_quoted || walk.is_internal {
            Escape::Path.write(path, out);
        } else {
            out.extend_from_slice(path);
        }
        if !walk.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&walk.query);
        }
    }

    /// Appends a text with the values of its variables.
    pub(crate) fn append(&mut self, text: &'s TextTemplate, out: &mut Vec<u8>) {
        let text = self.text_of(text);
        out.extend_from_slice(&text);
        self.recycle_buffer(text);
    }

    fn write_fields(
        &mut self,
        fields: impl Iterator<Item = &'s FieldText>,
        mut each: impl FnMut(&str, &[u8]),
    ) {
        for field in fields {
            let value = self.text_of(&field.value);
            each(&field.name, &value);
            self.recycle_buffer(value);
        }
    }
}
