//! The effect of changes on a message.

use eddy_http::{EditFault, FieldId, FieldsEditor, RequestHead, ResponseHead};
use thiserror::Error;

use super::record::FilterEdit;

/// The section of a message that a change is for.
#[derive(Debug)]
pub enum EditableSection<'a> {
    /// A request's head and the bytes it was parsed from.
    Request(&'a mut RequestHead, &'a mut Vec<u8>),
    /// A response's head and the bytes it was parsed from.
    Response(&'a mut ResponseHead, &'a mut Vec<u8>),
    /// A trailer section.
    Trailers(FieldsEditor<'a>),
}

/// Why a change is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EditRefused {
    /// What is set cannot be so.
    #[error(transparent)]
    Value(#[from] EditFault),
    /// There is nothing to change in this way here.
    #[error("this change is not possible in this phase")]
    Phase,
}

/// Makes a change to fields, start line or status.
///
/// # Errors
/// [`EditRefused`]; the message is then as it was.
pub fn apply_to_fields(edit: &FilterEdit<'_>, head: &mut EditableSection<'_>) -> Result<(), EditRefused> {
    // No field of its own: the writer says so to the next hop, as HTTP asks for.
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

/// Makes a change to a body or a piece of one.
///
/// # Errors
/// [`EditRefused::Phase`] for a change of another kind.
///
/// # Cost
/// Moves what lies behind the change.
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
