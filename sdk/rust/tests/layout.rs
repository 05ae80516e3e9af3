//! The filter ABI in Rust equals that in C: sizes, offsets and numbers, as a C compiler computes them from the
//! header.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_sdk::abi;

/// Compares every member of structures: the header's name, ours, and the members.
macro_rules! structures {
    ($($c:literal = $rust:ident { $($member:ident),* $(,)? })*) => {
        /// Returns the expressions for the C compiler, and the expected results.
        fn expected() -> Vec<(String, i64)> {
            let mut all = Vec::new();
            $(
                all.push((format!("sizeof({})", $c), number(size_of::<abi::$rust>())));
                all.push((format!("_Alignof({})", $c), number(align_of::<abi::$rust>())));
                $(
                    let place = format!("offsetof({}, {})", $c, stringify!($member));
                    all.push((place, number(offset_of!(abi::$rust, $member))));
                )*
            )*
            all
        }

        /// The compared structures, with the number of their members.
        const STRUCTURES: &[(&str, usize)] = &[$(($c, [$(stringify!($member)),*].len())),*];
    };
}

structures! {
    "eddy_text" = AbiText { data, len }
    "eddy_span" = AbiSpan { start, end }
    "eddy_field" = AbiField { name, value, id, flags, reserved }
    "eddy_head" = AbiHead { bytes, fields, bytes_len, fields_len }
    "eddy_edit" = AbiEdit { op, step, name_len, value_len, number }
    "eddy_step" = AbiStep { filter, config, state, id, nanos, verdict, flags, reserved, reserved2 }
    "eddy_pair" = AbiPair { space, key, value }
    "eddy_about" = AbiAbout {
        peer, local, listener, rule, cluster, endpoint, request_id, details, metadata, metadata_len,
        started_unix_us, duration_us, connection, request_bytes, response_bytes, attempts, reserved,
    }
    "eddy_ended" = AbiExchangeEnd { filter, state, reason, reserved }
    "eddy_call" = AbiCall {
        abi, size, worker, status, phase, flags, version, method, exchange, turn, steps_len, steps, request,
        response, trailers, method_name, target, authority, scheme, body, about, edits, edits_cap, edits_len,
        ended, ended_len, stopped, current,
    }
    "eddy_metric" = Metric { cells, stride, reserved }
    "eddy_outbound" = AbiOutbound {
        size, filter, token, exchange, cluster, method, target, authority, fields, fields_len, timeout_ms, body,
    }
    "eddy_event" = AbiEvent { size, kind, token, filter, worker, status, head, body }
    "eddy_host" = AbiHost {
        abi, size, workers, level, resume, edits_grow, log, metric, send, cancel, memory_soft_bytes, about,
    }
    "eddy_filter_info" = FilterInfo { size, interest, filter, flags, reserved }
    "eddy_library" = AbiLibrary {
        abi, size, sdk, toolchain, filters, filters_len, filter_new, config_new, config_free, filter_free, run,
        event, stop, flags, reserved,
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot run a C compiler")]
fn structures_and_numbers_match_the_header() {
    let header = std::fs::read_to_string(abi_folder().join("eddy_filter.h")).expect("the header is there");
    let declared = c_numbers(&header);
    assert!(declared.len() > 150, "the header has numbers: {}", declared.len());
    let mut questions = expected();
    let ours = our_numbers();
    for name in &declared {
        let value = ours.get(name.trim_start_matches("EDDY_"));
        let value = value.unwrap_or_else(|| panic!("`{name}` of the header is missing in the SDK"));
        questions.push((name.clone(), *value));
    }
    assert_eq!(ours.len(), declared.len(), "the SDK has a number that the header does not have");
    let answers = ask_c(&questions);
    for ((question, ours), theirs) in questions.iter().zip(&answers) {
        assert_eq!(ours, theirs, "{question}");
    }
    assert_eq!(answers.len(), questions.len());
}

#[test]
#[cfg_attr(miri, ignore = "it reads files")]
fn every_structure_and_member_of_the_header_is_compared() {
    let header = std::fs::read_to_string(abi_folder().join("eddy_filter.h")).expect("the header is there");
    let header = without_comments(&header);
    let mut found = BTreeMap::new();
    for part in header.split("typedef struct ").skip(1) {
        let (name, rest) = part.split_once('{').expect("a structure has a body");
        let (body, _) = rest.split_once("\n}").expect("a structure ends");
        found.insert(name.trim().to_owned(), body.matches(';').count());
    }
    let compared: BTreeMap<String, usize> =
        STRUCTURES.iter().map(|(name, members)| ((*name).to_owned(), *members)).collect();
    assert_eq!(compared, found);
}

#[test]
#[cfg_attr(miri, ignore = "it reads files")]
fn field_names_match_the_header() {
    for (number, name) in abi::FIELD_NAMES.iter().enumerate().skip(1) {
        let constant = format!("FIELD_{}", name.to_uppercase().replace('-', "_"));
        assert_eq!(our_numbers().get(&constant).copied(), Some(crate::number(number)), "{name}");
        let id = eddy_sdk::FieldId::of(name.as_bytes()).expect("a known name");
        assert_eq!((usize::from(id.number()), id.name()), (number, *name));
    }
}

/// Returns every constant of the SDK's sources by name.
fn our_numbers() -> BTreeMap<String, i64> {
    let mut numbers = BTreeMap::new();
    for file in ["numbers.rs", "fields.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/abi").join(file);
        let text = std::fs::read_to_string(path).expect("the SDK source is there");
        for line in text.lines().filter_map(|line| line.strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(':').expect("a constant has a type");
            let (_, value) = rest.split_once("= ").expect("a constant has a value");
            if let Ok(value) = value.trim_end_matches(';').parse() {
                numbers.insert(name.to_owned(), value);
            }
        }
    }
    numbers
}

/// Returns the names of all numbers that the header declares.
fn c_numbers(header: &str) -> Vec<String> {
    let text = without_comments(header);
    let mut names = Vec::new();
    for line in text.lines() {
        if let Some(defined) = line.strip_prefix("#define EDDY_")
            && let Some((name, _)) = defined.split_once(' ')
        {
            names.push(format!("EDDY_{name}"));
        } else if !line.starts_with('#') {
            let items = line.split(['{', ',', '}']).filter_map(|item| item.split_once(" = "));
            names.extend(
                items.map(|(name, _)| name.trim().to_owned()).filter(|name| name.starts_with("EDDY_")),
            );
        }
    }
    names
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, rest)| rest))
}

/// Prints the values of expressions by a C program.
fn ask_c(questions: &[(String, i64)]) -> Vec<i64> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    let mut text = String::from("#include <stdio.h>\n#include <eddy_filter.h>\nint main(void) {\n");
    for (question, _) in questions {
        text.push_str(&format!("  printf(\"%lld\\n\", (long long)({question}));\n"));
    }
    text.push_str("  return 0;\n}\n");
    std::fs::write(&source, text).expect("the folder for tests can be written");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(abi_folder())
        .arg("-o")
        .args([&program, &source])
        .output()
        .expect("a C compiler is there");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().expect("the program runs");
    let printed = String::from_utf8(run.stdout).expect("numbers");
    printed.lines().map(|line| line.parse().expect("a number")).collect()
}

fn abi_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi")
}

fn number(value: usize) -> i64 {
    i64::try_from(value).expect("small")
}
