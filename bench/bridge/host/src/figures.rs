//! What is called over the bridge, with every kind of argument that has a row.

use eddy_bridge::Record;

/// A struct of ten fields, five of them texts.
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
    /// A text.
    pub name: &'a str,
    /// A text.
    pub kind: &'a str,
    /// A text.
    pub place: &'a str,
    /// A text.
    pub note: &'a str,
    /// A text.
    pub sign: &'a str,
}

/// What Go has allocated since it started.
#[derive(Clone, Copy, Debug, Record)]
pub struct Allocated {
    /// How often.
    pub count: u64,
    /// How much.
    pub bytes: u64,
}

/// Go reads all that it is given, and answers with how many bytes that was.
#[eddy_bridge::go]
pub trait Reader {
    /// Nothing.
    fn empty(&self);
    /// A text.
    fn text(&self, text: &str) -> u64;
    /// A struct of ten fields.
    fn order(&self, order: &Order<'_>) -> u64;
    /// Several texts.
    fn batch(&self, texts: &[&str]) -> u64;
    /// Bytes.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// Nothing.
    async fn empty_later(&self);
    /// A text.
    async fn text_later(&self, text: &str) -> u64;
    /// A struct of ten fields.
    async fn order_later(&self, order: &Order<'_>) -> u64;
    /// Several texts.
    async fn batch_later(&self, texts: &[&str]) -> u64;
    /// Bytes.
    async fn bytes_later(&self, bytes: &[u8]) -> u64;
    /// What Go has allocated.
    fn allocated(&self) -> Allocated;
}

/// Rust reads all that it is given, and answers with how many bytes that was.
#[eddy_bridge::rust]
pub trait Native {
    /// Nothing, by assembly.
    #[short]
    fn empty_short(&self);
    /// A text, by assembly.
    #[short]
    fn text_short(&self, text: &str) -> u64;
    /// A struct of ten fields, by assembly.
    #[short]
    fn order_short(&self, order: &Order<'_>) -> u64;
    /// Several texts, by assembly.
    #[short]
    fn batch_short(&self, texts: &[&str]) -> u64;
    /// Bytes, by assembly.
    #[short]
    fn bytes_short(&self, bytes: &[u8]) -> u64;
    /// Nothing.
    fn empty(&self);
    /// A text.
    fn text(&self, text: &str) -> u64;
    /// A struct of ten fields.
    fn order(&self, order: &Order<'_>) -> u64;
    /// Several texts.
    fn batch(&self, texts: &[&str]) -> u64;
    /// Bytes.
    fn bytes(&self, bytes: &[u8]) -> u64;
    /// Nothing.
    async fn empty_later(&self);
    /// A text.
    async fn text_later(&self, text: &str) -> u64;
    /// A struct of ten fields.
    async fn order_later(&self, order: &Order<'_>) -> u64;
    /// Several texts.
    async fn batch_later(&self, texts: &[&str]) -> u64;
    /// Bytes.
    async fn bytes_later(&self, bytes: &[u8]) -> u64;
}
