//! Table tests for heads: accepted heads with their parsed form, and rejected heads with the reason.

mod request;
mod response;
mod scanner;
