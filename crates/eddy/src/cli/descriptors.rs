//! `eddy descriptors`: fetches protobuf descriptors and describes their HTTP API.

use std::fs;
use std::path::Path;

use anyhow::Context;
use eddy_protobuf::{JsonFieldNaming, Schema};

use super::arguments::{DescriptorsFetch, DescriptorsOpenapi};
use super::error::CommandError;
use crate::descriptors::{OpenApiOptions, fetch, open_api};
use crate::terminal::{print, print_error};

/// Fetches the descriptors of a server.
///
/// # Errors
/// When the server cannot be queried, or the file cannot be written.
pub(super) fn run_fetch(arguments: &DescriptorsFetch) -> Result<(), CommandError> {
    let set = fetch(&arguments.server, &arguments.services)?;
    replace(&arguments.output, &set)?;
    print_error(&format!("{} bytes of descriptors written to {}\n", set.len(), arguments.output.display()));
    Ok(())
}

/// Prints the HTTP API of descriptors.
///
/// # Errors
/// When the file cannot be read, or the descriptors are invalid.
pub(super) fn run_openapi(arguments: &DescriptorsOpenapi) -> Result<(), CommandError> {
    let path = arguments.descriptors.display();
    let descriptors = fs::read(&arguments.descriptors).with_context(|| format!("cannot read {path}"))?;
    let schema = Schema::from_descriptors(&descriptors).with_context(|| format!("{path} cannot be used"))?;
    let options = OpenApiOptions {
        services: &arguments.services,
        is_auto: arguments.auto,
        names: if arguments.declared_names { JsonFieldNaming::Declared } else { JsonFieldNaming::Json },
        title: &arguments.title,
        version: &arguments.api_version,
    };
    let told =
        open_api(schema, &options).with_context(|| format!("cannot describe the HTTP API of {path}"))?;
    for left_out in &told.left_out {
        print_error(&format!("omitted: {left_out}\n"));
    }
    print(&told.document)?;
    Ok(())
}

/// Replaces a file atomically, so that no reader sees a half-written file.
fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let mut name = path.file_name().context("the output is not a file")?.to_owned();
    name.push(format!(".{}", std::process::id()));
    let next = path.with_file_name(name);
    let written = fs::write(&next, content).and_then(|()| fs::rename(&next, path));
    if written.is_err() {
        // The temporary file is useless; the error of writing it is reported anyway.
        let _ = fs::remove_file(&next);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
