//! Options of fields, on which a policy may hang.

use super::field::{FieldDescriptor, FieldType, Label};
use super::tables::Schema;
use crate::fault::ProtobufError;
use crate::limits::ProtobufLimits;
use crate::wire::{Items, WireValue};

/// An option of fields and the value that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOption {
    number: u32,
    wanted: OptionValueTest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionValueTest {
    True,
    /// The number of a value of an enum.
    Number(i32),
}

/// Why an option can't be looked for; each variant names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldOptionError {
    /// Fields have no such option.
    #[error("fields have no option \"{option}\" in the descriptors; they have: debug_redact{known}")]
    Unknown {
        /// As it was written.
        option: String,
        /// The extensions that there are, each behind a comma.
        known: String,
    },
    /// An option that is neither a `bool` nor of an enum, or is repeated.
    #[error("option \"{option}\" is no bool and no value of an enum")]
    Type {
        /// As it was written.
        option: String,
    },
    /// A value where none can be, none where one is needed, or one that the enum does not have.
    #[error("option \"{option}\": {problem}")]
    Value {
        /// As it was written.
        option: String,
        /// What is wrong.
        problem: String,
    },
}

impl Schema {
    /// The option that a text names: `debug_redact` and other options of protobuf's own that are `bool`, extensions of
    /// `google.protobuf.FieldOptions` by their full name, and `name=VALUE` for those of an enum.
    ///
    /// # Errors
    /// [`FieldOptionError`].
    pub fn find_field_option(&self, option: &str) -> Result<FieldOption, FieldOptionError> {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        // Descriptors without an extension lack the message with protobuf's own.
        if option == DEBUG_REDACT.0 {
            return Ok(FieldOption { number: DEBUG_REDACT.1, wanted: OptionValueTest::True });
        }
        let options = self.find_message("google.protobuf.FieldOptions").map(|id| self.message(id));
        let field = options.and_then(|options| {
            let extension = format!("[{name}]");
            options.by_name(extension.as_bytes()).or_else(|| options.by_name(name.as_bytes()))
        });
        let Some((_, field)) = field else {
            let names = options.into_iter().flat_map(|options| options.fields());
            let names = names.filter_map(|field| field.name().strip_prefix('[')?.strip_suffix(']'));
            let known = names.map(|name| format!(", {name}")).collect();
            return Err(FieldOptionError::Unknown { option: option.to_owned(), known });
        };
        let problem = |problem| Err(FieldOptionError::Value { option: option.to_owned(), problem });
        let wanted = match (field.kind(), value) {
            _ if field.label() != Label::Singular => {
                return Err(FieldOptionError::Type { option: option.to_owned() });
            }
            (FieldType::Bool, None) => OptionValueTest::True,
            (FieldType::Bool, Some(_)) => {
                return problem("is a bool, which is looked for by its name alone".to_owned());
            }
            (FieldType::Enum(id), Some(value)) => {
                let known = self.enumeration(id);
                let Some(number) = known.number_of(value.as_bytes()) else {
                    let names: Vec<&str> = known.values().map(|(name, _)| name).collect();
                    return problem(format!(
                        "{} has no value \"{value}\"; it has: {}",
                        known.name(),
                        names.join(", ")
                    ));
                };
                OptionValueTest::Number(number)
            }
            (FieldType::Enum(_), None) => {
                return problem(format!("is of an enum, so say which value: `{name}=VALUE`"));
            }
            _ => return Err(FieldOptionError::Type { option: option.to_owned() }),
        };
        Ok(FieldOption { number: field.number(), wanted })
    }
}

impl FieldDescriptor {
    /// Whether the field has an option, with the value that is looked for.
    ///
    /// # Errors
    /// [`Fault`] where its options are malformed.
    #[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
    pub fn has_option(&self, option: FieldOption) -> Result<bool, ProtobufError> {
        let mut items = Items::new(self.options(), ProtobufLimits::default().depth_max);
        let mut has_option = false;
        while let Some((number, item)) = items.next()? {
            if let WireValue::Varint(value) = item
                && number == option.number
            {
                // The last one counts, as everywhere.
                has_option = match option.wanted {
                    OptionValueTest::True => value != 0,
                    OptionValueTest::Number(wanted) => value as i32 == wanted,
                };
            }
        }
        Ok(has_option)
    }
}

/// The option of protobuf's own for what should not be shown, and its number.
const DEBUG_REDACT: (&str, u32) = ("debug_redact", 16);
