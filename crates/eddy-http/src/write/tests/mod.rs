//! Tests of head writers: received and sent heads as text.

mod edited;
mod request;
mod response;
