//! Tests of broken configurations: each is accepted or refused with a position and a reason, in bounded time, and never
//! causes a panic.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod fuzz;

use std::fs;
use std::path::PathBuf;

/// Number of broken configurations that are tried.
const COUNT: u64 = 500;

/// Random numbers that are the same in every run (SplitMix64).
struct MutationRng(u64);

impl MutationRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn of<'v, T: ?Sized>(&mut self, values: &[&'v T]) -> &'v T {
        values[self.below(values.len())]
    }
}

fn examples() -> Vec<String> {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let names = [
        "quickstart/eddy.yaml",
        "api-gateway/eddy.yaml",
        "canary/eddy.yaml",
        "edge/eddy.yaml",
        "filters/protected.yaml",
        "filters/browser.yaml",
        "filters/go.yaml",
    ];
    names.iter().map(|name| fs::read_to_string(examples.join(name)).unwrap()).collect()
}

/// Returns a position in `text` between two characters.
fn place(text: &str, draw: &mut MutationRng) -> usize {
    let mut at = draw.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Replaces one of the words of `text` for which `is_meant` is true.
fn replace(
    text: &str,
    draw: &mut MutationRng,
    is_meant: fn(&str) -> bool,
    by: impl Fn(&str, &mut MutationRng) -> String,
) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_.-/'".contains(c);
    let mut words = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_part(c), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                words.push((from, at));
                begin = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words.retain(|(from, to)| is_meant(&text[*from..*to]));
    if words.is_empty() {
        return text.to_owned();
    }
    let (from, to) = words[draw.below(words.len())];
    format!("{}{}{}", &text[..from], by(&text[from..to], draw), &text[to..])
}

/// Returns a text that expands to many times its size.
fn bomb(draw: &mut MutationRng) -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..draw.below(60) + 2 {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", ")));
    }
    text
}

fn mutate(text: &str, draw: &mut MutationRng) -> String {
    let (at, other) = (place(text, draw), place(text, draw));
    let (from, to) = (at.min(other), at.max(other));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line = lines[draw.below(lines.len())];
    match draw.below(13) {
        0 => text[..at].to_owned(),
        1 => format!("{}{}", &text[..from], &text[to..]),
        2 => {
            let noise = [
                "\0", "\t", "\u{feff}", "\u{202e}", "é", "\"", "'", "{", "]", "&", "*", "!", "%", "\r", "|",
                ">", "- ", ": ", ",", "#", "\n---\n", "\n...\n",
            ];
            format!("{}{}{}", &text[..at], draw.of(&noise), &text[at..])
        }
        3 => replace(
            text,
            draw,
            |word| word.len() > 3,
            |word, draw| {
                let cut = word.char_indices().map(|(at, _)| at).nth(draw.below(3) + 1).unwrap_or(word.len());
                format!("{}x{}", &word[..cut], &word[cut..])
            },
        ),
        4 => replace(
            text,
            draw,
            |_| true,
            |_, draw| {
                draw.of(&[
                    "[a, b]",
                    "{a: b}",
                    "true",
                    "null",
                    "1e309",
                    "0x7f",
                    "~",
                    "''",
                    "[[]]",
                    "{[]: {}}",
                    "2026-11-20",
                ])
                .to_owned()
            },
        ),
        5 => replace(
            text,
            draw,
            |word| word.starts_with(|c: char| c.is_ascii_digit()),
            |_, draw| {
                draw.of(&[
                    "99999999999999999999",
                    "-1",
                    "0",
                    "18446744073709551616",
                    "1.5",
                    "9223372036854775807h",
                    "9e9",
                    "070",
                ])
                .to_owned()
            },
        ),
        6 => format!(
            "{}{}{}",
            &text[..at],
            draw.of(&["[", "{a: ", "- ", "? "]).repeat(draw.below(5000) + 1),
            &text[at..]
        ),
        7 => text.replacen(line, &line.repeat(draw.below(50) + 2), 1),
        8 => format!("{}{text}", bomb(draw)),
        9 => text.replacen(line, "", 1),
        10 => text.replacen(line, &format!("{}{line}", " ".repeat(draw.below(5) + 1)), 1),
        11 => format!("{}{}{}", &text[..at], "x".repeat(draw.below(100_000)), &text[at..]),
        _ => {
            let mut shuffled = lines.clone();
            let (a, b) = (draw.below(lines.len()), draw.below(lines.len()));
            shuffled.swap(a, b);
            shuffled.concat()
        }
    }
}

/// Checks one configuration; returns whether it is accepted.
fn try_one(text: &str, seed: u64) -> bool {
    let outcome = std::panic::catch_unwind(|| fuzz::configuration(text));
    assert!(outcome.is_ok(), "seed {seed} fails");
    outcome.unwrap()
}

#[test]
fn broken_configurations_are_refused_with_a_position_and_a_reason() {
    let examples = examples();
    let mut taken = 0;
    for seed in 0..COUNT {
        let mut draw = MutationRng(seed);
        let mut text = examples[draw.below(examples.len())].clone();
        for _ in 0..draw.below(3) + 1 {
            text = mutate(&text, &mut draw);
        }
        taken += u64::from(try_one(&text, seed));
    }
    // Some changes are harmless, most are not; otherwise this test would be pointless.
    assert!(taken > 10 && taken < COUNT / 2, "{taken} of {COUNT} taken");
}

#[test]
fn every_truncation_of_an_example_is_accepted_or_refused() {
    for (text, number) in examples().iter().zip(0..) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(7).collect();
        for at in places {
            try_one(&text[..at], number);
        }
    }
}

#[test]
fn large_and_hostile_texts_take_bounded_time() {
    let lines = |line: &str| line.repeat(300_000 / line.len());
    let texts = [
        lines("a: b\n"),
        lines("- "),
        lines("? "),
        lines("[a, b]: c\n"),
        lines("- &a x\n"),
        lines("\"\\\n"),
        lines("'"),
        lines("{a: b, "),
        lines("k: |\n  text\n"),
        lines("&a "),
        lines("!t "),
        lines("---\n"),
        lines("%TAG ! x\n"),
        format!("listeners: [{}]", lines("{a: b}, ")),
        format!("routes: {{a: [{}]}}", lines("{cluster: usres}, ")),
        format!("clusters: {{{}}}", (0..20_000).map(|n| format!("c{n}: x, ")).collect::<String>()),
        format!("x: &a {}1{}\ny: [{}]\n", "[".repeat(60), "]".repeat(60), "*a, ".repeat(20_000)),
        (0..5000).map(|n| format!("a{}: &a{} [*a{n}]\n", n + 1, n + 1)).collect(),
    ];
    for (text, number) in texts.iter().zip(0..) {
        assert!(!try_one(text, number), "{number}");
    }
}

#[test]
fn saved_inputs_of_the_fuzz_target() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/configuration");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let outcome = std::panic::catch_unwind(|| fuzz::configuration(&text));
        assert!(outcome.is_ok(), "{} fails", path.display());
        count += 1;
    }
    assert!(count > 0, "there are no inputs");
}
