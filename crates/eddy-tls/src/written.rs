//! Where a configuration says what TLS needs.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A file that TLS needs, or what would be in it, and where the configuration says so, for problems that show when it is
/// read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPath {
    /// The file, from where eddy runs; where the configuration has the text itself, what it calls it, such as
    /// `Secret default/site: tls.crt`.
    pub path: PathBuf,
    /// The text, where the configuration has it itself; else the file is read.
    pub text: Option<InlineText>,
    /// Where the name is written.
    pub place: WrittenPlace,
}

/// A place in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPlace {
    /// The configuration file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// How many characters are meant.
    pub length: u32,
}

/// A text that stands in a configuration and that may be a key: nobody's to see.
#[derive(Clone, PartialEq, Eq)]
pub struct InlineText(pub Arc<[u8]>);

impl fmt::Debug for InlineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlineText({} bytes)", self.0.len())
    }
}
