//! `proxy_redirect`: rewriting of redirect addresses from upstreams.

use super::run::NginxLookup;
use super::sites::Sites;
use super::spec::{LocationHandler, RedirectForm, RedirectRule};
use super::state::NginxRequestState;

impl Sites {
    /// Whether `error_page` of the place of the request replaces an upstream response with this status.
    pub fn intercepts(&self, status: u16, walk: &NginxRequestState) -> bool {
        let place = &self.places()[walk.place as usize];
        let LocationHandler::Proxy(proxy) = &place.hand else { return false };
        proxy.intercepts_errors && place.error_pages.iter().any(|page| page.statuses.contains(&status))
    }

    /// Writes the `Content-Type` of an upstream response with the charset of the place; returns `false` if it is
    /// unchanged.
    pub fn write_content_type(
        &self,
        content_type: &[u8],
        status: u16,
        walk: &NginxRequestState,
        out: &mut Vec<u8>,
    ) -> bool {
        let place = &self.places()[walk.place as usize];
        let Some(charset) = &place.charset else { return false };
        let kind = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let is_text = place.charset_types.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(kind));
        let lower = content_type.to_ascii_lowercase();
        if !is_text || matches!(status, 301 | 302) || memchr::memmem::find(&lower, b"charset=").is_some() {
            return false;
        }
        out.clear();
        out.extend_from_slice(content_type);
        out.extend_from_slice(b"; charset=");
        out.extend_from_slice(charset.as_bytes());
        true
    }
}

impl NginxLookup<'_, '_> {
    /// Writes the replacement of an upstream's `Location`; returns `false` if it is unchanged.
    pub fn write_redirect(&mut self, location: &[u8], out: &mut Vec<u8>) -> bool {
        let mut own = Vec::new();
        if !self.rewrite_address(location, &mut own) {
            return false;
        }
        out.clear();
        self.sites.write_origin(&own, self.request, self.walk, out);
        out.extend_from_slice(&own);
        true
    }

    /// Writes the replacement of an upstream's `Refresh`, such as `5; url=http://a.example/`; returns `false` if it is
    /// unchanged.
    pub fn write_refresh(&mut self, refresh: &[u8], out: &mut Vec<u8>) -> bool {
        let lower = refresh.to_ascii_lowercase();
        let Some(at) = memchr::memmem::find(&lower, b"url=") else { return false };
        let Some((before, address)) = refresh.split_at_checked(at + 4) else { return false };
        let mut own = Vec::new();
        if !self.rewrite_address(address, &mut own) {
            return false;
        }
        out.clear();
        out.extend_from_slice(before);
        out.extend_from_slice(&own);
        true
    }

    fn rewrite_address(&mut self, address: &[u8], out: &mut Vec<u8>) -> bool {
        let place = self.place();
        let LocationHandler::Proxy(proxy) = &place.hand else { return false };
        for RedirectRule { form, replacement } in &proxy.redirects {
            let kept = match form {
                RedirectForm::Text(text) => {
                    let text = self.text_of(text);
                    let rest = address.strip_prefix(text.as_slice());
                    self.recycle_buffer(text);
                    match rest {
                        Some(rest) => rest,
                        None => continue,
                    }
                }
                // An expression replaces the whole address.
                RedirectForm::Pattern(pattern) if self.match_value(pattern, address) => b"",
                RedirectForm::Pattern(_) => continue,
            };
            self.append(replacement, out);
            out.extend_from_slice(kept);
            return true;
        }
        false
    }
}
