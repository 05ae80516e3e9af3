//! Declaration of the calls that the bridge benchmark measures, with each kind of argument that has a row.

use eddy_bridge::Record;

/// A struct of ten fields, five of them strings.
#[derive(Clone, Copy, Debug, Record)]
pub struct Order<'a> {
    /// A number.
    pub id: i64,
    /// A number.
    pub number: i64,
    /// A number.
    pub total: i64,
    /// A number.
    pub time: i64,
    /// One of two.
    pub is_new: bool,
    /// A string.
    pub name: &'a str,
    /// A string.
    pub kind: &'a str,
    /// A string.
    pub place: &'a str,
    /// A string.
    pub note: &'a str,
    /// A string.
    pub sign: &'a str,
}

/// Go heap allocations since program start.
#[derive(Clone, Copy, Debug, Record)]
pub struct Allocated {
    /// Number of allocations.
    pub count: u64,
    /// Allocated bytes.
    pub bytes: u64,
}

/// Functions implemented in Go. Each reads its whole argument and returns the number of bytes read.
#[eddy_bridge::go]
pub trait Reader {
    /// No argument.
    fn empty(&self);
    /// A string.
    fn text(&self, text: &str) -> u64;
    /// A struct of ten fields.
    fn order(&self, order: &Order<'_>) -> u64;
    /// Several strings.
    fn batch(&self, texts: &[&str]) -> u64;
    /// Bytes.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// No argument.
    async fn empty_later(&self);
    /// A string.
    async fn text_later(&self, text: &str) -> u64;
    /// A struct of ten fields.
    async fn order_later(&self, order: &Order<'_>) -> u64;
    /// Several strings.
    async fn batch_later(&self, texts: &[&str]) -> u64;
    /// Bytes.
    async fn bytes_later(&self, bytes: &[u8]) -> u64;
    /// Returns Go's allocations so far.
    fn allocated(&self) -> Allocated;
}

/// Functions implemented in Rust. Each reads its whole argument and returns the number of bytes read.
#[eddy_bridge::rust]
pub trait Native {
    /// No argument, through the assembly entry.
    #[short]
    fn empty_short(&self);
    /// A string, through the assembly entry.
    #[short]
    fn text_short(&self, text: &str) -> u64;
    /// A struct of ten fields, through the assembly entry.
    #[short]
    fn order_short(&self, order: &Order<'_>) -> u64;
    /// Several strings, through the assembly entry.
    #[short]
    fn batch_short(&self, texts: &[&str]) -> u64;
    /// Bytes, through the assembly entry.
    #[short]
    fn bytes_short(&self, bytes: &[u8]) -> u64;
    /// No argument.
    fn empty(&self);
    /// A string.
    fn text(&self, text: &str) -> u64;
    /// A struct of ten fields.
    fn order(&self, order: &Order<'_>) -> u64;
    /// Several strings.
    fn batch(&self, texts: &[&str]) -> u64;
    /// Bytes.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// No argument.
    async fn empty_later(&self);
    /// A string.
    async fn text_later(&self, text: &str) -> u64;
    /// A struct of ten fields.
    async fn order_later(&self, order: &Order<'_>) -> u64;
    /// Several strings.
    async fn batch_later(&self, texts: &[&str]) -> u64;
    /// Bytes.
    async fn bytes_later(&self, bytes: &[u8]) -> u64;
}
