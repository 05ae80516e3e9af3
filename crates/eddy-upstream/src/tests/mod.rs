//! Unit tests, a file a subject.

mod balance;
