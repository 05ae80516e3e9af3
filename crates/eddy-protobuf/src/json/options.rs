//! Settings of the conversions.

/// How messages become JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToJsonOptions {
    /// Which names fields have.
    pub names: JsonFieldNaming,
    /// How enums are written.
    pub enums: EnumForm,
    /// Whether fields without presence that are not set are written with their default.
    pub prints_defaults: bool,
}

/// Names of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonFieldNaming {
    /// `json_name`: camel case, if nothing else is declared.
    #[default]
    Json,
    /// As declared.
    Declared,
}

/// Forms of enums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnumForm {
    /// The name, and the number of values without one.
    #[default]
    Names,
    /// The number.
    Numbers,
}

/// How JSON becomes messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromJsonOptions {
    /// What becomes of fields and names of enums that are not known.
    pub unknown: Unknown,
    /// What becomes of fields and keys that come twice.
    pub duplicates: Duplicates,
    /// What becomes of messages without a field that is required.
    pub required: Required,
}

/// Fields and names of enums that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// The message is refused.
    #[default]
    Refuse,
    /// They are passed over.
    Ignore,
}

/// Required fields, as proto2 has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Required {
    /// A message without one is refused.
    #[default]
    Check,
    /// They may be missing: the rest of the message comes from elsewhere.
    Pass,
}

/// Fields and keys that come twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The message is refused.
    #[default]
    Refuse,
    /// As on the wire: the last scalar and the last key count, messages are merged, lists appended.
    Merge,
}
