//! Field options, on which a redaction policy may depend.

use super::field::{FieldDescriptor, FieldType, Label};
use super::tables::Schema;
use crate::fault::ProtobufResult;
use crate::limits::ProtobufLimits;
use crate::wire::{Items, WireValue};

/// A field option and the value to test for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOption {
    number: u32,
    wanted: OptionValueTest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionValueTest {
    True,
    /// The number of an enum value.
    Number(i32),
}

/// Why an option can't be used; each variant names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldOptionError {
    /// Fields have no such option.
    #[error("the descriptors define no field option \"{option}\"; they define: debug_redact{known}")]
    Unknown {
        /// The option as written.
        option: String,
        /// The known extensions, separated by commas.
        known: String,
    },
    /// An option that is neither a `bool` nor an enum, or is repeated.
    #[error("option \"{option}\" is neither a bool nor an enum value")]
    Type {
        /// The option as written.
        option: String,
    },
    /// A value where none is allowed, a missing value, or one that the enum does not have.
    #[error("option \"{option}\": {problem}")]
    Value {
        /// The option as written.
        option: String,
        /// Description of the problem.
        problem: String,
    },
}

impl Schema {
    /// Finds an option by name: `debug_redact` and other standard `bool` options of protobuf, extensions of
    /// `google.protobuf.FieldOptions` by their full name, and `name=VALUE` for enum options.
    ///
    /// # Errors
    /// [`FieldOptionError`].
    pub fn find_field_option(&self, option: &str) -> Result<FieldOption, FieldOptionError> {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        // Descriptors without an extension lack the message with the standard options.
        if option == DEBUG_REDACT.0 {
            return Ok(FieldOption { number: DEBUG_REDACT.1, wanted: OptionValueTest::True });
        }
        let options = self.find_message("google.protobuf.FieldOptions").map(|id| self.message(id));
        let field = options.and_then(|options| {
            let extension = format!("[{name}]");
            options.by_name(extension.as_bytes()).or_else(|| options.by_name(name.as_bytes()))
        });
        let Some((_, field)) = field else {
            let names = options.into_iter().flat_map(|options| &options.fields);
            let names = names.filter_map(|field| field.name.strip_prefix('[')?.strip_suffix(']'));
            let known = names.map(|name| format!(", {name}")).collect();
            return Err(FieldOptionError::Unknown { option: option.to_owned(), known });
        };
        let problem = |problem| Err(FieldOptionError::Value { option: option.to_owned(), problem });
        let wanted = match (field.kind, value) {
            _ if field.label != Label::Singular => {
                return Err(FieldOptionError::Type { option: option.to_owned() });
            }
            (FieldType::Bool, None) => OptionValueTest::True,
            (FieldType::Bool, Some(_)) => {
                return problem("is a bool: write its name without a value".to_owned());
            }
            (FieldType::Enum(id), Some(value)) => {
                let known = self.enumeration(id);
                let Some(number) = known.number_of(value.as_bytes()) else {
                    let names: Vec<&str> = known.values().map(|(name, _)| name).collect();
                    return problem(format!(
                        "{} has no value \"{value}\"; it has: {}",
                        known.name,
                        names.join(", ")
                    ));
                };
                OptionValueTest::Number(number)
            }
            (FieldType::Enum(_), None) => {
                return problem(format!("is an enum: name the value as in `{name}=VALUE`"));
            }
            _ => return Err(FieldOptionError::Type { option: option.to_owned() }),
        };
        Ok(FieldOption { number: field.number, wanted })
    }
}

impl FieldDescriptor {
    /// Whether the field has an option with the value tested for.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if its options are malformed.
    #[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
    pub fn has_option(&self, option: FieldOption) -> ProtobufResult<bool> {
        let mut items = Items::new(&self.options, ProtobufLimits::default().depth_max);
        let mut has_option = false;
        while let Some((number, item)) = items.next()? {
            if let WireValue::Varint(value) = item
                && number == option.number
            {
                // The last occurrence wins, as for all fields.
                has_option = match option.wanted {
                    OptionValueTest::True => value != 0,
                    OptionValueTest::Number(wanted) => value as i32 == wanted,
                };
            }
        }
        Ok(has_option)
    }
}

/// Name and number of the standard option for sensitive fields.
const DEBUG_REDACT: (&str, u32) = ("debug_redact", 16);
