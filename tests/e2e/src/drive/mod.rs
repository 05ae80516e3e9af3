//! Drives corpus cases through a gateway, in every way to cut them, and judges what comes out at both ends.

mod exceptions;
mod finding;
mod plan;
mod request;
mod request_judge;
mod response;

pub use exceptions::Exceptions;
pub use finding::{DriveReport, Findings};
pub use plan::{Cuts, RequestCasePlan};
pub use request::{Attempt, AttemptEnd, AttemptOutcome, RequestDriver};
pub use request_judge::judge_requests;
pub use response::{LANES, OriginLane, ResponseDriver, lanes_config};
