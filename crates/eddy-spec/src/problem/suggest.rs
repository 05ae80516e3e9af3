//! Suggests the known name that a misspelt one was probably meant to be.

/// Returns the candidate nearest to `written`, if one is near enough to be a likely misspelling.
///
/// # Cost
/// Deducts [`COMPARISON`] from `budget` for each candidate that is compared and 1 for each other; the search ends when
/// `budget` is used up.
pub fn closest<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    budget: &mut usize,
) -> Option<&'c str> {
    let length = written.chars().count();
    if length > COMPARED_CHARS_MAX {
        return None;
    }
    let allowed = (length / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let is_passed_over = candidate.len().abs_diff(written.len()) > length.max(4) || candidate == written;
        let cost = if is_passed_over { 1 } else { COMPARISON };
        let Some(left) = budget.checked_sub(cost) else {
            *budget = 0;
            break;
        };
        *budget = left;
        if is_passed_over {
            continue;
        }
        let distance = edits_between(written, candidate);
        let is_near =
            distance <= allowed || is_same_word(written, candidate) || is_beginning(written, candidate);
        // Of two equally near candidates the first by name wins, regardless of the order of the candidates.
        if is_near && best.is_none_or(|best| (distance, candidate) < best) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Whether both differ only in case, separators or a plural ending.
fn is_same_word(a: &str, b: &str) -> bool {
    let plain = |text: &str| {
        let letters: String =
            text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
        letters.trim_end_matches('s').to_owned()
    };
    let (a, b) = (plain(a), plain(b));
    !a.is_empty() && a == b
}

/// Whether one is a prefix of the other and at least half as long.
fn is_beginning(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() >= 3 && short.len() * 2 >= long.len() && long.starts_with(short)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, ignoring
/// ASCII case.
fn edits_between(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).take(COMPARED_CHARS_MAX).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).take(COMPARED_CHARS_MAX).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = above[j] + usize::from(left != right);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            let is_swap = i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right;
            if is_swap {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    *above.last().expect("a row begins with the empty text")
}

/// Cost of comparing two names; the unit is the cost of skipping one.
pub(crate) const COMPARISON: usize = 16;

/// Maximum length of a name that is compared.
const COMPARED_CHARS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::{COMPARISON, closest};

    fn check(written: &str, expected: Option<&str>) {
        let known = ["listeners", "endpoints", "connect_timeout", "via", "routes"];
        let mut budget = 100 * COMPARISON;
        assert_eq!(closest(written, known, &mut budget), expected, "{written}");
    }

    #[test]
    fn typos_are_recognised() {
        check("listener", Some("listeners"));
        check("endpiont", Some("endpoints"));
        check("connectTimeout", Some("connect_timeout"));
        check("connect-timeout", Some("connect_timeout"));
        check("ROUTES", Some("routes"));
        check("vai", Some("via"));
        check("listen", Some("listeners"));
    }

    #[test]
    fn unrelated_words_get_no_suggestion() {
        check("upstreams", None);
        check("x", None);
        check("", None);
    }

    #[test]
    fn the_order_of_the_candidates_does_not_matter() {
        assert_eq!(closest("userx", ["users", "usera"], &mut 99), Some("usera"));
        assert_eq!(closest("userx", ["usera", "users"], &mut 99), Some("usera"));
    }

    #[test]
    fn the_budget_limits_the_search_for_suggestions() {
        assert_eq!(closest("route", ["a", "routes"], &mut 0), None);
    }

    #[test]
    fn skipped_candidates_cost_budget_as_well() {
        let known: Vec<String> =
            (0..1000).map(|number| format!("cluster-with-a-long-name-{number}")).collect();
        let mut looked_at = 0;
        let mut budget = 10_000;
        for _ in 0..1000 {
            let candidates = known.iter().inspect(|_| looked_at += 1).map(String::as_str);
            assert_eq!(closest("x", candidates, &mut budget), None);
        }
        // Each search that finds the budget used up has looked at one candidate.
        assert!(looked_at <= 11_000, "{looked_at}");
    }
}
