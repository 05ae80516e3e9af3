//! Finds out from the outermost keys of a text what it is, without reading all of it.

use granit_parser::{Event, Parser};

use super::build::parser_options;

/// Returns the decision on the first key of the first non-empty document for which `decide` has one; `None` if it has one
/// for no key, or if the document is not a mapping.
///
/// # Cost
/// Reads the text up to that key, or the whole document if there is none.
#[expect(clippy::wildcard_enum_match_arm, reason = "only what opens, closes and names counts")]
pub fn decide_by_outer_key<T>(text: &str, decide: impl Fn(&str) -> Option<T>) -> Option<T> {
    let (mut depth, mut is_key) = (0_u32, true);
    for event in Parser::new_from_str_with_options(text, parser_options()) {
        let Ok((event, _)) = event else { return None };
        match event {
            Event::SequenceStart(..) if depth == 0 => return None,
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return None;
                }
                is_key ^= depth == 1;
            }
            Event::Scalar(text, ..) if depth == 1 => {
                if is_key && let Some(decision) = decide(&text) {
                    return Some(decision);
                }
                is_key = !is_key;
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) if depth == 1 => is_key = !is_key,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::decide_by_outer_key;

    #[test]
    fn only_outermost_keys_count() {
        let check = |text: &str, expected: bool| {
            let found = decide_by_outer_key(text, |key| (key == "kind").then_some(()));
            assert_eq!(found.is_some(), expected, "{text}");
        };
        check("kind: List\n", true);
        check("a: {b: [c]}\nkind: List\n", true);
        check("a: [kind]\nkind: x", true);
        check("---\n# nothing\n---\nkind: List\n", true);
        check("{\"items\": [{\"kind\": 1}], \"kind\": \"List\"}", true);
        check("kind\n", false);
        check("a: kind\n", false);
        check("a: {kind: b}\n", false);
        check("- kind: b\n", false);
        check("a: [\n", false);
    }

    #[test]
    fn the_first_key_with_a_decision_decides() {
        let check = |text: &str, expected: Option<u8>| {
            let found = decide_by_outer_key(text, |key| match key {
                "a" => Some(1),
                "b" => Some(2),
                _ => None,
            });
            assert_eq!(found, expected, "{text}");
        };
        check("x: {b: 1}\na: 1\nb: 2", Some(1));
        check("b: 1\na: 2", Some(2));
        // Nothing behind the key is read.
        check("a: 1\nb: [", Some(1));
        check("c: a", None);
    }
}
