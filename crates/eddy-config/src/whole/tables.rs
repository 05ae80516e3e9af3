//! Checks route tables, those from files of other programs included.

use super::embed::{EmbeddedTableSpec, Embedder};
use crate::check::{CheckedFilters, CheckedTables, NameRegistry, TableNames};
use crate::problem::{ProblemReport, SourceSpan};
use crate::read::{Either, NamedMap, Spanned};
use crate::spec::{RuleSpec, TableSpec};
use crate::value::{ConfigName, DialectName};

/// Checks the route tables and registers their names; the clusters that rules name count as used.
pub(super) fn check_tables(
    specs: Option<Spanned<NamedMap<ConfigName, TableForm>>>,
    embedder: &mut Embedder<'_>,
    names: &mut NameRegistry,
    clusters: &mut NameRegistry,
    filters: &mut CheckedFilters,
    report: &mut ProblemReport,
) -> CheckedTables {
    let mut tables = CheckedTables::default();
    for (entry, number) in specs.into_iter().flat_map(|specs| specs.value.0).zip(0..) {
        names.define(&entry.name);
        tables.by_name.push(Vec::new());
        let Some(Spanned { value: form, place }) = entry.value else { continue };
        let (rules, place) = match form {
            Either::One(rules) => (rules, place),
            Either::Other(TableSpec { dialect, rules: Some(rules), address, .. }) => {
                note_foreign(dialect, address.map(|address| address.place), report);
                (rules.value, rules.place)
            }
            Either::Other(TableSpec { dialect, file: Some(file), address, .. }) => {
                let before = tables.tables.len();
                let (name, address) = (&entry.name.value.0, address.as_ref());
                let wanted = EmbeddedTableSpec { name, dialect, file: &file, address };
                embedder.embed(&wanted, &mut tables, clusters, report);
                let own = (before..tables.tables.len()).collect();
                tables.by_name.pop();
                tables.by_name.push(own);
                continue;
            }
            // The reader has reported that the rules are missing or wrong.
            Either::Other(TableSpec { rules: None, .. }) => continue,
        };
        let own = TableNames { sources: embedder.sources, clusters, filters };
        tables.add_rules(&entry.name.value.0, Spanned { value: rules, place }, number, own, report);
    }
    tables
}

/// Reports keys that need a `file`.
fn note_foreign(
    dialect: Option<Spanned<DialectName>>,
    address: Option<SourceSpan>,
    report: &mut ProblemReport,
) {
    if let Some(Spanned { value: DialectName::Nginx, place }) = dialect {
        report
            .error(place, "inline rules are in eddy's own dialect")
            .hint("set `file` to the file of the other program, as in `file: legacy.conf`");
    }
    if let Some(place) = address {
        report.error(place, "`address` needs a `file`").hint("leave it out");
    }
}

type TableForm = Either<Vec<Spanned<RuleSpec>>, TableSpec>;
