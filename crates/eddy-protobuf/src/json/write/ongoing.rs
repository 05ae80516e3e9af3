//! The item that the next bytes belong to.

/// Item that may continue in the next piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ongoing {
    /// A new item.
    None,
    /// A skipped value.
    Skip { left: u64 },
    /// A string or bytes.
    Text { left: u64, form: JsonTextEncoding },
    /// A value that must be complete.
    Held { left: u64, what: BufferedTextKind },
}

/// Encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonTextEncoding {
    Utf8,
    Base64,
}

/// Values that must be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferedTextKind {
    /// The key of a map.
    Key,
    /// A path of a field mask.
    MaskPath,
    /// The type URL of an `Any`.
    TypeUrl,
}
