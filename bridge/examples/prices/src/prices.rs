//! What the program of Rust asks of the library of Go.

/// An article and how many of it are wanted, read where Rust has them.
#[derive(Debug, eddy_bridge::Record)]
pub(crate) struct Order<'a> {
    /// What is wanted.
    pub(crate) article: &'a str,
    /// How many.
    pub(crate) count: u32,
}

/// What an order costs.
#[derive(Debug, eddy_bridge::Record)]
pub(crate) struct Price {
    /// In cents.
    pub(crate) cents: u64,
    /// In words, for people.
    pub(crate) text: String,
}

/// A list of prices, which a library of Go has.
#[eddy_bridge::go]
pub(crate) trait Prices {
    /// The price of an order, or why there is none.
    fn price(&self, order: &Order<'_>) -> Result<Price, String>;

    /// As `price`, from a supplier who takes his time.
    async fn ask(&self, article: &str) -> Result<u64, String>;
}
