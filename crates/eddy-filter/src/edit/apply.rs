//! Application of edits to a message.

use eddy_http::{EditFault, FieldId, FieldsEditor, RequestHead, ResponseHead};
use thiserror::Error;

use super::record::{FilterEdit, TrailerChange};

/// Section of a message to which an edit applies.
#[derive(Debug)]
pub enum EditableSection<'a> {
    /// Request head and the bytes it was parsed from.
    Request(&'a mut RequestHead, &'a mut Vec<u8>),
    /// Response head and the bytes it was parsed from.
    Response(&'a mut ResponseHead, &'a mut Vec<u8>),
    /// Trailer section.
    Trailers(FieldsEditor<'a>),
}

/// Error of an edit that is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EditRefused {
    /// The new value is invalid.
    #[error(transparent)]
    Value(#[from] EditFault),
    /// The edit is not possible in this phase.
    #[error("this edit is not possible in this phase")]
    Phase,
}

/// Applies an edit to headers, request line or status.
///
/// # Errors
/// [`EditRefused`]; the message is then unchanged.
pub fn apply_to_fields(edit: &FilterEdit<'_>, head: &mut EditableSection<'_>) -> Result<(), EditRefused> {
    // `TE: trailers` is a flag, not a header: the serializer writes it for the next hop, as HTTP requires.
    if let (FilterEdit::Set { name, value: b"trailers" }, EditableSection::Request(head, _)) =
        (edit, &mut *head)
        && FieldId::from_name(name) == FieldId::Te
    {
        head.accepts_trailers = true;
        return Ok(());
    }
    if let FilterEdit::Set { .. } | FilterEdit::Add { .. } | FilterEdit::Remove { .. } = edit {
        return Ok(match head {
            EditableSection::Request(head, bytes) => change(edit, &mut head.edit(bytes)),
            EditableSection::Response(head, bytes) => change(edit, &mut head.edit(bytes)),
            EditableSection::Trailers(fields) => change(edit, fields),
        }?);
    }
    match (edit, head) {
        (FilterEdit::Method(name), EditableSection::Request(head, bytes)) => {
            Ok(head.set_method(bytes, name)?)
        }
        (FilterEdit::Target(target), EditableSection::Request(head, bytes)) => {
            Ok(head.set_target(bytes, target)?)
        }
        (FilterEdit::Authority(authority), EditableSection::Request(head, bytes)) => {
            Ok(head.set_authority(bytes, authority)?)
        }
        (FilterEdit::Status(status), EditableSection::Response(head, _)) => Ok(head.set_status(*status)?),
        _ => Err(EditRefused::Phase),
    }
}

/// Applies a change of trailers.
///
/// # Errors
/// [`EditRefused`]; the trailers are then unchanged.
pub fn apply_to_trailers(
    change: TrailerChange,
    name: &[u8],
    value: &[u8],
    fields: &mut FieldsEditor<'_>,
) -> Result<(), EditRefused> {
    Ok(match change {
        TrailerChange::Set => fields.set(name, value),
        TrailerChange::Add => fields.add(name, value),
        TrailerChange::Remove => fields.remove(name),
    }?)
}

fn change(edit: &FilterEdit<'_>, fields: &mut FieldsEditor<'_>) -> Result<(), EditFault> {
    if let FilterEdit::Set { name, value } = *edit {
        fields.set(name, value)
    } else if let FilterEdit::Add { name, value } = *edit {
        fields.add(name, value)
    } else if let FilterEdit::Remove { name } = *edit {
        fields.remove(name)
    } else {
        Ok(())
    }
}

/// Applies an edit to a body or a piece of one.
///
/// # Errors
/// [`EditRefused::Phase`] for an edit of another kind.
///
/// # Cost
/// Moves the bytes after the edit.
pub fn apply_to_body(edit: &FilterEdit<'_>, body: &mut Vec<u8>) -> Result<(), EditRefused> {
    if let FilterEdit::BodySet(value) = *edit {
        body.clear();
        body.extend_from_slice(value);
    } else if let FilterEdit::BodyAppend(value) = *edit {
        body.extend_from_slice(value);
    } else if let FilterEdit::BodyPrepend(value) = *edit {
        body.splice(..0, value.iter().copied());
    } else if let FilterEdit::BodyDrain(count) = *edit {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(body.len());
        body.drain(..count);
    } else {
        return Err(EditRefused::Phase);
    }
    Ok(())
}
