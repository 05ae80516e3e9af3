//! Heads as tables: what is accepted and how it reads, what is refused and why.

mod request;
mod response;
mod scanner;
