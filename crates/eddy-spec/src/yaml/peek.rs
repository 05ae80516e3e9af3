//! Looks for top-level keys in a text without reading all of it.

use granit_parser::{Event, Parser};

use super::build::parser_options;

/// Whether the first non-empty document of `text` is a mapping with a key for which `is_meant` is true.
///
/// # Cost
/// Reads the text up to that key, or the whole document if there is none.
#[expect(clippy::wildcard_enum_match_arm, reason = "only what opens, closes and names counts")]
pub fn has_outer_key(text: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let (mut depth, mut is_key) = (0_u32, true);
    for event in Parser::new_from_str_with_options(text, parser_options()) {
        let Ok((event, _)) = event else { return false };
        match event {
            Event::SequenceStart(..) if depth == 0 => return false,
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
                is_key ^= depth == 1;
            }
            Event::Scalar(text, ..) if depth == 1 => {
                if is_key && is_meant(&text) {
                    return true;
                }
                is_key = !is_key;
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) if depth == 1 => is_key = !is_key,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_outer_key;

    #[test]
    fn only_outermost_keys_count() {
        let check = |text: &str, expected: bool| {
            assert_eq!(has_outer_key(text, |key| key == "kind"), expected, "{text}")
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
}
