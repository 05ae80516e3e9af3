//! Options of the JSON conversions.

/// Options of the conversion to JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToJsonOptions {
    /// Names of fields.
    pub names: JsonFieldNaming,
    /// Format of enums.
    pub enums: EnumForm,
    /// Whether unset fields without presence are written with their default.
    pub prints_defaults: bool,
}

/// Names of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonFieldNaming {
    /// `json_name`: camel case, unless declared otherwise.
    #[default]
    Json,
    /// The declared name.
    Declared,
}

/// Format of enums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnumForm {
    /// The name; the number for values without a name.
    #[default]
    Names,
    /// The number.
    Numbers,
}

/// Options of the conversion from JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromJsonOptions {
    /// Treatment of unknown fields and enum names.
    pub unknown: Unknown,
    /// Treatment of duplicate fields and keys.
    pub duplicates: Duplicates,
    /// Treatment of missing required fields.
    pub required: Required,
}

/// Treatment of unknown fields and enum names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// The message is rejected.
    #[default]
    Refuse,
    /// They are ignored.
    Ignore,
}

/// Treatment of missing required fields, as in proto2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Required {
    /// A message without a required field is rejected.
    #[default]
    Check,
    /// They may be missing: the rest of the message comes from elsewhere.
    Pass,
}

/// Treatment of duplicate fields and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The message is rejected.
    #[default]
    Refuse,
    /// As on the wire: the last scalar and the last key win, messages are merged, lists appended.
    Merge,
}
