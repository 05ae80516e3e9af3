//! End of an exchange: counters, access log, and what happens to the connection.

use std::time::Duration;

use eddy_filter::EndReason;
use eddy_http::{FieldId, Fields, Version};

use crate::access::{AccessMetadata, AccessRecord, detail_word};
use crate::exchange::context::ExchangeCx;
use crate::exchange::{filter, grpc};
use crate::fault::Fault;

/// Fate of the client's connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionDisposition {
    /// Another request may follow.
    KeepAlive,
    /// Neither side sends anything more.
    Close,
    /// eddy sends nothing more, but the client may still be sending.
    Linger,
    /// The response is incomplete, and the client must not mistake it for a complete one.
    Abort,
}

/// Counts and logs the exchange; returns what happens to the client's connection.
pub(crate) fn finish(ctx: &mut ExchangeCx<'_>) -> ConnectionDisposition {
    let elapsed = ctx.exchange.started.map_or(Duration::ZERO, |started| started.elapsed());
    let duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    filter::log(ctx, duration_us);
    let exchange = &*ctx.exchange;
    let status = exchange.status;
    let series = &ctx.listener.series;
    series.count(status, exchange.fault);
    if let Some(end) = grpc::end(exchange) {
        series.grpc_calls.count(end);
    }
    grpc::cancel_at_deadline(ctx);
    if !exchange.upgrade.is_done() {
        series.duration.observe(duration_us);
    }
    series.bytes_in.add(exchange.upload.data_bytes);
    series.bytes_out.add(exchange.answer.written_bytes);
    if let (true, Some(access)) = (ctx.listener.config.has_access_log, &ctx.plan.plan.access) {
        let record = record(ctx, duration_us);
        let worker = ctx.worker;
        if access.has_lines() {
            worker.access.borrow_mut().write(&record, access, &worker.series);
        }
        if let Some(service) = &access.service {
            worker.records.add(&record, service, worker.timers.now(), &worker.series);
        }
    }
    ctx.exchange.retry_permit = None;
    let next = next(ctx);
    let is_complete = matches!(
        next,
        ConnectionDisposition::KeepAlive | ConnectionDisposition::Close | ConnectionDisposition::Linger
    );
    filter::finish(ctx, if is_complete { EndReason::Complete } else { EndReason::Cut });
    next
}

fn next(ctx: &ExchangeCx<'_>) -> ConnectionDisposition {
    let exchange = &*ctx.exchange;
    match exchange.fault {
        Some(Fault::ClientGone) => ConnectionDisposition::Abort,
        _ if !exchange.is_answered || exchange.answer.has_output() => ConnectionDisposition::Abort,
        // A fault after the response had begun, unless the fault is the response itself.
        Some(_) if exchange.is_cut() => ConnectionDisposition::Abort,
        _ if exchange.keeps_alive => ConnectionDisposition::KeepAlive,
        // A client that sent `connection: close` has nothing more to send, unless it asked for a tunnel.
        _ if !exchange.head.keep_alive
            && exchange.fault.is_none()
            && exchange.upload.reader.is_done()
            && (exchange.upgrade.is_done() || !exchange.head.wants_tunnel()) =>
        {
            ConnectionDisposition::Close
        }
        _ => ConnectionDisposition::Linger,
    }
}

/// Creates the entry of an exchange that has ended.
fn record<'a>(ctx: &'a ExchangeCx<'_>, duration_us: u64) -> AccessRecord<'a> {
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
            .and_then(|access| access.config.has_step.then_some(exchange.step.unwrap_or("-"))),
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
        noted: ctx.plan.plan.access.as_ref().filter(|access| !access.config.metadata.is_empty()).map(
            |access| AccessMetadata {
                recorded: &access.config.metadata,
                metadata: &exchange.filtering.metadata,
            },
        ),
    }
}
