//! Header changes that a rule makes, validated when they are built.

use thiserror::Error;

use crate::field::{FieldId, Traits, is_alias_of};
use crate::octet::{is_tchar, is_text};

/// Changes to the fields of a message: removals first, then fields that are set, then fields that are added.
///
/// Names and values are validated on insertion: none can end a line or change the framing or the routing of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldEdits {
    edits: Vec<FieldEdit>,
}

/// Reason for rejecting a header change.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EditFault {
    /// The name is empty or has a byte that is not allowed in field names.
    #[error("\"{name}\" is not a header name: use letters, digits and any of !#$%&'*+-.^_`|~")]
    BadName {
        /// The name as given.
        name: String,
    },
    /// The value has a control byte.
    #[error("the value of \"{name}\" has a control byte such as a line end or NUL")]
    BadValue {
        /// The name as given.
        name: String,
    },
    /// The field frames or routes the message, or is hop-by-hop.
    #[error("eddy writes \"{name}\" itself, and a rule cannot change it")]
    Reserved {
        /// The name as given.
        name: String,
    },
    /// The name or the value is too long.
    #[error("the name or value of \"{name}\" is longer than {EDIT_BYTES_MAX} bytes")]
    TooLong {
        /// The beginning of the name.
        name: String,
    },
    /// The head would exceed its limits.
    #[error("the change would exceed the limits of the head")]
    HeadFull,
    /// The new method is not a token, or would change where the message ends.
    #[error(
        "\"{name}\" is not allowed as the method: use a token, and no change to or from HEAD, CONNECT or TRACE"
    )]
    BadMethod {
        /// The method as given.
        name: String,
    },
    /// The new target is not a path with an optional query.
    #[error(
        "\"{target}\" is not a valid target: begin with a slash, and percent-encode bytes that are not allowed"
    )]
    BadTarget {
        /// The beginning of the target as given.
        target: String,
    },
    /// The new authority has no valid host.
    #[error("\"{authority}\" is not a valid authority: use host or host:port")]
    BadAuthority {
        /// The beginning of the authority as given.
        authority: String,
    },
    /// The new status is not allowed here.
    #[error(
        "{status} is not allowed as the status: use 200 to 599, and do not change whether there is a body"
    )]
    BadStatus {
        /// The status as given.
        status: u32,
    },
    /// Too many changes in one place.
    #[error("more than {EDITS_MAX} header changes in one place")]
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldEdit {
    kind: EditKind,
    name: Box<str>,
    id: FieldId,
    value: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditKind {
    Remove,
    Set,
    Add,
}

impl FieldEdits {
    /// Creates an empty list of changes.
    pub const fn new() -> Self {
        Self { edits: Vec::new() }
    }

    /// Returns an empty list of changes with static lifetime.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the names of fields that are removed.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.of_kind(EditKind::Remove).map(|(name, _)| name)
    }

    /// Returns fields that are set, with their values.
    pub fn set_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of_kind(EditKind::Set)
    }

    /// Returns fields that are added, with their values.
    pub fn added(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of_kind(EditKind::Add)
    }

    fn of_kind(&self, kind: EditKind) -> impl Iterator<Item = (&str, &str)> {
        self.edits.iter().filter(move |edit| edit.kind == kind).map(|edit| (&*edit.name, &*edit.value))
    }

    /// Removes all fields with this name, in any case and spelling of its separators.
    ///
    /// # Errors
    /// Any [`EditFault`] except `BadValue`.
    pub fn remove(&mut self, name: &str) -> Result<(), EditFault> {
        self.push(EditKind::Remove, name, "")
    }

    /// Replaces all fields with this name, in any case and spelling of its separators, by one.
    ///
    /// # Errors
    /// Any [`EditFault`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), EditFault> {
        self.push(EditKind::Set, name, value)
    }

    /// Adds a field to the existing ones.
    ///
    /// # Errors
    /// Any [`EditFault`].
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), EditFault> {
        self.push(EditKind::Add, name, value)
    }

    /// Combines these changes with later ones. Changes in `self` to a field that `then` removes or sets are dropped.
    ///
    /// # Errors
    /// [`EditFault::TooMany`].
    pub fn joined(&self, then: &Self) -> Result<Self, EditFault> {
        let kept = self.edits.iter().filter(|edit| !then.drops(edit.id, edit.name.as_bytes()));
        let edits: Vec<FieldEdit> = kept.chain(&then.edits).cloned().collect();
        if edits.len() > EDITS_MAX { Err(EditFault::TooMany) } else { Ok(Self { edits }) }
    }

    fn push(&mut self, kind: EditKind, name: &str, value: &str) -> Result<(), EditFault> {
        let value = value.trim_matches([' ', '\t']);
        if self.edits.len() >= EDITS_MAX {
            return Err(EditFault::TooMany);
        }
        if name.len() > EDIT_BYTES_MAX || value.len() > EDIT_BYTES_MAX {
            return Err(EditFault::TooLong { name: name.chars().take(64).collect() });
        }
        let id = check_name_and_value(name.as_bytes(), value.as_bytes())?;
        self.edits.push(FieldEdit { kind, name: name.into(), id, value: value.into() });
        Ok(())
    }

    /// Whether a received field is removed or replaced.
    pub(crate) fn drops(&self, id: FieldId, name: &[u8]) -> bool {
        self.edits.iter().any(|edit| {
            let is_same = if id.is_known() { edit.id == id } else { is_alias_of(name, edit.name.as_bytes()) };
            is_same && edit.kind != EditKind::Add
        })
    }

    /// Whether a field with this name, which eddy itself would write, is removed or replaced.
    pub fn decides(&self, name: &str) -> bool {
        self.edits.iter().any(|edit| edit.kind != EditKind::Add && edit.name.eq_ignore_ascii_case(name))
    }

    /// Returns the fields to write: fields that are set, then fields that are added.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.set_fields().chain(self.added()).map(|(name, value)| (name.as_bytes(), value.as_bytes()))
    }
}

/// Validates the bytes of a field that is to be changed; returns the ID of its name.
pub(crate) fn check_name_and_value(name: &[u8], value: &[u8]) -> Result<FieldId, EditFault> {
    let shown = || String::from_utf8_lossy(name).into_owned();
    if name.is_empty() || !name.iter().copied().all(is_tchar) {
        return Err(EditFault::BadName { name: shown() });
    }
    if !value.iter().copied().all(is_text) {
        return Err(EditFault::BadValue { name: shown() });
    }
    let id = FieldId::from_name(name);
    if id == FieldId::Alias || id.traits().has(Traits::HOP.and(Traits::FRAMING)) {
        return Err(EditFault::Reserved { name: shown() });
    }
    Ok(id)
}

/// Maximum changes in one [`FieldEdits`].
pub const EDITS_MAX: usize = 64;

/// Maximum bytes of a name or value in [`FieldEdits`].
pub const EDIT_BYTES_MAX: usize = 8 * 1024;

static NONE: FieldEdits = FieldEdits::new();

#[cfg(test)]
mod tests {
    use super::{EDITS_MAX, EditFault, FieldEdits};
    use crate::FieldId;

    #[test]
    fn a_name_or_value_that_could_split_a_message_is_refused() {
        for name in ["", "a b", "a:", "a\r\nb", "ä", "a\0"] {
            let fault = FieldEdits::new().set(name, "v").unwrap_err();
            assert_eq!(fault, EditFault::BadName { name: name.to_owned() });
        }
        for value in ["a\r\nb", "a\n", "\0", "a\u{7f}"] {
            let fault = FieldEdits::new().add("x-a", value).unwrap_err();
            assert_eq!(fault, EditFault::BadValue { name: "x-a".to_owned() });
        }
    }

    #[test]
    fn framing_and_hop_by_hop_fields_are_reserved() {
        for name in
            ["Host", "content-length", "Transfer-Encoding", "connection", "TE", "content_length", "Upgrade"]
        {
            let fault = FieldEdits::new().remove(name).unwrap_err();
            assert_eq!(fault, EditFault::Reserved { name: name.to_owned() });
        }
    }

    #[test]
    fn a_removal_covers_every_spelling() {
        let mut edits = FieldEdits::new();
        edits.remove("X-User").unwrap();
        edits.set("server", "eddy").unwrap();
        edits.add("x-more", "1").unwrap();
        assert!(edits.drops(FieldId::Other, b"x_user"));
        assert!(edits.drops(FieldId::Other, b"X.USER"));
        assert!(edits.drops(FieldId::Server, b"SERVER"));
        assert!(!edits.drops(FieldId::Other, b"x-more"));
        assert_eq!(edits.written().collect::<Vec<_>>(), [(&b"server"[..], &b"eddy"[..]), (b"x-more", b"1")]);
    }

    /// Parses changes such as `-a =b:1 +b:2`: removed, set and added fields.
    fn edits(text: &str) -> FieldEdits {
        let mut edits = FieldEdits::new();
        for word in text.split_whitespace() {
            let (kind, rest) = word.split_at(1);
            let (name, value) = rest.split_once(':').unwrap_or((rest, ""));
            match kind {
                "-" => edits.remove(name).unwrap(),
                "=" => edits.set(name, value).unwrap(),
                _ => edits.add(name, value).unwrap(),
            }
        }
        edits
    }

    #[test]
    fn later_edits_override_earlier_ones() {
        for (first, then, expected) in [
            ("+a:1", "-a", "-a"),
            ("=a:1", "-a", "-a"),
            ("=a:1 +a:2", "=a:3", "=a:3"),
            ("-a", "=a:1", "=a:1"),
            ("-a", "+a:1", "-a +a:1"),
            ("=a:1", "+a:2", "=a:1 +a:2"),
            ("+a:1", "+a:2", "+a:1 +a:2"),
            ("+a:1 +b:1", "-A +c:1", "+b:1 -A +c:1"),
            ("+x_user:1", "-X-User", "-X-User"),
            ("", "-a", "-a"),
        ] {
            let joined = edits(first).joined(&edits(then)).unwrap();
            assert_eq!(joined, edits(expected), "{first}, then {then}");
        }
    }

    #[test]
    fn changes_are_limited_in_number() {
        let mut edits = FieldEdits::new();
        for _ in 0..EDITS_MAX {
            edits.add("x-a", "1").unwrap();
        }
        assert_eq!(edits.add("x-a", "1"), Err(EditFault::TooMany));
        let more = edits.joined(&self::edits("+b:1"));
        assert_eq!(more, Err(EditFault::TooMany));
        assert!(edits.joined(&self::edits("=x-a:1")).is_ok());
    }
}
