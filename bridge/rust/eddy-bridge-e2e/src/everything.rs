//! A declaration with every type, in both directions.

use std::collections::{BTreeMap, HashMap};

use eddy_bridge::Record;

/// A struct that others contain.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Leaf {
    /// A string.
    pub name: String,
    /// A number.
    pub count: u32,
    /// A list whose elements are not numbers.
    pub tags: Vec<String>,
}

/// A struct with all owned types.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Every {
    /// The smallest unsigned number.
    pub byte: u8,
    /// A number.
    pub short: u16,
    /// A number.
    pub word: u32,
    /// A number.
    pub long: u64,
    /// A signed number.
    pub signed_byte: i8,
    /// A signed number.
    pub signed_short: i16,
    /// A signed number.
    pub signed_word: i32,
    /// A signed number.
    pub signed_long: i64,
    /// A floating-point number.
    pub single: f32,
    /// A floating-point number.
    pub double: f64,
    /// A bool.
    pub flag: bool,
    /// A string.
    pub text: String,
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Numbers wider than bytes.
    pub numbers: Vec<i32>,
    /// Floating-point numbers.
    pub doubles: Vec<f64>,
    /// A list of bools.
    pub flags: Vec<bool>,
    /// A struct in a struct.
    pub leaf: Leaf,
    /// Structs.
    pub leaves: Vec<Leaf>,
    /// An ordered map.
    pub by_name: BTreeMap<String, Leaf>,
    /// An unordered map.
    pub by_number: HashMap<i64, Vec<u8>>,
    /// An optional struct.
    pub maybe_leaf: Option<Leaf>,
    /// An optional string.
    pub maybe_text: Option<String>,
    /// A value or an error.
    pub outcome: Result<u16, String>,
    /// Lists in options in a list.
    pub nested: Vec<Option<Vec<String>>>,
}

/// A struct that is read from the caller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct View<'a> {
    /// A string.
    pub name: &'a str,
    /// Bytes.
    pub body: &'a [u8],
    /// Numbers.
    pub numbers: &'a [u32],
    /// An optional string.
    pub maybe: Option<&'a str>,
    /// A number.
    pub count: u64,
}

/// A struct whose fields are packed more densely in Go than in messages.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct Narrow {
    /// The smallest unsigned number.
    pub byte: u8,
    /// A bool.
    pub flag: bool,
    /// A struct with narrow fields only.
    pub inner: Inner,
    /// A floating-point number.
    pub single: f32,
    /// An optional number.
    pub maybe: Option<i8>,
    /// An optional struct.
    pub maybe_inner: Option<Inner>,
    /// A signed number.
    pub signed: i32,
}

/// A struct without a word-sized field, which Go aligns to less than a word.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct Inner {
    /// A number.
    pub code: u16,
    /// A bool.
    pub is_good: bool,
}

/// Copies of the fields of a [`View`].
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Viewed {
    /// A string.
    pub name: String,
    /// Bytes.
    pub body: Vec<u8>,
    /// Numbers.
    pub numbers: Vec<u32>,
    /// An optional string.
    pub maybe: Option<String>,
    /// A number.
    pub count: u64,
}

/// An error with details.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Refusal {
    /// Numeric error code.
    pub code: u32,
    /// Error message.
    pub reason: String,
}

/// Functions implemented in Go, most of which return their argument.
#[eddy_bridge::go]
pub trait Echo {
    /// Does nothing.
    fn nothing(&self);
    /// Returns a value of all types.
    fn every(&self, value: &Every) -> Every;
    /// Returns a value of all types by way of Rust, called through cgo.
    fn every_by_rust(&self, value: &Every) -> Result<Every, String>;
    /// Returns a value of all types by way of Rust, called through assembly.
    fn every_by_short(&self, value: &Every) -> Result<Every, String>;
    /// Returns a copy of a view.
    fn view(&self, view: &View<'_>) -> Viewed;
    /// Returns a copy of a view by way of Rust, called through cgo.
    fn view_by_rust(&self, view: &View<'_>) -> Result<Viewed, String>;
    /// Returns numbers narrower than a word.
    fn narrow(&self, value: &Narrow) -> Narrow;
    /// Returns numbers narrower than a word by way of Rust, called through cgo.
    fn narrow_by_rust(&self, value: &Narrow) -> Result<Narrow, String>;
    /// Returns numbers narrower than a word by way of Rust, called through assembly.
    fn narrow_by_short(&self, value: &Narrow) -> Result<Narrow, String>;
    /// Joins arguments of all kinds to one string by way of Rust, called through cgo and through assembly.
    fn join_by_rust(&self, names: &[&str], numbers: &[u16], flag: bool) -> Result<String, String>;
    /// Returns the string by way of Rust, which calls `deep` meanwhile.
    fn back_by_rust(&self, text: &str, depth: u32) -> Result<String, String>;
    /// Makes the goroutine's stack grow, which moves it.
    fn deep(&self, depth: u32);
    /// Joins arguments of all kinds to one string.
    fn join(&self, text: &str, bytes: &[u8], numbers: &[i16], names: &[&str], last: Option<u8>) -> String;
    /// Returns the sum of two numbers, computed by Rust in a short call.
    fn add_by_rust(&self, one: u64, other: u64) -> Result<u64, String>;
    /// Succeeds, or returns an error that is a struct.
    fn refuse(&self, code: u32) -> Result<(), Refusal>;
    /// Panics.
    fn explode(&self, text: &str);
    /// Returns the error text that Go gets when Rust panics.
    fn explode_in_rust(&self, text: &str) -> String;
    /// Returns the error text that Go gets when it passes a string that is not UTF-8.
    fn invalid_in_rust(&self) -> String;
    /// Runs the garbage collector.
    fn collect(&self);
    /// Returns the string after `milliseconds`.
    async fn later(&self, text: &str, milliseconds: u32) -> String;
    /// Panics in a goroutine.
    async fn explode_later(&self, text: &str) -> Result<(), String>;
    /// Returns when the context ends.
    async fn for_ever(&self);
    /// Returns the number of ended contexts of `for_ever`.
    fn ended(&self) -> u64;
    /// Returns the string by way of a future in Rust.
    async fn later_by_rust(&self, text: &str, turns: u32) -> Result<String, String>;
    /// Returns the error text that Go gets when it cancels a future that never completes.
    async fn give_up_in_rust(&self, milliseconds: u32) -> String;
}

/// Functions implemented in Rust, most of which return their argument.
#[eddy_bridge::rust]
pub trait Mirror {
    /// Returns a value of all types.
    fn every(&self, value: &Every) -> Every;
    /// As `every`, called through assembly.
    #[short]
    fn every_short(&self, value: &Every) -> Every;
    /// Returns a copy of a view.
    fn view(&self, view: View<'_>) -> Viewed;
    /// Returns numbers narrower than a word.
    fn narrow(&self, value: &Narrow) -> Narrow;
    /// As `narrow`, called through assembly.
    #[short]
    fn narrow_short(&self, value: &Narrow) -> Narrow;
    /// Joins arguments of all kinds to one string.
    fn join(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String;
    /// As `join`, called through assembly.
    #[short]
    fn join_short(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String;
    /// Returns the string after a call of Go that moves the caller's stack.
    fn back(&self, text: &str, depth: u32) -> Result<String, String>;
    /// Returns the sum.
    #[short]
    fn add(&self, one: u64, other: u64) -> u64;
    /// Returns the number of letters, or why they can't be counted.
    #[short]
    fn letters(&self, text: &str) -> Result<u64, String>;
    /// Panics.
    fn explode(&self, text: &str) -> Result<u32, Refusal>;
    /// Returns the string after yielding `turns` times.
    async fn later(&self, text: &str, turns: u32) -> String;
    /// Never completes.
    async fn never(&self);
    /// Returns the number of dropped futures of `never`.
    fn dropped(&self) -> u64;
}
