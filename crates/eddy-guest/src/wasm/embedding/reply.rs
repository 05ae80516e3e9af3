//! Local replies of modules.

use eddy_filter::{FilterEdit, Verdict};
use eddy_http::{EditFault, FieldsEditor};
use proxy_wasm_host::abi::{HostResult, Status};
use proxy_wasm_host::{CallerScope, LocalResponse};

use super::{Embedding, PausedMessage};
use crate::message_view::MessageView;

impl Embedding {
    /// Replies to the exchange of a stream: the one whose callback is in progress, or a paused one.
    pub(super) fn reply(&mut self, scope: CallerScope, response: &LocalResponse<'_>) -> HostResult {
        let stream = scope.context.ok_or(Status::BadArgument)?;
        if self.stream == Some(stream) {
            write(&mut self.message_view, response)?;
            self.requested_actions.is_replied = true;
            return Ok(());
        }
        let is_meant = |waiting: &&mut PausedMessage| waiting.stream == stream && waiting.decision.is_none();
        let waiting = self.waiting.iter_mut().find(is_meant).ok_or(Status::BadArgument)?;
        write(&mut waiting.message_view, response)?;
        waiting.decision = Some(Verdict::Reply);
        Ok(())
    }
}

fn write(message_view: &mut MessageView, response: &LocalResponse<'_>) -> HostResult {
    if !(200..600).contains(&response.status) {
        return Err(Status::BadArgument);
    }
    let (mut bytes, mut fields) = (Vec::new(), Vec::new());
    for (name, value) in response.headers.clone().filter(|(name, _)| !name.starts_with(b":")) {
        match FieldsEditor::new(&mut bytes, &mut fields).add(name, value) {
            Ok(()) | Err(EditFault::Reserved { .. }) => {}
            Err(_) => return Err(Status::BadArgument),
        }
    }
    let details = if response.details.is_empty() { b"wasm" } else { response.details };
    message_view.push(&FilterEdit::Reply { status: response.status, body: response.body, details })?;
    // Headers that eddy writes itself have been left out.
    for field in eddy_http::Fields::new(&bytes, &fields).iter() {
        message_view.push(&FilterEdit::ReplyField { name: field.name, value: field.value })?;
    }
    match response.grpc_status {
        Some(status) => message_view.push(&FilterEdit::ReplyGrpc(status)),
        None => Ok(()),
    }
}
