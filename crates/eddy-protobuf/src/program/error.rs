//! Errors in programs.

/// Error in a path, rule or edit; each variant names the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The path has a syntax error.
    #[error(
        "path \"{path}\": {problem} at byte {at}; examples of paths: `user.name`, `labels[\"key\"].id`, \
         `[package.extension].id`"
    )]
    Syntax {
        /// The path.
        path: String,
        /// Byte offset in the path.
        at: usize,
        /// Description of the problem.
        problem: &'static str,
    },
    /// A message has no field of this name.
    #[error("path \"{path}\": message \"{message}\" has no field \"{field}\"")]
    FieldUnknown {
        /// The path.
        path: String,
        /// Full name of the message.
        message: String,
        /// Requested field.
        field: String,
    },
    /// A field of this type has no fields below it, or does not support the rule or edit.
    #[error("path \"{path}\": field \"{field}\" of \"{message}\" {problem}")]
    Field {
        /// The path.
        path: String,
        /// Full name of the message.
        message: String,
        /// Name of the field.
        field: String,
        /// Reason.
        problem: &'static str,
    },
    /// A pattern is not a valid regular expression, or too large.
    #[error("path \"{path}\": pattern \"{pattern}\": {problem}")]
    Pattern {
        /// The path.
        path: String,
        /// The pattern.
        pattern: String,
        /// Description of the problem.
        problem: String,
    },
    /// A limit of the program is exceeded.
    #[error("path \"{path}\": the program has more than {max} {what}")]
    TooMany {
        /// The path.
        path: String,
        /// Kind of items.
        what: &'static str,
        /// The limit.
        max: usize,
    },
}
