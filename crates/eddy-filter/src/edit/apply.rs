//! The effect of changes on a message.

use eddy_http::{EditFault, FieldsEditor, RequestHead, ResponseHead};
use thiserror::Error;

use super::record::Edit;

/// The section of a message that a change is for.
#[derive(Debug)]
pub enum Head<'a> {
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
pub fn apply_to_fields(edit: &Edit<'_>, head: &mut Head<'_>) -> Result<(), EditRefused> {
    match (edit, head) {
        (Edit::Set { .. } | Edit::Add { .. } | Edit::Remove { .. }, head) => {
            let mut fields = match head {
                Head::Request(head, bytes) => return Ok(change(edit, &mut head.edit(bytes))?),
                Head::Response(head, bytes) => head.edit(bytes),
                Head::Trailers(fields) => return Ok(change(edit, fields)?),
            };
            Ok(change(edit, &mut fields)?)
        }
        (Edit::Method(name), Head::Request(head, bytes)) => Ok(head.set_method(bytes, name)?),
        (Edit::Target(target), Head::Request(head, bytes)) => Ok(head.set_target(bytes, target)?),
        (Edit::Authority(authority), Head::Request(head, bytes)) => Ok(head.set_authority(bytes, authority)?),
        (Edit::Status(status), Head::Response(head, _)) => Ok(head.set_status(*status)?),
        _ => Err(EditRefused::Phase),
    }
}

fn change(edit: &Edit<'_>, fields: &mut FieldsEditor<'_>) -> Result<(), EditFault> {
    match *edit {
        Edit::Set { name, value } => fields.set(name, value),
        Edit::Add { name, value } => fields.add(name, value),
        Edit::Remove { name } => fields.remove(name),
        _ => Ok(()),
    }
}

/// Makes a change to a body or a piece of one.
///
/// # Errors
/// [`EditRefused::Phase`] for a change of another kind.
///
/// # Cost
/// Moves what lies behind the change.
pub fn apply_to_body(edit: &Edit<'_>, body: &mut Vec<u8>) -> Result<(), EditRefused> {
    match *edit {
        Edit::BodySet(value) => {
            body.clear();
            body.extend_from_slice(value);
        }
        Edit::BodyAppend(value) => body.extend_from_slice(value),
        Edit::BodyPrepend(value) => {
            body.splice(..0, value.iter().copied());
        }
        Edit::BodyDrain(count) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(body.len());
            body.drain(..count);
        }
        _ => return Err(EditRefused::Phase),
    }
    Ok(())
}
