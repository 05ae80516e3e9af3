use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use eddy_filter::{
    EndReason, EndedExchange, EventKind, FilterLogLevel, HostError, MetricKind, Phase, Verdict,
};
use eddy_http::{Field, FieldId, Span};

use super::*;

/// Name in C and value in Rust of every constant that both sides must agree on.
type LayoutConstants = Vec<(String, i64)>;

macro_rules! layout {
    ($facts:ident, $c:literal, $rust:ty, [$($field:ident)*]) => {
        push(&mut $facts, concat!("sizeof(", $c, ")"), size_of::<$rust>());
        push(&mut $facts, concat!("_Alignof(", $c, ")"), align_of::<$rust>());
        $(push(
            &mut $facts,
            concat!("offsetof(", $c, ", ", stringify!($field), ")"),
            offset_of!($rust, $field),
        );)*
    };
}

fn push(facts: &mut LayoutConstants, name: &str, value: usize) {
    facts.push((name.to_owned(), i64::try_from(value).unwrap()));
}

fn layouts() -> LayoutConstants {
    let mut facts = LayoutConstants::new();
    layout!(facts, "eddy_text", NativeText, [data len]);
    layout!(facts, "eddy_span", Span, [start end]);
    layout!(facts, "eddy_field", Field, [name value id]);
    push(&mut facts, "offsetof(eddy_field, flags)", offset_of!(Field, is_nominated));
    push(&mut facts, "offsetof(eddy_field, reserved)", offset_of!(Field, is_own));
    layout!(facts, "eddy_head", NativeHead, [bytes fields bytes_len fields_len]);
    layout!(facts, "eddy_step", NativeStep, [filter config state id nanos verdict flags reserved reserved2]);
    layout!(facts, "eddy_pair", NativePair, [space key value]);
    layout!(facts, "eddy_about", NativeAbout, [
        peer local listener rule cluster endpoint request_id details metadata metadata_len started_unix_us
        duration_us connection request_bytes response_bytes attempts
    ]);
    layout!(facts, "eddy_ended", EndedExchange, [filter state reason]);
    layout!(facts, "eddy_call", NativeCall, [
        abi size worker status phase flags version method exchange turn steps_len steps request response
        trailers method_name target authority scheme body about edits edits_cap edits_len ended ended_len
        stopped current
    ]);
    layout!(facts, "eddy_metric", MetricCells, [cells stride]);
    layout!(facts, "eddy_outbound", NativeOutbound, [
        size filter token exchange cluster method target authority fields fields_len timeout_ms body
    ]);
    layout!(facts, "eddy_event", NativeEvent, [size kind token filter worker status head body]);
    layout!(facts, "eddy_host", HostTable, [
        abi size workers level resume edits_grow log metric send cancel memory_soft_bytes about
    ]);
    layout!(facts, "eddy_filter_info", Info, [size interest filter flags]);
    layout!(facts, "eddy_library", NativeLibraryTable, [
        abi size sdk toolchain filters filters_len filter_new config_new config_free filter_free run event
        stop flags reserved
    ]);
    facts
}

fn numbers() -> LayoutConstants {
    let mut facts = LayoutConstants::new();
    let mut fact = |name: &str, value: i64| facts.push((name.to_owned(), value));
    fact("EDDY_ABI", ABI.into());
    for (name, phase) in [
        ("EDDY_REQUEST_HEAD", Phase::RequestHead),
        ("EDDY_REQUEST_BODY", Phase::RequestBody),
        ("EDDY_REQUEST_TRAILERS", Phase::RequestTrailers),
        ("EDDY_RESPONSE_HEAD", Phase::ResponseHead),
        ("EDDY_RESPONSE_BODY", Phase::ResponseBody),
        ("EDDY_RESPONSE_TRAILERS", Phase::ResponseTrailers),
        ("EDDY_LOG", Phase::Log),
        ("EDDY_END", Phase::End),
    ] {
        fact(name, phase as i64);
    }
    for (name, verdict) in [
        ("EDDY_CONTINUE", Verdict::Continue),
        ("EDDY_REPLY", Verdict::Reply),
        ("EDDY_PAUSE", Verdict::Pause),
        ("EDDY_BUFFER", Verdict::Buffer),
        ("EDDY_FAULT", Verdict::Fault),
        ("EDDY_RESET", Verdict::Reset),
    ] {
        fact(name, verdict as i64);
    }
    for (name, error) in [
        ("EDDY_GONE", HostError::Gone),
        ("EDDY_STALE", HostError::Stale),
        ("EDDY_TOO_LARGE", HostError::TooLarge),
        ("EDDY_FULL", HostError::Full),
        ("EDDY_INVALID", HostError::Invalid),
        ("EDDY_UNKNOWN", HostError::Unknown),
    ] {
        fact(name, error as i64);
    }
    for (name, value) in [
        ("EDDY_OK", OK.into()),
        ("EDDY_TRACE", FilterLogLevel::Trace as i64),
        ("EDDY_OFF", FilterLogLevel::Off as i64),
        ("EDDY_COUNTER", MetricKind::Counter as i64),
        ("EDDY_GAUGE", MetricKind::Gauge as i64),
        ("EDDY_HISTOGRAM", MetricKind::Histogram as i64),
        ("EDDY_EVENT_RESPONSE", EventKind::Response as i64),
        ("EDDY_EVENT_FAILED", EventKind::Failed as i64),
        ("EDDY_END_COMPLETE", EndReason::Complete as i64),
        ("EDDY_END_CUT", EndReason::Cut as i64),
        ("EDDY_CALL_END", CALL_END.into()),
        ("EDDY_CALL_SAMPLED", CALL_SAMPLED.into()),
        ("EDDY_CALL_LOCAL", CALL_LOCAL.into()),
        ("EDDY_CALL_BUFFERED", CALL_BUFFERED.into()),
        ("EDDY_CALL_TLS", CALL_TLS.into()),
        ("EDDY_STEP_BLOCKING", STEP_BLOCKING.into()),
        ("EDDY_FILTER_READS_BODY", FILTER_READS_BODY.into()),
        ("EDDY_LIBRARY_ASKS_ABOUT", LIBRARY_ASKS_ABOUT.into()),
        ("EDDY_FILTER_EXPECTS_TUNNELS", FILTER_EXPECTS_TUNNELS.into()),
        ("EDDY_FIELD_OTHER", FieldId::Other as i64),
        ("EDDY_FIELD_HOST", FieldId::Host as i64),
        ("EDDY_FIELD_X_FORWARDED", FieldId::XForwarded as i64),
        ("EDDY_FIELD_ALIAS", FieldId::Alias as i64),
        ("EDDY_FIELD_NOMINATED", 1),
    ] {
        fact(name, value);
    }
    for name in field_names() {
        let id = FieldId::from_name(name.as_bytes());
        assert!(id.is_known(), "{name}");
        fact(&format!("EDDY_FIELD_{}", name.to_uppercase().replace('-', "_")), id as i64);
    }
    facts
}

/// Returns the field names that have numbers in the header.
fn field_names() -> Vec<String> {
    let header = std::fs::read_to_string(header_path()).unwrap();
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define EDDY_FIELD_"));
    let names = defined.filter_map(|rest| rest.split(' ').next());
    let special = ["OTHER", "NOMINATED", "X_FORWARDED", "ALIAS"];
    names.filter(|name| !special.contains(name)).map(|name| name.to_lowercase().replace('_', "-")).collect()
}

fn header_path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/eddy_filter.h")
}

#[test]
fn both_compilers_agree() {
    let facts = [layouts(), numbers()].concat();
    assert!(facts.len() > 200, "{}", facts.len());
    let mut source = String::from("#include <stdio.h>\n#include \"eddy_filter.h\"\nint main(void) {\n");
    for (name, _) in &facts {
        writeln!(source, "  printf(\"%s\\t%lld\\n\", \"{name}\", (long long)({name}));").unwrap();
    }
    source.push_str("  return 0;\n}\n");
    let folder = std::env::temp_dir().join(format!("eddy-abi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("probe.c"), folder.join("probe"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-I"])
        .arg(header_path().parent().unwrap())
        .arg("-o")
        .args([&program, &file])
        .status()
        .unwrap();
    assert!(built.success(), "the header does not compile");
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: BTreeMap<&str, i64> = text
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    for (name, ours) in &facts {
        assert_eq!(theirs.get(&**name), Some(ours), "{name}");
    }
}
