//! Files: decoded from the set, their names defined, then linked.

use super::define::Defining;
use super::features::Features;
use super::link;
use super::raw::{Raw, RawFile, malformed};
use crate::fault::{ProtobufError, ProtobufErrorKind};
use crate::schema::{Schema, SchemaError};
use crate::wire::{Items, WireValue};

impl Schema {
    /// Compiles descriptors as written by `protoc --include_imports --descriptor_set_out` and sent by server
    /// reflection.
    ///
    /// # Errors
    /// [`SchemaError`], with the file, message and field.
    pub fn from_descriptors(file_descriptor_set: &[u8]) -> Result<Self, SchemaError> {
        load(file_descriptor_set)
    }
}

/// Compiles a `FileDescriptorSet`.
fn load(set: &[u8]) -> Result<Schema, SchemaError> {
    let mut texts = Vec::new();
    let mut items = Items::new(set, 100);
    while let Some((number, item)) = items.next().map_err(malformed)? {
        if let (1, WireValue::Bytes(file)) = (number, item) {
            let place = items.offset() - file.len() as u64;
            texts.push((file, place));
        }
    }
    if texts.is_empty() {
        return Err(malformed(ProtobufError::new(0, ProtobufErrorKind::Truncated)));
    }
    let mut files: Vec<(RawFile<'_>, &[u8])> = Vec::new();
    for (text, place) in texts {
        let file =
            RawFile::read(text).map_err(|fault| malformed(ProtobufError { offset: place, ..fault }))?;
        match files.iter().find(|(other, _)| other.name == file.name) {
            // Server reflection may send a file with each response.
            Some((_, other)) if *other == text => {}
            Some(_) => return Err(SchemaError::FileTwice { file: file.name.to_owned() }),
            None => files.push((file, text)),
        }
    }
    let mut defining = Defining::default();
    for (file, _) in &files {
        defining.file(file, features_of(file)?)?;
    }
    link::link(defining)
}

fn features_of(file: &RawFile<'_>) -> Result<Features, SchemaError> {
    let basis = match (file.syntax, file.edition) {
        ("" | "proto2", _) | ("editions", EDITION_PROTO2) => Features::PROTO2,
        ("proto3", _) | ("editions", EDITION_PROTO3) => Features::PROTO3,
        ("editions", EDITION_2023 | EDITION_2024) => Features::EDITIONS,
        ("editions", edition) => return Err(SchemaError::Edition { file: file.name.to_owned(), edition }),
        (syntax, _) => {
            return Err(SchemaError::Syntax { file: file.name.to_owned(), syntax: syntax.to_owned() });
        }
    };
    basis.with(file.options, FILE_FEATURES).map_err(malformed)
}

const EDITION_PROTO2: u64 = 998;
const EDITION_PROTO3: u64 = 999;
const EDITION_2023: u64 = 1000;
const EDITION_2024: u64 = 1001;
/// `FileOptions.features`.
const FILE_FEATURES: u32 = 50;
