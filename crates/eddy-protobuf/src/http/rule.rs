//! Decodes the option `google.api.http` from descriptors.

use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::wire::{Items, WireValue};

/// An HTTP rule of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HttpRule<'d> {
    /// HTTP method; `*` for any. Empty if the rule has no path.
    pub(super) method: &'d str,
    pub(super) path: &'d str,
    pub(super) body: &'d str,
    pub(super) response_body: &'d str,
    pub(super) additional: Vec<Self>,
}

impl<'d> HttpRule<'d> {
    /// Returns the rule of a method with these `MethodOptions`, if it has one.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the options are malformed.
    pub(super) fn find(options: &'d [u8]) -> ProtobufResult<Option<Self>> {
        let mut items = Items::new(options, 1);
        let mut rule: Option<Self> = None;
        while let Some((number, item)) = items.next()? {
            if let (HTTP, WireValue::Bytes(bytes)) = (number, item) {
                // An option that occurs several times is merged.
                rule.get_or_insert_default().read(bytes, 0)?;
            }
        }
        Ok(rule)
    }

    fn read(&mut self, bytes: &'d [u8], depth: u8) -> ProtobufResult {
        let mut items = Items::new(bytes, 1);
        while let Some((number, item)) = items.next()? {
            let WireValue::Bytes(bytes) = item else { continue };
            match number {
                2..=6 => {
                    self.method = METHODS[number as usize - 2];
                    self.path = text(bytes)?;
                }
                7 => self.body = text(bytes)?,
                8 => self.read_custom(bytes)?,
                // Deeper nesting is an error anyway, reported for the first level.
                11 if depth < DEPTH_MAX => {
                    let mut rule = Self::default();
                    rule.read(bytes, depth + 1)?;
                    self.additional.push(rule);
                }
                12 => self.response_body = text(bytes)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Decodes a `CustomHttpPattern`.
    fn read_custom(&mut self, bytes: &'d [u8]) -> ProtobufResult {
        let mut items = Items::new(bytes, 1);
        while let Some((number, item)) = items.next()? {
            match (number, item) {
                (1, WireValue::Bytes(kind)) => self.method = text(kind)?,
                (2, WireValue::Bytes(path)) => self.path = text(path)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> ProtobufResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::new(0, ProtobufErrorKind::Utf8))
}

/// The extension `google.api.http` of `MethodOptions`.
const HTTP: u32 = 72_295_728;
/// HTTP methods of a rule's fields from number 2 on.
const METHODS: [&str; 5] = ["GET", "PUT", "POST", "DELETE", "PATCH"];
const DEPTH_MAX: u8 = 2;
