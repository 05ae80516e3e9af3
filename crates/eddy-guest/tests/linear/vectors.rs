//! The cases of `abi/vectors`, which every guest answers alike; their format is told there.

use std::path::Path;

use eddy_filter::{About, EndReason, Ended, Handle, Metadata, Phase, RequestView, ResponseView, Step, View};
use eddy_guest::{Graveyard, Guest, MadeFilter};
use eddy_http::{Field, FieldId, Fields, Method, Span, Version};
use serde_json::Value;

use super::support::Bench;

#[test]
fn a_module_answers_as_every_guest() {
    let Some(bench) = Bench::start() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/vectors");
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for case in list(&file["cases"]) {
            let found = run_case(&bench, case, count);
            let place = format!("{}: {}", path.file_stem().unwrap().display(), case["name"]);
            wrong.extend(found.into_iter().map(|what| format!("{place}: {what}")));
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 100, "there are only {count} cases");
}

fn run_case(bench: &Bench, case: &Value, slot: usize) -> Vec<String> {
    let graveyard = Graveyard::new(|| ());
    let made: Vec<(MadeFilter, Step)> = list(&case["steps"])
        .iter()
        .map(|step| {
            let (filter, mut entered) = bench.made("vector", &step["config"].to_string());
            if let Some(rule) = step.get("rule") {
                let rule = rule.to_string();
                entered.config =
                    bench.library.rule_config(filter.number, &filter.owner, &rule, &graveyard).unwrap().0;
            }
            (filter, entered)
        })
        .collect();
    let exchange = bench.exchange(slot % 1000);
    let mut steps: Vec<Step> = made.iter().map(|(_, step)| *step).collect();
    let mut wrong = Vec::new();
    for (index, call) in list(&case["calls"]).iter().enumerate() {
        let found = run_call(bench, call, exchange, &mut steps);
        wrong.extend(found.into_iter().map(|what| format!("call {index}: {what}")));
    }
    let ended: Vec<Ended> = steps
        .iter()
        .filter(|step| step.state != 0)
        .map(|step| Ended { filter: step.filter, state: step.state, reason: EndReason::Complete })
        .collect();
    bench.run(exchange, &mut [], None, &ended);
    bench.host.handles.close(exchange);
    wrong
}

fn run_call(bench: &Bench, call: &Value, exchange: Handle, steps: &mut [Step]) -> Vec<String> {
    let phase = Phase::ALL.into_iter().find(|phase| phase.name() == call["phase"]).unwrap();
    let is_set = |name: &str| call[name].as_bool().unwrap_or(false);
    let request = call.get("request");
    let text_of = |value: &Value, otherwise: &str| bytes_or(value, otherwise);
    let request_part = |name: &str, otherwise: &str| {
        request.map_or_else(|| otherwise.as_bytes().to_vec(), |request| text_of(&request[name], ""))
    };
    let (method, target) = (request_part("method", "GET"), request_part("target", "/"));
    let authority = request_part("authority", "example.com");
    let section = request.map_or_else(Section::host, |request| Section::of(&request["fields"]));
    let response = Section::of(&call["response"]["fields"]);
    let trailers = Section::of(&call["trailers"]);
    let body = bytes(&call["body"]);
    let mut metadata = Metadata::new();
    for entry in list(&call["metadata"]) {
        let part = |index: usize| bytes(&entry[index]);
        metadata.set(&part(0), &part(1), &part(2)).unwrap();
    }
    let about = &call["about"];
    let texts: Vec<Vec<u8>> =
        ["peer", "local", "listener", "rule", "cluster", "endpoint", "request_id", "details"]
            .iter()
            .map(|name| bytes(&about[name]))
            .collect();
    let number = |name: &str| about[name].as_u64().unwrap_or(0);
    let has_trailers = matches!(phase, Phase::RequestTrailers | Phase::ResponseTrailers);
    let view = View {
        phase,
        is_end: is_set("end"),
        is_buffered: is_set("buffered"),
        request: RequestView {
            fields: section.fields(),
            method: Method::from_bytes(&method),
            method_name: &method,
            target: &target,
            authority: &authority,
            version: if request.is_some_and(|request| request["version"] == 10) {
                Version::Http10
            } else {
                Version::Http11
            },
            is_tls: is_set("tls") || request.is_some_and(|request| request["scheme"] == "https"),
        },
        response: (phase >= Phase::ResponseHead).then(|| ResponseView {
            fields: response.fields(),
            status: u16::try_from(call["response"]["status"].as_u64().unwrap_or(200)).unwrap(),
            is_local: is_set("local"),
        }),
        trailers: if has_trailers { trailers.fields() } else { Fields::default() },
        body: &body,
        about: About {
            peer: &texts[0],
            local: &texts[1],
            listener: &texts[2],
            rule: &texts[3],
            cluster: &texts[4],
            endpoint: &texts[5],
            request_id: &texts[6],
            details: &texts[7],
            metadata: Some(&metadata),
            attempts: u32::try_from(number("attempts")).unwrap(),
            request_bytes: number("request_bytes"),
            response_bytes: number("response_bytes"),
            ..About::default()
        },
    };
    bench.host.resumed.lock().unwrap().clear();
    let mut outcome = bench.run(exchange, steps, Some(&view), &[]);
    let expected = &call["expect"];
    let mut wrong = Vec::new();
    if phase == Phase::Log {
        return wrong;
    }
    let stopped =
        expected["stopped"].as_u64().map_or(steps.len(), |stopped| usize::try_from(stopped).unwrap());
    if (outcome.stopped, outcome.current) != (stopped, 0) {
        wrong.push(format!("stopped at {}, not {stopped}", outcome.stopped));
    }
    for (index, step) in outcome.steps.iter().enumerate().take(stopped + 1) {
        let verdict = expected["verdicts"][index].as_str().unwrap_or("continue");
        if format!("{:?}", step.verdict).to_lowercase() != verdict {
            wrong.push(format!("step {index} says {:?}, not {verdict}", step.verdict));
        }
    }
    wrong.extend(compare(outcome.edits.bytes_mut(), &expected["edits"]));
    if let Some(resume) = expected.get("resume") {
        match bench.host.resumed.lock().unwrap().as_slice() {
            [(verdict, edits)] => {
                if format!("{verdict:?}").to_lowercase() != resume["verdict"].as_str().unwrap() {
                    wrong.push(format!("resumed with {verdict:?}"));
                }
                wrong.extend(compare(edits, &resume["edits"]));
            }
            other => wrong.push(format!("{} resumptions", other.len())),
        }
    }
    wrong
}

/// Compares a log, record by record, with what is expected.
fn compare(mut log: &[u8], expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, edit) in list(expected).iter().enumerate() {
        let Some((record, rest)) = Record::first(log) else {
            wrong.push(format!("edit {index} is missing: {edit}"));
            continue;
        };
        log = rest;
        let name = match edit["op"].as_str() {
            Some("metadata") => [bytes(&edit["space"]), b"\0".to_vec(), bytes(&edit["key"])].concat(),
            _ => bytes(&edit["name"]),
        };
        let is_value = if let Some(part) = edit["contains"].as_str() {
            String::from_utf8_lossy(record.value).contains(part)
        } else if let Some(json) = edit.get("json") {
            // eddy's own messages have no version above 1.1.
            let is_version = edit["key"] == "version" && *json == 20;
            let json = if is_version { &Value::from(11) } else { json };
            serde_json::from_slice::<Value>(record.value).is_ok_and(|value| value == *json)
        } else {
            record.value == bytes(&edit["value"])
        };
        let op = OPS.iter().position(|op| edit["op"] == *op).unwrap() + 1;
        let is_same = usize::from(record.op) == op
            && u64::from(record.step) == edit["step"].as_u64().unwrap_or(0)
            && u64::from(record.number) == edit["number"].as_u64().unwrap_or(0)
            && record.name.eq_ignore_ascii_case(&name)
            && is_value;
        if !is_same {
            wrong.push(format!("edit {index}: {record:.300?}, not {edit:.300}"));
        }
    }
    if !log.is_empty() {
        wrong.push(format!("{} bytes of edits too many", log.len()));
    }
    wrong
}

#[derive(Debug)]
struct Record<'a> {
    op: u16,
    step: u16,
    number: u32,
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Record<'a> {
    fn first(log: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let short = |at: usize| Some(u16::from_le_bytes(log.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(u32::from_le_bytes(log.get(at..at + 4)?.try_into().ok()?));
        let name_end = 16 + long(4)? as usize;
        let value_end = name_end + long(8)? as usize;
        let record = Self {
            op: short(0)?,
            step: short(2)?,
            number: long(12)?,
            name: log.get(16..name_end)?,
            value: log.get(name_end..value_end)?,
        };
        Some((record, log.get(value_end.next_multiple_of(8)..)?))
    }
}

/// Fields laid out as eddy's parser does it.
struct Section {
    bytes: Vec<u8>,
    places: Vec<Field>,
}

impl Section {
    fn host() -> Self {
        let mut section = Self { bytes: Vec::new(), places: Vec::new() };
        section.add(b"Host", b"example.com");
        section
    }

    fn of(fields: &Value) -> Self {
        let mut section = Self { bytes: Vec::new(), places: Vec::new() };
        for field in list(fields) {
            let name = String::from_utf8(bytes(&field[0])).unwrap();
            for index in 0..field[2].as_u64().unwrap_or(1) {
                section.add(name.replace('#', &index.to_string()).as_bytes(), &bytes(&field[1]));
            }
        }
        section
    }

    fn add(&mut self, name: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.places.push(Field {
            name: Span::new(start, middle),
            value: Span::new(middle, self.bytes.len()),
            id: FieldId::from_name(name),
            ..Field::default()
        });
    }

    fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.places)
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn bytes_or(value: &Value, otherwise: &str) -> Vec<u8> {
    if value.is_null() { otherwise.as_bytes().to_vec() } else { bytes(value) }
}

/// A text of the format: as it is, in hexadecimal, or repeated.
fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value.as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(hex) = value["hex"].as_str() {
        return (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
    }
    value["repeat"]
        .as_str()
        .map(|text| text.repeat(usize::try_from(value["times"].as_u64().unwrap()).unwrap()).into_bytes())
        .unwrap_or_default()
}

const OPS: [&str; 18] = [
    "set",
    "add",
    "remove",
    "method",
    "target",
    "authority",
    "status",
    "body_set",
    "body_append",
    "body_prepend",
    "body_drain",
    "reply",
    "reply_field",
    "metadata",
    "clear_route",
    "endpoint",
    "fault",
    "reply_grpc",
];
