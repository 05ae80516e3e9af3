//! Changes to pseudo-headers.

use eddy_filter::FilterEdit;
use eddy_http::RequestHead;
use proxy_wasm_host::abi::{HostResult, Status};

use super::MessageView;
use super::start::{Pseudo, replace};

impl MessageView {
    /// Changes a pseudo-header.
    ///
    /// # Errors
    /// [`Status::BadArgument`] if the value is invalid.
    pub(super) fn set_start(&mut self, pseudo: Pseudo, value: &[u8]) -> HostResult {
        let view = self.view().ok_or(Status::BadArgument)?;
        if *self.start.value(&view, pseudo) == *value {
            return Ok(());
        }
        let mut probe = RequestHead::new();
        probe.method = view.request.method;
        let status = self.start.status(&view);
        let mut bytes = Vec::new();
        match pseudo {
            Pseudo::Method => {
                probe.set_method(&mut bytes, value).map_err(|_| Status::BadArgument)?;
                self.push(&FilterEdit::Method(value))?;
                replace(&mut self.start.method, value);
            }
            Pseudo::Path => {
                probe.set_target(&mut bytes, value).map_err(|_| Status::BadArgument)?;
                self.push(&FilterEdit::Target(value))?;
                replace(&mut self.start.target, value);
            }
            Pseudo::Authority => {
                probe.set_authority(&mut bytes, value).map_err(|_| Status::BadArgument)?;
                self.push(&FilterEdit::Authority(value))?;
                replace(&mut self.start.authority, value);
            }
            // The cluster determines the scheme used to the endpoint.
            Pseudo::Scheme => {}
            Pseudo::Status => {
                let text = std::str::from_utf8(value).map_err(|_| Status::BadArgument)?;
                let wanted: u16 = text.parse().map_err(|_| Status::BadArgument)?;
                let has_body = |status: u16| !matches!(status, 204 | 205 | 304);
                if !(200..600).contains(&wanted) || has_body(wanted) != has_body(status) {
                    return Err(Status::BadArgument);
                }
                self.push(&FilterEdit::Status(wanted.into()))?;
                self.start.status = wanted;
            }
        }
        Ok(())
    }

    /// Returns the response status with its changes; 0 if there is no response.
    pub(crate) fn status(&self) -> u16 {
        self.view().map_or(0, |view| self.start.status(&view))
    }
}
