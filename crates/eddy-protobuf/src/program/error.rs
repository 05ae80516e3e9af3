//! Why a program can't be.

/// What is wrong with a path, rule or edit; each names the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The path can't be read.
    #[error(
        "path \"{path}\": {problem} at byte {at}; paths are like `user.name`, `labels[\"key\"].id` or `[package.extension].id`"
    )]
    Syntax {
        /// The path.
        path: String,
        /// Where in it.
        at: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A message has no field of this name.
    #[error("path \"{path}\": message \"{message}\" has no field \"{field}\"")]
    FieldUnknown {
        /// The path.
        path: String,
        /// The full name of the message.
        message: String,
        /// What the path asks for.
        field: String,
    },
    /// A field of this type can't be gone through, or has no such rule or edit.
    #[error("path \"{path}\": field \"{field}\" of \"{message}\" {problem}")]
    Field {
        /// The path.
        path: String,
        /// The full name of the message.
        message: String,
        /// The field.
        field: String,
        /// Why not.
        problem: &'static str,
    },
    /// A pattern is no regular expression, or too large a one.
    #[error("path \"{path}\": pattern \"{pattern}\": {problem}")]
    Pattern {
        /// The path.
        path: String,
        /// The pattern.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// More fields than a program can have.
    #[error("path \"{path}\": the program has more than {max} {what}")]
    TooMany {
        /// The path.
        path: String,
        /// Of what.
        what: &'static str,
        /// The limit.
        max: usize,
    },
}
