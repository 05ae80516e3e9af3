//! Filters that the tests of the program run.
#![forbid(unsafe_code)]

mod illegal;
mod pool;
mod random;

use illegal::Illegal;
use random::RandomFilter;

eddy_sdk::filters! { "illegal" => Illegal, "random" => RandomFilter }
