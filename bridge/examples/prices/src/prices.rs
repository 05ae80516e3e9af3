//! Declaration of the functions that the Rust program calls in the Go library.

/// An article and the ordered quantity, read from Rust's memory.
#[derive(Debug, eddy_bridge::Record)]
pub(crate) struct Order<'a> {
    /// Name of the article.
    pub(crate) article: &'a str,
    /// Ordered quantity.
    pub(crate) count: u32,
}

/// Price of an order.
#[derive(Debug, eddy_bridge::Record)]
pub(crate) struct Price {
    /// Amount in cents.
    pub(crate) cents: u64,
    /// Amount as text for people.
    pub(crate) text: String,
}

/// A price list implemented in a Go library.
#[eddy_bridge::go]
pub(crate) trait Prices {
    /// Returns the price of an order, or why there is none.
    fn price(&self, order: &Order<'_>) -> Result<Price, String>;

    /// Returns the price in cents from a supplier that answers later.
    async fn ask(&self, article: &str) -> Result<u64, String>;
}
