//! Published page of the support for each directive.

use std::fmt::Write as _;

use super::catalogue::{MODULES, Use};
use super::{block, guard, harmless};

/// Returns the page of NGINX's directives in eddy, as Markdown.
pub fn directives_page() -> String {
    let mut out = String::from(HEAD);
    // Writing to a string never fails.
    for module in MODULES {
        let _ = write!(out, "\n## {}\n\n| directive | context | in eddy |\n|---|---|---|\n", module.title);
        let mut directives: Vec<_> = module.directives.iter().collect();
        directives.sort_by_key(|known| known.name);
        for known in directives {
            let (word, note) = known.use_.words();
            let remark = if matches!(known.use_, Use::Refused(_)) { guard::remark(known.name) } else { "" };
            let forms: Vec<String> =
                harmless::forms(known.name).iter().map(|form| format!("`{} {form}`", known.name)).collect();
            let forms = match forms.is_empty() {
                true => String::new(),
                false => format!("; {} is accepted", forms.join(", ")),
            };
            let (name, blocks) = (known.name, block::names(known.blocks));
            let _ = writeln!(out, "| `{name}` | {blocks} | {word}{note}{remark}{forms} |");
        }
    }
    out.push_str("\n## Unsupported upstream protocols\n\n| directive | context | in eddy |\n|---|---|---|\n");
    for protocol in harmless::PROTOCOLS {
        let _ = writeln!(
            out,
            "| `{protocol}_...` | {} | ignored: it has no effect without `{protocol}_pass`, which is refused |",
            block::names(block::HTTP | block::SERVER | block::LOCATION)
        );
    }
    out
}

const HEAD: &str = "\
# NGINX's directives in eddy

This page is generated from the code. A refused directive is an error with file, line and column; `--lenient` turns it into a
warning and ignores the directive. The same applies to directives that are not on this page. Directives for access control,
and unknown directives with similar names, are never ignored: the requests that they protect are rejected with 403. How to run
an `nginx.conf`, and where eddy differs, is in [the guide](../guide/nginx.md) and in [divergences](divergences.md).
";
