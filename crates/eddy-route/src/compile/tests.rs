use proptest::prelude::*;
use proptest::sample::select;

use crate::compile::pattern::{Groups, RegexMatchMode};
use crate::compile::{
    ComparisonBudget, CompiledPathTemplate, Pattern, PatternScratch, PatternSet, covers, overlap,
};

/// Generates random expressions over an alphabet of three bytes.
fn expression() -> impl Strategy<Value = String> {
    let atoms = vec!["a", "b", "/", ".", "[ab]", "[^/]", "", "^", "$", "ab", "\\b", "(?i:A)", "[^a]"];
    select(atoms).prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let suffixes = select(vec!["*", "+", "?", "{2}", "{1,3}", "*?", "{0,1}"]);
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            2 => (inner.clone(), suffixes).prop_map(|(inner, suffix)| format!("(?:{inner}){suffix}")),
            1 => inner.prop_map(|inner| format!("({inner})")),
        ]
    })
}

/// Returns all strings of up to five bytes of the alphabet.
fn values() -> Vec<Vec<u8>> {
    let mut values = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..5 {
        let end = values.len();
        for at in start..end {
            for byte in b"ab/" {
                let longer = [values[at].as_slice(), &[*byte]].concat();
                values.push(longer);
            }
        }
        start = end;
    }
    values
}

fn build(text: &str) -> Pattern {
    Pattern::build(text, RegexMatchMode::Whole, Groups::Captured).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_match_as_the_regex_crate_does(texts in proptest::collection::vec(expression(), 1..5)) {
        let patterns: Vec<Pattern> = texts.iter().map(|text| build(text)).collect();
        let oracles: Vec<_> =
            texts.iter().map(|text| regex::bytes::Regex::new(&format!(r"(?-u)\A(?:{text})\z")).unwrap()).collect();
        let set = PatternSet::build(&patterns.iter().collect::<Vec<_>>()).unwrap();
        let mut scratch = PatternScratch::default();
        for value in values() {
            let mut in_set: Vec<usize> = set.matches(&value).collect();
            in_set.sort_unstable();
            let mut expected = Vec::new();
            for (at, (pattern, oracle)) in patterns.iter().zip(&oracles).enumerate() {
                let is_match = oracle.is_match(&value);
                prop_assert_eq!(pattern.matches(&value, &mut scratch), is_match, "{} on {:?}", texts[at], value);
                prop_assert_eq!(pattern.find_groups(&value, &mut scratch), is_match);
                if is_match {
                    expected.push(at);
                    prop_assert!(value.starts_with(pattern.prefix()) && value.ends_with(pattern.suffix()));
                    let whole = oracle.captures(&value).unwrap();
                    for (number, _) in pattern.group_names() {
                        let group = whole.get(number).map_or(&b""[..], |group| group.as_bytes());
                        prop_assert_eq!(&value[scratch.group(number)], group, "{} on {:?}", texts[at], value);
                    }
                }
            }
            prop_assert_eq!(in_set, expected, "{:?} on {:?}", texts, value);
        }
    }

    #[test]
    fn derived_properties_of_patterns_are_correct(a in expression(), b in expression()) {
        let (first, second) = (build(&a), build(&b));
        let mut scratch = PatternScratch::default();
        let mut matches = |pattern: &Pattern, value: &[u8]| pattern.matches(value, &mut scratch);
        let values = values();
        let both = values.iter().any(|value| matches(&first, value) && matches(&second, value));
        let escape = values.iter().any(|value| matches(&first, value) && !matches(&second, value));
        let is_overlap = overlap(&first, &second, &mut ComparisonBudget::new()).unwrap();
        let is_covered = covers(&second, &first, &mut ComparisonBudget::new()).unwrap();
        prop_assert!(is_overlap || !both, "{} and {} are not apart", a, b);
        prop_assert!(!is_covered || !escape, "{} is not within {}", a, b);
        prop_assert_eq!(overlap(&first, &first, &mut ComparisonBudget::new()), Some(covers(&empty(), &first, &mut ComparisonBudget::new()) == Some(false)));
        prop_assert_eq!(covers(&first, &first, &mut ComparisonBudget::new()), Some(true));
    }
}

/// Returns an expression that matches nothing.
fn empty() -> Pattern {
    build("a^b")
}

#[test]
fn groups_of_one_search_do_not_leak_into_another() {
    let mut scratch = PatternScratch::default();
    let (first, second) = (build("(?:ab|(a))"), build("(?:a|(a))"));
    assert!(first.find_groups(b"a", &mut scratch));
    assert_eq!(scratch.group(1), 0..1);
    assert!(second.find_groups(b"a", &mut scratch));
    assert_eq!(scratch.group(1), 0..0);
}

#[test]
fn large_expressions_are_simulated_or_refused() {
    let simulated = build("/.*[ab].{18}");
    let mut scratch = PatternScratch::default();
    assert!(simulated.automaton().is_none());
    assert!(simulated.matches(b"/xa0123456789abcdefgh", &mut scratch));
    assert!(!simulated.matches(b"/xa0123456789abcdef", &mut scratch));
    assert!(
        Pattern::build("/(.{0,100}a.{0,100}b.{0,100}){1,2}c", RegexMatchMode::Whole, Groups::Ignored)
            .is_err()
    );
    // Unicode is off unless requested; then even Unicode word boundaries work.
    assert!(Pattern::build(r"/\pL", RegexMatchMode::Whole, Groups::Ignored).is_err());
    assert!(build(r"(?u)/.\b.").matches("/é-".as_bytes(), &mut scratch));
}

#[test]
fn templates_capture_by_number() {
    let template = CompiledPathTemplate::check("/u/{id}/x/{rest...}").unwrap().unwrap();
    assert_eq!(template.capture_names().collect::<Vec<_>>(), ["id", "rest"]);
    assert_eq!((template.prefix_len, template.fixed_len), (2, 5));
    for (path, id, rest) in [("/u/1/x", "1", ""), ("/u/1/x/", "1", ""), ("/u/1/x//a/", "1", "/a/")] {
        assert!(template.matches(path.as_bytes()), "{path}");
        assert_eq!(template.capture(path.as_bytes(), 0), id.as_bytes(), "{path}");
        assert_eq!(template.capture(path.as_bytes(), 1), rest.as_bytes(), "{path}");
    }
    assert_eq!(CompiledPathTemplate::check("/u"), Ok(None));
}
