//! Filters used by the end-to-end tests.
#![forbid(unsafe_code)]

mod illegal;
mod pool;
mod random;

use illegal::Illegal;
use random::RandomFilter;

eddy_sdk::filters! { "illegal" => Illegal, "random" => RandomFilter }
