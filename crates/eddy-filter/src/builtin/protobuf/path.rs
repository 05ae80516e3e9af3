//! Places in messages, as a configuration names them, and what becomes of messages that can't be looked into.

use std::collections::BTreeSet;
use std::sync::Arc;

use eddy_protobuf::{MessageId, Schema};

use super::types::find_message;

/// A place in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePath {
    /// The path, from the message of a call on.
    pub path: Arc<str>,
    /// Full names of the messages; all that have it if there is none.
    pub messages: Vec<Arc<str>>,
}

/// What becomes of messages that can't be looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreadable {
    /// The exchange ends with a failure.
    #[default]
    Refuse,
    /// They go on as they are.
    Pass,
}

impl MessagePath {
    /// The messages among `all` that the path is meant for; `check` looks whether one has it.
    ///
    /// # Errors
    /// What is wrong with a message that is named, or with the last of all if none has the path.
    pub(in crate::builtin) fn find_messages(
        &self,
        schema: &Schema,
        all: &BTreeSet<MessageId>,
        check: impl Fn(MessageId) -> Result<(), String>,
    ) -> Result<BTreeSet<MessageId>, String> {
        let path = &self.path;
        let mut found = BTreeSet::new();
        if self.messages.is_empty() {
            let mut problem = format!("path \"{path}\": no call has messages there");
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
                return Err(format!("path \"{path}\": no call has messages \"{name}\" there"));
            }
            check(message)?;
            found.insert(message);
        }
        Ok(found)
    }
}
