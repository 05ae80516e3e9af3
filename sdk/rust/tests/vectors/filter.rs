//! The filter of the vectors, which performs its configuration through the SDK.
#![expect(clippy::panic, reason = "how a filter that panics fails is part of the cases")]

use std::str;

use eddy_sdk::prelude::*;
use eddy_sdk::{Head, OnlyThere, Version};
use serde::Deserialize;
use serde_json::{Value, json};

use super::format::VectorBytes;

eddy_sdk::filters! { "vector" => Vector }

/// Performs its configuration.
pub(crate) struct Vector {
    config: VectorConfig,
}

/// Operations of each phase.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct VectorConfig {
    request_head: Vec<Operation>,
    request_body: Vec<Operation>,
    request_trailers: Vec<Operation>,
    response_head: Vec<Operation>,
    response_body: Vec<Operation>,
    response_trailers: Vec<Operation>,
    log: Vec<Operation>,
}

/// One operation.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Operation {
    r#do: String,
    what: String,
    r#as: String,
    name: VectorBytes,
    value: VectorBytes,
    number: u32,
    space: String,
    key: String,
    details: String,
    fields: Vec<(VectorBytes, VectorBytes)>,
    grpc: Option<u32>,
    then: Vec<Self>,
}

impl Filter for Vector {
    type Config = VectorConfig;
    type State = u64;
    const INTEREST: Interest = Interest::of(&Phase::ALL);

    fn new(config: VectorConfig, _: &Context) -> Result<Self, String> {
        Ok(Self { config })
    }

    fn request_head(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.request_head)
    }

    fn request_body(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.request_body)
    }

    fn request_trailers(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.request_trailers)
    }

    fn response_head(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.response_head)
    }

    fn response_body(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.response_body)
    }

    fn response_trailers(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        run(x, &self.config.response_trailers)
    }

    fn log(&self, x: &mut Exchange<'_, u64>) {
        let done = run(x, &self.config.log);
        assert!(done.is_ok(), "{done:?}");
    }
}

/// Performs the operations in order, up to the first that returns a verdict.
fn run(x: &mut Exchange<'_, u64>, operations: &[Operation]) -> Result<Verdict, Fault> {
    for operation in operations {
        let text = || String::from_utf8_lossy(&operation.value.0).into_owned();
        match operation.r#do.as_str() {
            "reply" => return Ok(reply(operation).into()),
            "buffer" => return Ok(Verdict::Buffer),
            "reset" => return Ok(Verdict::Reset),
            "fault" => return Err(Fault::new(text())),
            "panic" => panic!("{}", text()),
            "pause" => {
                let then = operation.then.clone();
                return x.elsewhere(move |x| run(x, &then));
            }
            _ => change(x, operation)?,
        }
    }
    Ok(Verdict::Continue)
}

fn reply(operation: &Operation) -> Reply {
    let status = u16::try_from(operation.number).unwrap_or_default();
    let reply = Reply::new(status).body(operation.value.0.clone()).details(operation.details.clone());
    let reply = operation.fields.iter().fold(reply, |reply, (name, value)| reply.field(&name.0, &value.0));
    operation.grpc.into_iter().fold(reply, Reply::grpc_status)
}

fn change(x: &mut Exchange<'_, u64>, operation: &Operation) -> Result<(), Fault> {
    let (name, value) = (operation.name.0.as_slice(), operation.value.0.as_slice());
    match operation.r#do.as_str() {
        "set" => x.set(name, value)?,
        "add" => x.add(name, value)?,
        "remove" => x.remove(name)?,
        "method" => x.set_method(str::from_utf8(value)?)?,
        "target" => x.set_target(value)?,
        "authority" => x.set_authority(value)?,
        "status" => x.set_status(u16::try_from(operation.number)?)?,
        "body_set" => x.set_body(value)?,
        "body_append" => x.append_body(value)?,
        "body_prepend" => x.prepend_body(value)?,
        "body_drain" => x.drain_body(operation.number)?,
        "metadata" if value.is_empty() => x.remove_metadata(&operation.space, &operation.key)?,
        "metadata" => {
            let value: Value = serde_json::from_slice(value)?;
            x.set_metadata(&operation.space, &operation.key, value)?;
        }
        "clear_route" => x.clear_route()?,
        "endpoint" => {
            let only = if operation.number == 1 { OnlyThere::Yes } else { OnlyThere::No };
            x.set_endpoint(str::from_utf8(value)?, only)?;
        }
        "see" => {
            let seen = see(x, operation)?;
            x.set_metadata("vector", &operation.r#as, seen)?;
        }
        other => return Err(Fault::new(format!("there is no operation {other:?}"))),
    }
    Ok(())
}

/// Returns the section of the phase.
fn section<'a>(x: &Exchange<'a, u64>) -> Head<'a> {
    match x.phase() {
        Phase::RequestHead | Phase::RequestBody => x.request(),
        Phase::RequestTrailers | Phase::ResponseTrailers => x.trailers(),
        Phase::ResponseHead | Phase::ResponseBody | Phase::Log => x.response(),
    }
}

fn see(x: &mut Exchange<'_, u64>, operation: &Operation) -> Result<Value, Fault> {
    let name = operation.name.0.as_slice();
    let first = |head: Head<'_>| head.get(name).map_or(Value::Null, seen);
    Ok(match operation.what.as_str() {
        "field" => first(section(x)),
        "request_field" => first(x.request()),
        "response_field" => first(x.response()),
        "values" => section(x).all(name).map(seen).collect(),
        "count" => json!(section(x).fields().len()),
        "fields" => {
            let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let pairs = section(x).fields();
            let mut pairs: Vec<_> =
                pairs.map(|field| (lossy(field.name).to_lowercase(), lossy(field.value))).collect();
            pairs.sort();
            json!(pairs)
        }
        "metadata" => x.metadata(&operation.space, &operation.key).unwrap_or_default(),
        "calls" => {
            *x.state() += 1;
            json!(*x.state())
        }
        what => fact(x, what)?,
    })
}

fn fact(x: &Exchange<'_, u64>, what: &str) -> Result<Value, Fault> {
    let about = x.about();
    Ok(match what {
        "method" => json!(x.method()),
        "target" => seen(x.target()),
        "path" => seen(x.path()),
        "query" => seen(x.query().unwrap_or_default()),
        "authority" => seen(x.authority()),
        "scheme" => json!(x.scheme()),
        "version" => json!(match x.version() {
            Version::Http10 => 10,
            Version::Http11 => 11,
            Version::Http2 => 20,
            Version::Http3 => 30,
        }),
        "peer" => json!(about.peer()),
        "local" => json!(about.local()),
        "listener" => json!(about.listener()),
        "rule" => json!(about.rule()),
        "cluster" => json!(about.cluster()),
        "endpoint" => json!(about.endpoint()),
        "request_id" => json!(about.request_id()),
        "details" => json!(about.details()),
        "attempts" => json!(about.attempts()),
        "request_bytes" => json!(about.request_bytes()),
        "response_bytes" => json!(about.response_bytes()),
        "body" => seen(x.body()),
        "status" => json!(x.status()),
        "last" => json!(x.is_end()),
        "local_reply" => json!(x.is_local()),
        "tls" => json!(x.is_tls()),
        "whole" => json!(x.is_buffered()),
        other => return Err(Fault::new(format!("there is nothing called {other:?} to see"))),
    })
}

/// Returns bytes in the form that the filter reports.
fn seen(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) if text.len() <= 1024 => json!(text),
        _ => json!({"bytes": bytes.len(), "sum": bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()}),
    }
}
