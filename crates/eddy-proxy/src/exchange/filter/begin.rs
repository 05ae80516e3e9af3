//! Choice of the filter chain of a rule.

use eddy_filter::{Direction, IncomingBody, Travel};
use eddy_io::unix_micros;

use crate::exchange::context::ExchangeCx;
use crate::fault::Fault;

/// Selects the chain of the rule and prepares its filters.
///
/// # Errors
/// [`Fault::Overload`] when the worker has no handle left.
pub(crate) fn begin(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let own = ctx.route.rule.as_ref().map(|rule| &rule.chain);
    ctx.route.chain.clone_from(own.unwrap_or(&ctx.listener.chain));
    let Some(chain) = &ctx.route.chain else { return Ok(()) };
    if ctx.exchange.filtering.handle.is_some() {
        return Ok(());
    }
    let crossing = &ctx.worker.crossing;
    let handle = crossing.slots.borrow_mut().open(crossing.host.table(), ctx.worker.index);
    ctx.exchange.filtering.handle = Some(handle.ok_or(Fault::Overload)?);
    ctx.exchange.filtering.is_begun = true;
    ctx.exchange.filtering.started_unix_us = unix_micros();
    let body =
        if ctx.exchange.upload.reader.is_done() { IncomingBody::Absent } else { IncomingBody::Streamed };
    ctx.exchange.filtering.run.request.begin(Travel::new(Direction::Request, &chain.chain), body);
    ctx.down.client.name(crossing);
    Ok(())
}
