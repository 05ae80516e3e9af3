//! Enum descriptors.

use super::lookup::NameTable;

/// Identifier of an enum of a [`super::Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub(crate) u32);

/// An enum with its values.
#[derive(Debug)]
pub struct Enumeration {
    /// Full name.
    pub name: Box<str>,
    /// In the order of declaration.
    pub(crate) values: Box<[(Box<str>, i32)]>,
    /// For each number, the value declared first; sorted by number.
    by_number: Box<[(i32, u16)]>,
    /// Number of values that are found by index: the numbers from 0 on without gaps.
    dense: usize,
    by_name: NameTable,
    /// Whether numbers without a name are invalid, as in proto2.
    pub is_closed: bool,
    /// Whether it is `google.protobuf.NullValue`, which is `null` in JSON.
    pub(crate) is_null: bool,
}

impl Enumeration {
    pub(crate) fn build(name: Box<str>, values: Box<[(Box<str>, i32)]>, is_closed: bool) -> Self {
        let index = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        let mut by_number: Vec<(i32, u16)> =
            values.iter().enumerate().map(|(at, (_, number))| (*number, index(at))).collect();
        by_number.sort_unstable();
        by_number.dedup_by_key(|(number, _)| *number);
        if let Some(first) = by_number.iter().position(|(number, _)| *number == 0) {
            // Numbers from 0 on come first, so that they are found by index; negative ones follow.
            by_number.rotate_left(first);
        }
        let dense = by_number.iter().zip(0..).take_while(|((number, _), at)| number == at).count();
        let names: Vec<(&[u8], u16)> =
            values.iter().enumerate().map(|(at, (name, _))| (name.as_bytes(), index(at))).collect();
        let by_name = NameTable::build(&names);
        let is_null = &*name == "google.protobuf.NullValue";
        Self { name, values, by_number: by_number.into(), dense, by_name, is_closed, is_null }
    }

    /// Returns names and numbers in the order of declaration.
    pub fn values(&self) -> impl Iterator<Item = (&str, i32)> {
        self.values.iter().map(|(name, number)| (&**name, *number))
    }

    /// Returns the name of a number, the one declared first if there are several.
    pub fn name_of(&self, number: i32) -> Option<&str> {
        let at = match usize::try_from(number) {
            Ok(at) if at < self.dense => at,
            _ => self.by_number.iter().position(|(other, _)| *other == number)?,
        };
        let (_, value) = self.by_number.get(at)?;
        self.values.get(usize::from(*value)).map(|(name, _)| &**name)
    }

    /// Returns the number of a name.
    pub fn number_of(&self, name: &[u8]) -> Option<i32> {
        let value = |index: u16| self.values.get(usize::from(index));
        let index = self
            .by_name
            .find(name, |index| value(index).is_some_and(|(other, _)| other.as_bytes() == name))?;
        value(index).map(|(_, number)| *number)
    }
}
