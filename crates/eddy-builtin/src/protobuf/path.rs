//! Paths in messages as configured, and the handling of messages that cannot be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use eddy_protobuf::{MessageId, Schema};

use super::types::find_message;

/// Path in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePath {
    /// Path, starting at the message of a call.
    pub path: Arc<str>,
    /// Full names of the message types; all types that have the path if empty.
    pub messages: Vec<Arc<str>>,
}

/// Handling of messages that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreadable {
    /// The exchange fails.
    #[default]
    Refuse,
    /// The message is passed unchanged.
    Pass,
}

impl MessagePath {
    /// Returns the message types among `all` to which the path applies; `check` tests whether a type has it.
    ///
    /// # Errors
    /// The error of a named message type, or of the last type if none has the path.
    pub(crate) fn find_messages(
        &self,
        schema: &Schema,
        all: &BTreeSet<MessageId>,
        check: impl Fn(MessageId) -> Result<(), String>,
    ) -> Result<BTreeSet<MessageId>, String> {
        let path = &self.path;
        let mut found = BTreeSet::new();
        if self.messages.is_empty() {
            let mut problem = format!("path \"{path}\": no gRPC method has messages in this direction");
            for message in all {
                match check(*message) {
                    Ok(()) => drop(found.insert(*message)),
                    Err(why) => problem = why,
                }
            }
            return if found.is_empty() { Err(problem) } else { Ok(found) };
        }
        for name in &self.messages {
            let message = find_message(schema, name)?;
            if !all.contains(&message) {
                return Err(format!(
                    "path \"{path}\": no gRPC method has messages \"{name}\" in this direction"
                ));
            }
            check(message)?;
            found.insert(message);
        }
        Ok(found)
    }
}
