//! TLS settings that listeners and clusters share, and positions at which TLS files are named.

use std::fmt;
use std::path::PathBuf;

use eddy_ids::Shared;

/// TLS file or inline text, and the position in the configuration that names it, for problems found when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPath {
    /// Path of the file, relative to the working directory; for an inline text, a description such as `Secret
    /// default/site: tls.crt`.
    pub path: PathBuf,
    /// Inline text; `None` when the file is to be read.
    pub text: Option<InlineText>,
    /// Position of the name in the configuration.
    pub place: SourcePosition,
}

/// Position in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Configuration file.
    pub file: Shared<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length in characters.
    pub length: u32,
}

/// Inline text of a configuration, possibly a private key; its `Debug` output hides the contents.
#[derive(Clone, PartialEq, Eq)]
pub struct InlineText(pub Shared<[u8]>);

/// Verification of an endpoint's certificate, before any data is sent to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServerCheck {
    /// Certificate of a trusted authority, for the requested name.
    #[default]
    Full,
    /// Certificate of a trusted authority, for any name.
    Authority,
    /// Any certificate: a man in the middle can read and change the data.
    Nothing,
}

/// TLS version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2, only with forward secrecy and authenticated encryption.
    #[default]
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl fmt::Debug for InlineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlineText({} bytes)", self.0.len())
    }
}
