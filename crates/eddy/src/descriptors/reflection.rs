//! Fetches the descriptors of a server by gRPC server reflection.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use eddy_protobuf::{FieldWriter, Items, Schema, WireValue};

use super::call::GrpcClientCall;
use super::set::Gathered;

/// Address of a gRPC server: `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerAddress(String);

impl std::str::FromStr for ServerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        if port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0)) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected a host and a port, as in 127.0.0.1:50051".to_owned())
        }
    }
}

/// Fetches the `FileDescriptorSet` of these services of a server, or of all its services if none are given.
///
/// # Errors
/// When the server can't be reached, has no reflection, or does not have a service.
///
/// # Spec
/// [gRPC Server Reflection](https://github.com/grpc/grpc/blob/master/doc/server-reflection.md), `grpc.reflection.v1`,
/// or `v1alpha` if the server does not have it
pub(crate) fn fetch(server: &ServerAddress, services: &[String]) -> Result<Vec<u8>> {
    for service in SERVICES {
        let call = GrpcClientCall::begin(&server.0, &format!("/{service}/ServerReflectionInfo"))?;
        if let Some(set) = ask(call, services)? {
            Schema::from_descriptors(&set).context("the server's descriptors are inconsistent")?;
            return Ok(set);
        }
    }
    bail!("{} has no gRPC reflection (grpc.reflection); use protoc's --descriptor_set_out", server.0)
}

/// Requests the files of services and of their imports; `None` when the server does not implement the call.
fn ask(mut call: GrpcClientCall, services: &[String]) -> Result<Option<Vec<u8>>> {
    let listed = match call.ask(&question(LIST_SERVICES, "*"))? {
        Ok(answer) => names_of(&answer)?,
        Err(ended) if ended.is_unimplemented() => return Ok(None),
        Err(ended) => bail!("{ended}"),
    };
    let is_own = |name: &String| SERVICES.contains(&name.as_str());
    let wanted: BTreeSet<String> = if services.is_empty() {
        listed.into_iter().filter(|name| !is_own(name)).collect()
    } else {
        for service in services {
            let known = || listed.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            ensure!(listed.contains(service), "the server has no service {service}; it has {}", known());
        }
        services.iter().cloned().collect()
    };
    ensure!(!wanted.is_empty(), "the server has no service except reflection");
    let mut gathered = Gathered::default();
    for service in &wanted {
        add_files(&mut call, &mut gathered, FILE_OF_SYMBOL, service)?;
    }
    while let Some(missing) = gathered.missing().map(str::to_owned) {
        add_files(&mut call, &mut gathered, FILE_BY_NAME, &missing)?;
        ensure!(gathered.missing() != Some(&missing), "the server does not return the file {missing}");
    }
    Ok(Some(gathered.into_set()))
}

fn add_files(call: &mut GrpcClientCall, gathered: &mut Gathered, kind: u32, name: &str) -> Result<()> {
    let answer = match call.ask(&question(kind, name))? {
        Ok(answer) => answer,
        Err(ended) => bail!("{name}: {ended}"),
    };
    values(part_of(&answer, FILES, name)?, 1)?.into_iter().try_for_each(|file| gathered.add(file))
}

/// Encodes a `ServerReflectionRequest`.
fn question(kind: u32, name: &str) -> Vec<u8> {
    let mut message = Vec::new();
    FieldWriter::new(&mut message).bytes(kind, name.as_bytes());
    message
}

/// Returns the names in a `ListServiceResponse`.
fn names_of(answer: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for service in values(part_of(answer, NAMES, "the list of services")?, 1)? {
        names.extend(values(service, 1)?.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()));
    }
    Ok(names)
}

/// Returns the requested part of a `ServerReflectionResponse`.
fn part_of<'a>(answer: &'a [u8], wanted: u32, about: &str) -> Result<&'a [u8]> {
    let mut items = Items::new(answer, DEPTH_MAX);
    let mut part = None;
    while let Some((number, item)) = items.next().context("the response of the server is malformed")? {
        let WireValue::Bytes(bytes) = item else { continue };
        if number == wanted {
            part = Some(bytes);
        } else if number == ERROR {
            let message = String::from_utf8_lossy(values(bytes, 2)?.pop().unwrap_or_default());
            bail!("{about}: the server reports \"{message}\"");
        }
    }
    part.with_context(|| format!("{about}: missing in the response of the server"))
}

/// Returns the values of a field with texts, bytes or messages.
fn values(message: &[u8], wanted: u32) -> Result<Vec<&[u8]>> {
    let (mut items, mut values) = (Items::new(message, DEPTH_MAX), Vec::new());
    while let Some((number, item)) = items.next()? {
        if let WireValue::Bytes(value) = item
            && number == wanted
        {
            values.push(value);
        }
    }
    Ok(values)
}

/// Reflection services, the newer version first.
const SERVICES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

// Field numbers of `ServerReflectionRequest`.
const FILE_BY_NAME: u32 = 3;
const FILE_OF_SYMBOL: u32 = 4;
const LIST_SERVICES: u32 = 7;
// Field numbers of `ServerReflectionResponse`.
const FILES: u32 = 4;
const NAMES: u32 = 6;
const ERROR: u32 = 7;

/// Depth limit for groups, which these messages don't use.
const DEPTH_MAX: u32 = 8;
