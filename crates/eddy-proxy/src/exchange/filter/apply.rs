//! Applies the edits that filters request along with their verdicts.

use eddy_filter::{
    EditLog, EditRefused, EditableSection, FilterEdit, FilterLimit, MessageRun, Phase, Verdict,
    apply_to_fields,
};
use eddy_http::{FieldId, FieldsEditor, ResponseBody, check_field};

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::state::{EndpointOverride, FilterReply};
use crate::exchange::filter::step::{chain_of, fail, step_of};
use crate::exchange::state::Exchange;
use crate::exchange::target;
use crate::fault::Fault;
use crate::resolved::WorkerChain;
use crate::stats::FailureKind;

/// Result of applying a crossing's edits.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// First filter that requested an impossible edit; its later edits were not applied.
    pub(crate) refused: Option<Failed>,
    /// Filter that reported a failure, none of whose edits was applied, or that replied without giving a reply.
    pub(crate) faulty: Option<Failed>,
    /// Whether the request is to be matched to a rule again.
    pub(crate) is_rerouted: bool,
}

/// A filter that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Index of its step in the chain.
    pub(crate) place: u8,
    pub(crate) kind: FailureKind,
    pub(crate) why: String,
}

impl Failed {
    /// Counts the failure. Returns the fault that ends the exchange, or `None` when the filter is skipped.
    pub(crate) fn end(self, ctx: &mut ExchangeCx<'_>, chain: &WorkerChain) -> Option<Fault> {
        fail(ctx, chain, self.place, self.kind, &self.why)
    }
}

/// Mapping from edits to steps of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EditSteps<'a> {
    /// By step of the crossing.
    Each(&'a [u8]),
    /// All edits belong to this step, which had paused.
    One(u8),
}

impl EditSteps<'_> {
    fn of(self, step: u16) -> Option<u8> {
        match self {
            Self::Each(places) => places.get(usize::from(step)).copied(),
            Self::One(place) => Some(place),
        }
    }

    fn last(self) -> u8 {
        match self {
            Self::Each(places) => *places.last().expect("a crossing enters at least one filter"),
            Self::One(place) => place,
        }
    }
}

/// Reason why an edit was not applied.
type EditProblem = String;

/// Applies the edits of a crossing. `stop` is the verdict that stopped the crossing and the step that gave it.
pub(crate) fn apply(
    ctx: &mut ExchangeCx<'_>,
    phase: Phase,
    edits: &EditLog,
    places: EditSteps<'_>,
    stop: Option<(Verdict, u8)>,
) -> Applied {
    let mut applied = Applied::default();
    if edits.is_empty() && stop.is_none() {
        return applied;
    }
    let faulty = stop.filter(|(verdict, _)| *verdict == Verdict::Fault).map(|(_, place)| place);
    let (mut kind, mut why) = (FailureKind::Fault, None);
    for record in edits.records() {
        let (place, done) = match record {
            Ok(record) => match places.of(record.step) {
                // A filter that fails loses its earlier edits, too.
                Some(place) if faulty == Some(place) => {
                    if let Some(reported) = reported_failure(&record.edit) {
                        (kind, why) = reported;
                    }
                    continue;
                }
                Some(place) if applied.refused.as_ref().is_some_and(|refused| refused.place == place) => {
                    continue;
                }
                Some(place) => (place, change(ctx, phase, place, &record.edit, &mut applied.is_rerouted)),
                None => (places.last(), Err("an edit refers to a filter that was not called".to_owned())),
            },
            Err(error) => (places.last(), Err(error.to_string())),
        };
        if let (Err(why), None) = (done, &applied.refused) {
            applied.refused = Some(Failed { place, kind: FailureKind::Edit, why });
        }
    }
    if let Some(place) = faulty {
        let why = why.unwrap_or_else(|| "no reason given".to_owned());
        applied.faulty = Some(Failed { place, kind, why });
    }
    if let Some((Verdict::Reply, place)) = stop
        && !ctx.exchange.filtering.reply.has_reply()
    {
        let why = "it replied without giving a reply".to_owned();
        applied.faulty = Some(Failed { place, kind: FailureKind::Fault, why });
    }
    applied
}

/// Returns the kind and reason of a failure that a filter reports, if the edit is such a report.
fn reported_failure(edit: &FilterEdit<'_>) -> Option<(FailureKind, Option<String>)> {
    let (kind, why) = if let FilterEdit::LimitFault { limit, why } = *edit {
        let kind = match limit {
            FilterLimit::Memory => FailureKind::Memory,
            FilterLimit::Cpu => FailureKind::Cpu,
        };
        (kind, why)
    } else {
        let FilterEdit::Fault(why) = *edit else { return None };
        (FailureKind::Fault, why)
    };
    Some((kind, Some(String::from_utf8_lossy(why).into_owned())))
}

fn change(
    ctx: &mut ExchangeCx<'_>,
    phase: Phase,
    place: u8,
    edit: &FilterEdit<'_>,
    is_rerouted: &mut bool,
) -> Result<(), EditProblem> {
    if phase == Phase::Log && !matches!(edit, FilterEdit::Metadata { .. }) {
        return Ok(());
    }
    if let (FilterEdit::BodySet(body), Phase::RequestHead | Phase::ResponseHead) = (edit, phase)
        && supplies_bodies(ctx, place)
    {
        return set_absent_body(ctx.exchange, phase, place, body);
    }
    if matches!(edit, FilterEdit::Reply { .. }) {
        ctx.exchange.filtering.reply.place = place;
    }
    apply_one_edit(ctx.exchange, phase, place, edit, is_rerouted)?;
    ctx.exchange.filtering.run.changed(place);
    Ok(())
}

/// Whether the filter may give a message without a body one.
fn supplies_bodies(ctx: &ExchangeCx<'_>, place: u8) -> bool {
    step_of(&chain_of(ctx), place).filter.library.supplies_bodies()
}

/// Sets the body of a message that has none. The steps behind see it as a whole body.
fn set_absent_body(exchange: &mut Exchange, phase: Phase, place: u8, body: &[u8]) -> Result<(), EditProblem> {
    let can_have_body = phase == Phase::RequestHead || exchange.response.body != ResponseBody::None;
    let run = &mut exchange.filtering.run;
    if !can_have_body || !run.message_mut(phase.direction()).supply_body(place, body) {
        return Err(
            "a body can be set with the head only if the message has none and may have one".to_owned()
        );
    }
    run.changed(place);
    Ok(())
}

fn apply_one_edit(
    exchange: &mut Exchange,
    phase: Phase,
    place: u8,
    edit: &FilterEdit<'_>,
    is_rerouted: &mut bool,
) -> Result<(), EditProblem> {
    let is_of_trailers = matches!(phase, Phase::RequestTrailers | Phase::ResponseTrailers);
    match *edit {
        // The response head carries `connection: close`, whichever head the filter set it in.
        FilterEdit::Set { .. } | FilterEdit::Add { .. }
            if edit.ends_connection()
                && !is_of_trailers
                && exchange.filtering.run.response.is_head_open() =>
        {
            exchange.head.keep_alive = false;
            Ok(())
        }
        FilterEdit::Set { .. }
        | FilterEdit::Add { .. }
        | FilterEdit::Remove { .. }
        | FilterEdit::Status(_) => fields(exchange, phase, edit),
        FilterEdit::Method(_) | FilterEdit::Authority(_) => fields(exchange, phase, edit),
        FilterEdit::Target(_) => {
            fields(exchange, phase, edit)?;
            retarget(exchange)
        }
        FilterEdit::BodySet(_)
        | FilterEdit::BodyAppend(_)
        | FilterEdit::BodyPrepend(_)
        | FilterEdit::BodyDrain(_) => {
            let is_body = matches!(phase, Phase::RequestBody | Phase::ResponseBody);
            if !is_body {
                return Err("a body can be changed only in a body hook".to_owned());
            }
            let message = exchange.filtering.run.message_mut(phase.direction());
            message.edit_body(place, edit).map_err(|refused| refused.to_string())
        }
        FilterEdit::Reply { status, body, details } => {
            let status = u16::try_from(status).ok().filter(|status| (200..600).contains(status));
            let status = status.ok_or("the status of a reply must be 200 to 599")?;
            let reply = &mut exchange.filtering.reply;
            reply.status = status;
            reply.body.clear();
            reply.body.extend_from_slice(body);
            reply.details.clear();
            reply.details.extend_from_slice(details.get(..DETAILS_BYTES_MAX).unwrap_or(details));
            Ok(())
        }
        FilterEdit::ReplyField { name, value } => reply_field(&mut exchange.filtering.reply, name, value),
        FilterEdit::ReplyGrpc(status) => {
            exchange.filtering.reply.grpc_status = Some(status);
            Ok(())
        }
        FilterEdit::Trailer { change, name, value } => {
            let is_body = matches!(phase, Phase::RequestBody | Phase::ResponseBody);
            let message = exchange.filtering.run.message_mut(phase.direction());
            let done = if is_body {
                message.edit_trailers(place, change, name, value)
            } else {
                Err(EditRefused::Phase)
            };
            done.map_err(|refused| match refused {
                EditRefused::Phase => {
                    "trailers can be added only with the end of a body without trailers".to_owned()
                }
                EditRefused::Value(fault) => fault.to_string(),
            })
        }
        FilterEdit::Metadata { space, key, value } => {
            exchange.filtering.metadata.set(space, key, value).map_err(|full| full.to_string())
        }
        FilterEdit::ClearRoute
            if phase == Phase::RequestHead || exchange.filtering.run.request.is_head_open() =>
        {
            *is_rerouted = true;
            Ok(())
        }
        FilterEdit::ClearRoute => {
            Err("the route can be selected again only before the request is sent".to_owned())
        }
        FilterEdit::Endpoint { address, is_strict } => {
            let address = address.get(..ADDRESS_BYTES_MAX).unwrap_or(address).to_vec();
            exchange.filtering.endpoint = Some(EndpointOverride { address, is_strict });
            Ok(())
        }
        FilterEdit::Fault(_) | FilterEdit::LimitFault { .. } => Ok(()),
    }
}

fn fields(exchange: &mut Exchange, phase: Phase, edit: &FilterEdit<'_>) -> Result<(), EditProblem> {
    let filtering = &mut exchange.filtering;
    let mut head = match phase {
        Phase::RequestTrailers => trailers(&mut filtering.run.request),
        Phase::ResponseTrailers => trailers(&mut filtering.run.response),
        Phase::RequestHead | Phase::RequestBody if filtering.run.request.is_head_open() => {
            EditableSection::Request(&mut exchange.head, &mut exchange.head_bytes)
        }
        Phase::ResponseHead | Phase::ResponseBody if filtering.run.response.is_head_open() => {
            EditableSection::Response(&mut exchange.response, &mut filtering.response_head)
        }
        Phase::RequestHead
        | Phase::RequestBody
        | Phase::ResponseHead
        | Phase::ResponseBody
        | Phase::Log
        | Phase::End => return Err("the head is already sent and can no longer be changed".to_owned()),
    };
    apply_to_fields(edit, &mut head).map_err(|refused| refused.to_string())?;
    if let FilterEdit::Remove { name } = edit
        && FieldId::from_name(name) == FieldId::ContentLength
    {
        filtering.run.message_mut(phase.direction()).open_length();
    }
    Ok(())
}

fn trailers(message: &mut MessageRun) -> EditableSection<'_> {
    let (bytes, fields) = message.trailers_mut();
    EditableSection::Trailers(FieldsEditor::new(bytes, fields))
}

/// Derives the target to match and send from the one that a filter set, with the normaliser that clients' targets pass.
fn retarget(exchange: &mut Exchange) -> Result<(), EditProblem> {
    target::derive_target(exchange)
        .map_err(|fault| format!("the path set by the filter is invalid: {}", fault.reason()))?;
    exchange.filtering.is_target_own = true;
    Ok(())
}

fn reply_field(reply: &mut FilterReply, name: &[u8], value: &[u8]) -> Result<(), EditProblem> {
    check_field(name, value).map_err(|fault| format!("a header of its reply is invalid: {fault}"))?;
    if reply.fields.len() >= REPLY_FIELDS_MAX
        || reply.fields.text_bytes() + name.len() + value.len() > REPLY_FIELDS_BYTES_MAX
    {
        return Err("the headers of the reply are too many or too large".to_owned());
    }
    reply.fields.add(name, value);
    Ok(())
}

const DETAILS_BYTES_MAX: usize = 256;
const ADDRESS_BYTES_MAX: usize = 256;
const REPLY_FIELDS_MAX: usize = 256;
const REPLY_FIELDS_BYTES_MAX: usize = 256 * 1024;
