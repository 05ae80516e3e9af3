//! Tests of broken manifests: they result in a configuration or in problems with positions, never in a panic.

use std::fs;
use std::path::PathBuf;

use eddy_dialects::check_with;
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

/// Random numbers that are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

#[test]
fn a_thousand_mutated_manifests_are_accepted_or_refused() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/data/gateway_api");
    let mut texts: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    texts.sort();
    let words = [
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
        "type: Nothing",
        "%2F",
        "a/../b",
        "\t",
        "99999999999999999999",
        "{",
        "---",
        "&a",
    ];
    let mut dice = Dice(7);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..1000 {
        let mut lines: Vec<String> = texts[round % texts.len()].lines().map(ToOwned::to_owned).collect();
        for _ in 0..=dice.below(3) {
            let at = dice.below(lines.len());
            let word = words[dice.below(words.len())];
            match dice.below(5) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[dice.below(lines.len())].clone()),
                2 => {
                    lines[at] = lines[at]
                        .split_once(": ")
                        .map_or_else(|| word.to_owned(), |(key, _)| format!("{key}: {word}"))
                }
                3 => {
                    let cut = lines[at].chars().take(dice.below(20)).collect();
                    lines[at] = cut;
                }
                _ => lines[at] = lines[at].replacen(char::is_alphabetic, word, 1),
            }
            if lines.is_empty() {
                lines.push(String::new());
            }
        }
        let sources = [SourceText::new("a.yaml", &lines.join("\n"))];
        let leniency = if round % 2 == 0 { Leniency::Strict } else { Leniency::Lenient };
        match check_with(&sources, leniency) {
            Ok(_) => taken += 1,
            Err(problems) => {
                refused += 1;
                assert!(problems.iter().all(|problem| problem.line > 0), "{problems:?}\n{}", sources[0].text);
            }
        }
    }
    assert!(taken > 50 && refused > 300, "{taken} taken, {refused} refused");
}
