//! Descriptions of errors by the names in the schema.

use super::Schema;
use crate::fault::ProtobufError;

impl ProtobufError {
    /// Describes the error in a sentence that names the field.
    pub fn describe(&self, schema: &Schema) -> String {
        let field = self.field.and_then(|(message, field)| {
            let message = schema.message(message);
            let field = message.fields.get(usize::from(field))?;
            Some(format!(" (field \"{}\" of {})", field.name, message.name))
        });
        format!("{self}{}", field.unwrap_or_default())
    }
}
