//! A second attempt before the first has answered, where a rule asks for that.
//!
//! The attempt at hand is the exchange's own, as without a race: [`state::Hedge`] has those beside it. Whose link comes last is
//! at hand until another says something; who says something is. What the others are dropped for is
//! [`crate::exchange::transfer`]'s to say.

mod begin;
mod obtain;
mod state;

pub(super) use begin::{arm, begin_due};
pub(super) use obtain::{AttemptLinkOutcome, obtain, poll_coming};
pub(super) use state::AttemptTrigger;
pub(crate) use state::Hedge;
