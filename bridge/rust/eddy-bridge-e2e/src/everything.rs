//! A declaration with every type, in both directions.

use std::collections::{BTreeMap, HashMap};

use eddy_bridge::Record;

/// A struct in others.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Leaf {
    /// A text.
    pub name: String,
    /// A number.
    pub count: u32,
    /// A list that is not one of numbers.
    pub tags: Vec<String>,
}

/// A struct with all that owns itself.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Every {
    /// The smallest.
    pub byte: u8,
    /// A number.
    pub short: u16,
    /// A number.
    pub word: u32,
    /// A number.
    pub long: u64,
    /// A number with a sign.
    pub signed_byte: i8,
    /// A number with a sign.
    pub signed_short: i16,
    /// A number with a sign.
    pub signed_word: i32,
    /// A number with a sign.
    pub signed_long: i64,
    /// A number with a fraction.
    pub single: f32,
    /// A number with a fraction.
    pub double: f64,
    /// One of two.
    pub flag: bool,
    /// A text.
    pub text: String,
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Numbers that are wider than bytes.
    pub numbers: Vec<i32>,
    /// Numbers with a fraction.
    pub doubles: Vec<f64>,
    /// A list that is not one of numbers.
    pub flags: Vec<bool>,
    /// A struct in a struct.
    pub leaf: Leaf,
    /// Structs.
    pub leaves: Vec<Leaf>,
    /// A map in order.
    pub by_name: BTreeMap<String, Leaf>,
    /// A map without.
    pub by_number: HashMap<i64, Vec<u8>>,
    /// A struct, perhaps.
    pub maybe_leaf: Option<Leaf>,
    /// A text, perhaps.
    pub maybe_text: Option<String>,
    /// A value or an error.
    pub outcome: Result<u16, String>,
    /// Lists in options in a list.
    pub nested: Vec<Option<Vec<String>>>,
}

/// A struct that is read where the caller has it.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct View<'a> {
    /// A text.
    pub name: &'a str,
    /// Bytes.
    pub body: &'a [u8],
    /// Numbers.
    pub numbers: &'a [u32],
    /// A text, perhaps.
    pub maybe: Option<&'a str>,
    /// A number.
    pub count: u64,
}

/// A struct whose fields would lie closer in Go than they do in messages.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct Narrow {
    /// The smallest.
    pub byte: u8,
    /// One of two.
    pub flag: bool,
    /// A struct that is nothing but narrow.
    pub inner: Inner,
    /// A number with a fraction.
    pub single: f32,
    /// A number, perhaps.
    pub maybe: Option<i8>,
    /// A struct, perhaps.
    pub maybe_inner: Option<Inner>,
    /// A number with a sign.
    pub signed: i32,
}

/// A struct that Go would put anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Record)]
pub struct Inner {
    /// A number.
    pub code: u16,
    /// One of two.
    pub is_good: bool,
}

/// What a [`View`] looked at.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Viewed {
    /// A text.
    pub name: String,
    /// Bytes.
    pub body: Vec<u8>,
    /// Numbers.
    pub numbers: Vec<u32>,
    /// A text, perhaps.
    pub maybe: Option<String>,
    /// A number.
    pub count: u64,
}

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Refusal {
    /// A number for it.
    pub code: u32,
    /// A text for it.
    pub reason: String,
}

/// Go gives back what it gets.
#[eddy_bridge::go]
pub trait Echo {
    /// Nothing at all.
    fn nothing(&self);
    /// All types, and back.
    fn every(&self, value: &Every) -> Every;
    /// All types, on to Rust by cgo, and back.
    fn every_by_rust(&self, value: &Every) -> Result<Every, String>;
    /// All types, on to Rust by assembly, and back.
    fn every_by_short(&self, value: &Every) -> Result<Every, String>;
    /// Views, and back as copies.
    fn view(&self, view: &View<'_>) -> Viewed;
    /// Views, on to Rust by cgo, and back as copies.
    fn view_by_rust(&self, view: &View<'_>) -> Result<Viewed, String>;
    /// Numbers narrower than a word, and back.
    fn narrow(&self, value: &Narrow) -> Narrow;
    /// Numbers narrower than a word, on to Rust by cgo, and back.
    fn narrow_by_rust(&self, value: &Narrow) -> Result<Narrow, String>;
    /// Numbers narrower than a word, on to Rust by assembly, and back.
    fn narrow_by_short(&self, value: &Narrow) -> Result<Narrow, String>;
    /// Arguments of all kinds in one text, which Rust makes, by cgo and by assembly.
    fn join_by_rust(&self, names: &[&str], numbers: &[u16], flag: bool) -> Result<String, String>;
    /// The text by way of Rust, which calls `deep` meanwhile.
    fn back_by_rust(&self, text: &str, depth: u32) -> Result<String, String>;
    /// Has the goroutine's stack grow, which moves it.
    fn deep(&self, depth: u32);
    /// Arguments of all kinds in one text.
    fn join(&self, text: &str, bytes: &[u8], numbers: &[i16], names: &[&str], last: Option<u8>) -> String;
    /// The sum that Rust makes of two numbers in a short call.
    fn add_by_rust(&self, one: u64, other: u64) -> Result<u64, String>;
    /// A result, or an error that is a struct.
    fn refuse(&self, code: u32) -> Result<(), Refusal>;
    /// A panic.
    fn explode(&self, text: &str);
    /// What Go gets when Rust panics: the text of its error.
    fn explode_in_rust(&self, text: &str) -> String;
    /// What Go gets when it passes a string that is not UTF-8.
    fn invalid_in_rust(&self) -> String;
    /// A collection of garbage.
    fn collect(&self);
    /// The text after so many milliseconds.
    async fn later(&self, text: &str, milliseconds: u32) -> String;
    /// A panic in a goroutine.
    async fn explode_later(&self, text: &str) -> Result<(), String>;
    /// Until the context ends.
    async fn for_ever(&self);
    /// How many contexts of `for_ever` have ended.
    fn ended(&self) -> u64;
    /// The text by way of a future in Rust.
    async fn later_by_rust(&self, text: &str, turns: u32) -> Result<String, String>;
    /// What Go gets when it gives up a future that never ends.
    async fn give_up_in_rust(&self, milliseconds: u32) -> String;
}

/// Rust gives back what it gets.
#[eddy_bridge::rust]
pub trait Mirror {
    /// All types, and back.
    fn every(&self, value: &Every) -> Every;
    /// As `every`, by assembly.
    #[short]
    fn every_short(&self, value: &Every) -> Every;
    /// Views, and back as copies.
    fn view(&self, view: View<'_>) -> Viewed;
    /// Numbers narrower than a word, and back.
    fn narrow(&self, value: &Narrow) -> Narrow;
    /// As `narrow`, by assembly.
    #[short]
    fn narrow_short(&self, value: &Narrow) -> Narrow;
    /// Arguments of all kinds in one text.
    fn join(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String;
    /// As `join`, by assembly.
    #[short]
    fn join_short(&self, names: &[&str], numbers: &[u16], flag: bool, single: f32, byte: u8) -> String;
    /// The text, after Go was called to have the caller's stack move.
    fn back(&self, text: &str, depth: u32) -> Result<String, String>;
    /// The sum.
    #[short]
    fn add(&self, one: u64, other: u64) -> u64;
    /// How many letters there are, or why that can't be told.
    #[short]
    fn letters(&self, text: &str) -> Result<u64, String>;
    /// A panic.
    fn explode(&self, text: &str) -> Result<u32, Refusal>;
    /// The text, after having let others run so many times.
    async fn later(&self, text: &str, turns: u32) -> String;
    /// A future that never ends.
    async fn never(&self);
    /// How many of `never` were dropped.
    fn dropped(&self) -> u64;
}
