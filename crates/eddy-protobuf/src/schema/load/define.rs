//! Definition of names: every message, enum and service gets its index before any is linked.

use super::features::{Features, option};
use super::raw::{RawEnum, RawField, RawFile, RawMessage, RawService, malformed};
use crate::schema::tables::SchemaSymbol;
use crate::schema::{EnumId, Enumeration, MessageDescriptor, MessageId, Schema, SchemaError};

/// A schema whose messages have no fields yet, and the remaining work.
#[derive(Default)]
pub(super) struct Defining<'r, 'd> {
    pub(super) schema: Schema,
    /// One per message.
    pub(super) messages: Vec<Pending<'r, 'd>>,
    pub(super) extensions: Vec<Extension<'r, 'd>>,
    pub(super) services: Vec<(&'r RawFile<'d>, &'r RawService<'d>, Box<str>)>,
}

/// A message whose fields are not linked yet.
pub(super) struct Pending<'r, 'd> {
    pub(super) file: &'r RawFile<'d>,
    pub(super) raw: &'r RawMessage<'d>,
    pub(super) features: Features,
}

/// An extension whose message is not linked yet.
pub(super) struct Extension<'r, 'd> {
    pub(super) file: &'r RawFile<'d>,
    pub(super) raw: &'r RawField<'d>,
    pub(super) scope: Box<str>,
    pub(super) features: Features,
}

impl<'r, 'd> Defining<'r, 'd> {
    pub(super) fn file(&mut self, file: &'r RawFile<'d>, features: Features) -> Result<(), SchemaError> {
        for message in &file.messages {
            self.message(file, file.package, message, features)?;
        }
        for enumeration in &file.enums {
            self.enumeration(file, file.package, enumeration, features)?;
        }
        for extension in &file.extensions {
            self.extensions.push(Extension { file, raw: extension, scope: file.package.into(), features });
        }
        for service in &file.services {
            let name = join(file.package, service.name);
            self.name(file, &name, SchemaSymbol::Service(self.services.len()))?;
            self.services.push((file, service, name));
        }
        Ok(())
    }

    fn message(
        &mut self,
        file: &'r RawFile<'d>,
        scope: &str,
        raw: &'r RawMessage<'d>,
        outer: Features,
    ) -> Result<(), SchemaError> {
        let name = join(scope, raw.name);
        let features = outer.with(raw.options, MESSAGE_FEATURES).map_err(malformed)?;
        let id = MessageId(self.number(file, &name, self.schema.messages.len())?);
        self.name(file, &name, SchemaSymbol::Message(id))?;
        let is_map_entry = option(raw.options, MAP_ENTRY).map_err(malformed)? == Some(1);
        let oneofs = raw.oneofs.iter().map(|oneof| oneof.name.into()).collect();
        self.schema.messages.push(MessageDescriptor::build(
            name.clone(),
            is_map_entry,
            oneofs,
            raw.options.into(),
        ));
        self.messages.push(Pending { file, raw, features });
        for nested in &raw.nested {
            self.message(file, &name, nested, features)?;
        }
        for enumeration in &raw.enums {
            self.enumeration(file, &name, enumeration, features)?;
        }
        for extension in &raw.extensions {
            self.extensions.push(Extension { file, raw: extension, scope: name.clone(), features });
        }
        Ok(())
    }

    fn enumeration(
        &mut self,
        file: &RawFile<'_>,
        scope: &str,
        raw: &RawEnum<'_>,
        outer: Features,
    ) -> Result<(), SchemaError> {
        let name = join(scope, raw.name);
        let features = outer.with(raw.options, ENUM_FEATURES).map_err(malformed)?;
        let id = EnumId(self.number(file, &name, self.schema.enums.len())?);
        self.name(file, &name, SchemaSymbol::Enum(id))?;
        if raw.values.len() > INDEX_MAX {
            return Err(too_many(file, &name, "values"));
        }
        let values = raw.values.iter().map(|value| (value.name.into(), value.number)).collect();
        self.schema.enums.push(Enumeration::build(name, values, features.is_enum_closed));
        Ok(())
    }

    fn name(&mut self, file: &RawFile<'_>, name: &str, named: SchemaSymbol) -> Result<(), SchemaError> {
        match self.schema.names.insert(name.into(), named) {
            None => Ok(()),
            Some(_) => Err(SchemaError::NameTwice { file: file.name.to_owned(), name: name.to_owned() }),
        }
    }

    fn number(&self, file: &RawFile<'_>, name: &str, number: usize) -> Result<u32, SchemaError> {
        u32::try_from(number).map_err(|_| too_many(file, name, "messages"))
    }
}

pub(super) fn too_many(file: &RawFile<'_>, name: &str, what: &'static str) -> SchemaError {
    SchemaError::TooMany { file: file.name.to_owned(), name: name.to_owned(), what, max: INDEX_MAX }
}

pub(super) fn join(scope: &str, name: &str) -> Box<str> {
    if scope.is_empty() { name.into() } else { format!("{scope}.{name}").into() }
}

/// Fields of a message and values of an enum have 16-bit indexes.
pub(super) const INDEX_MAX: usize = 65_000;
/// `MessageOptions.map_entry`.
const MAP_ENTRY: u32 = 7;
/// `MessageOptions.features`.
const MESSAGE_FEATURES: u32 = 12;
/// `EnumOptions.features`.
const ENUM_FEATURES: u32 = 7;
