//! Tests of broken manifests: they result in a configuration or in problems with positions, never in a panic.

use eddy_dialects::check_with;
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

use crate::draw::IstioCaseRng;
use crate::examples;

const WORDS: [&str; 22] = [
    "",
    "null",
    "-1",
    "70000",
    "[]",
    "{}",
    "'*.'",
    "ünï",
    "\"",
    "- ",
    ": ",
    "*a",
    "99999999999999999999",
    "%2F",
    "a/../b",
    "\t",
    "{",
    "---",
    "&a",
    "regex: '('",
    "weight: 4294967295",
    "fixedDelay: 1e9s",
];

#[test]
fn a_thousand_mutated_manifests_are_accepted_or_refused() {
    let texts: Vec<String> = examples::all().into_iter().map(|example| example.manifests).collect();
    let mut draw = IstioCaseRng(7);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..1000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..=draw.below(3) {
            // The Istio objects come first; Services follow them.
            let mut at = draw.below(text.len().min(1500));
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let word = WORDS[draw.below(WORDS.len())];
            let to = text[at..].find([' ', ',', '}', ']']).map_or(text.len(), |end| at + end);
            match draw.below(4) {
                0 => text.insert_str(at, word),
                1 => text.replace_range(at..to, word),
                2 => text.replace_range(at..to, ""),
                _ => {
                    let other = text[at..to].to_owned();
                    text.insert_str(to, &other);
                }
            }
        }
        let leniency = if round % 2 == 0 { Leniency::Strict } else { Leniency::Lenient };
        match check_with(&[SourceText::new("a.yaml", &text)], leniency) {
            Ok(_) => taken += 1,
            Err(problems) => {
                refused += 1;
                assert!(
                    !problems.is_empty() && problems.iter().all(|problem| problem.line > 0),
                    "{problems:?}\n{text}"
                );
            }
        }
    }
    println!("{taken} of 1000 mutated manifests are taken");
    assert!(taken > 50 && refused > 300, "{taken} taken, {refused} refused");
}
