//! Tests of head writers: received and sent heads as text.

mod request;
mod response;
