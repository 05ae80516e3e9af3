//! Drives corpus cases through a gateway, in every way to cut them, and judges what comes out at both ends.

mod exceptions;
mod finding;
mod plan;
mod request;
mod request_judge;
mod response;

pub use exceptions::Exceptions;
pub use finding::{Findings, Report};
pub use plan::{Cuts, Plan};
pub use request::{Attempt, Ending, Outcome, RequestDriver};
pub use request_judge::judge_requests;
pub use response::{LANES, Lane, ResponseDriver, lanes_config};
