//! Drives corpus cases through a gateway, with every way to cut them, and judges the results at client and origin.

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
