//! Access log entry of an exchange.

use eddy_http::{FieldId, Fields, Version};

use crate::access::{AccessMetadata, AccessRecord, detail_word};
use crate::exchange::context::ExchangeCx;
use crate::exchange::grpc;

/// Creates the entry of an exchange that has ended.
pub(crate) fn record<'a>(ctx: &'a ExchangeCx<'_>, duration_us: u64) -> AccessRecord<'a> {
    let exchange = &*ctx.exchange;
    let bytes = exchange.head_bytes.as_slice();
    let head = &exchange.head;
    // The spans of a refused head cover whatever preceded the fault and must not be read.
    let is_whole = exchange.is_head_whole;
    let fields = if is_whole { head.fields(bytes) } else { Fields::default() };
    let part = |span: eddy_http::Span| if is_whole { span.of(bytes) } else { &[] };
    let listener = &*ctx.listener;
    AccessRecord {
        client: &ctx.down.client.peer_text,
        peer: ctx.down.client.peer,
        local: &listener.config.address,
        secure: ctx.down.client.secure(),
        method: part(head.method_span),
        host: part(head.authority),
        target: part(head.target),
        version: is_whole.then_some(head.version),
        status: exchange.status,
        grpc_status: grpc::end(exchange).map(eddy_http::GrpcEnd::label),
        bytes_in: exchange.upload.data_bytes,
        bytes_out: exchange.answer.written_bytes,
        duration_us,
        listener: &listener.config.name,
        rule: ctx.route.rule_name().unwrap_or("-"),
        step: ctx
            .plan
            .plan
            .access
            .as_ref()
            .and_then(|access| access.has_step.then_some(exchange.step.unwrap_or("-"))),
        cluster: ctx.route.cluster_name().unwrap_or("-"),
        endpoint: exchange.endpoint.as_deref(),
        endpoint_version: exchange.endpoint_version.map_or("-", Version::name),
        attempts: exchange.attempts,
        reason: match exchange.fault {
            Some(fault) => fault.reason(),
            None => detail_word(&exchange.filtering.details),
        },
        fault: exchange.fault,
        request_id: &exchange.request_id,
        referer: fields.first(FieldId::Referer).unwrap_or_default(),
        user_agent: fields.first(FieldId::UserAgent).unwrap_or_default(),
        config: &ctx.plan.plan.config.version,
        noted: ctx.plan.plan.access.as_ref().filter(|access| !access.metadata.is_empty()).map(|access| {
            AccessMetadata { recorded: &access.metadata, metadata: &exchange.filtering.metadata }
        }),
    }
}
