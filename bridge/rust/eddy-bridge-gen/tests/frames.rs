//! Calls into Rust that pass their arguments with Go's memory layout.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use eddy_bridge_gen::go_text;

/// Whether a method with these arguments is called with a frame. `structs` are declared before it.
fn is_frame(structs: &str, arguments: &str) -> bool {
    let text = format!("{structs}\n#[eddy_bridge::rust]\ntrait Service {{ fn call(&self, {arguments}); }}\n");
    let made = go_text(&text, "declaration.rs", "declared").unwrap();
    let (by_frame, by_block) = (made.contains("s.service.Call("), made.contains("s.service.Begin("));
    assert!(by_frame != by_block, "{made}");
    by_frame
}

fn record(name: &str, fields: &str) -> String {
    format!("#[derive(eddy_bridge::Record)]\nstruct {name} {{ {fields} }}\n")
}

#[test]
fn types_with_the_same_layout_in_go_are_passed_without_conversion() {
    for arguments in [
        "",
        "a: u8, b: bool, c: f32, d: i64",
        "a: &str, b: String",
        "a: &[u8], b: Vec<i16>",
        "a: &[&str], b: Vec<String>",
        "a: Option<u8>, b: Option<&str>, c: Option<Option<bool>>",
    ] {
        assert!(is_frame("", arguments), "{arguments}");
    }
    let inner = record("Inner", "a: u8, b: bool");
    let outer = record("Outer<'a>", "inner: Inner, text: &'a str, numbers: &'a [u32], maybe: Option<Inner>");
    assert!(is_frame(&(inner + &outer), "outer: &Outer<'_>, more: Option<Inner>"));
}

#[test]
fn types_with_another_layout_are_converted() {
    for arguments in [
        "a: HashMap<String, u8>",
        "a: &[bool]",
        "a: Vec<Vec<u8>>",
        "a: Option<&[u8]>",
        "a: Option<Vec<u8>>",
        "a: Result<u8, String>",
    ] {
        assert!(!is_frame("", arguments), "{arguments}");
    }
    let record = record("With", "numbers: Vec<u8>");
    assert!(!is_frame(&record, "with: &With"));
    assert!(!is_frame(&record, "with: &[With]"));
}

#[test]
fn a_frame_has_a_size_limit() {
    let fields = |count: usize| (0..count).map(|number| format!("f{number}: u64,")).collect::<String>();
    assert!(is_frame(&record("Wide", &fields(96)), "wide: &Wide"));
    assert!(!is_frame(&record("Wide", &fields(97)), "wide: &Wide"));
    // Lists of strings are marked by the bits of a word.
    assert!(is_frame(&record("Wide", &fields(63)), "wide: &Wide, texts: &[&str]"));
    assert!(!is_frame(&record("Wide", &fields(64)), "wide: &Wide, texts: &[&str]"));
}

#[test]
fn narrow_fields_are_padded_to_a_word() {
    let text = record("Narrow", "a: u8, b: bool, c: u64, d: u32");
    let made = go_text(&text, "declaration.rs", "declared").unwrap();
    assert!(
        made.contains("\tA uint8\n\t_ [7]byte\n\tB bool\n\tC uint64\n\tD uint32\n\t_ [4]byte\n"),
        "{made}"
    );
}
