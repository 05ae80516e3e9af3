//! What comes in and what goes out, as text.

mod request;
mod response;
