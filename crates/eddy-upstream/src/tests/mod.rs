//! Unit tests, one file per subject.

mod balance;
mod budget;
mod client;
mod cluster;
mod eject;
mod endpoint;
mod levels;
mod maglev;
mod name;
mod pool;
mod resolve;
mod stub;
