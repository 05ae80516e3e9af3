//! Rule: published pages equal those generated from the current code.

use super::Problem;
use crate::docs::Page;
use crate::tree::SourceTree;

/// Reports every published page that is missing or differs from the generated one.
pub(super) fn check(tree: &SourceTree, pages: &[Page]) -> Vec<Problem> {
    let stale = pages.iter().filter_map(|page| {
        let message = match tree.text(&page.path) {
            None => "this generated page is missing; run `cargo xtask docs`".to_owned(),
            Some(text) if text == page.text => return None,
            Some(text) => {
                let line =
                    1 + text.lines().zip(page.text.lines()).take_while(|(old, new)| old == new).count();
                format!("differs from the code, first in line {line}; run `cargo xtask docs`")
            }
        };
        Some(Problem::of(&page.path, message))
    });
    stale.collect()
}
