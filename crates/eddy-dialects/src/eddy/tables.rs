//! Checks route tables, those from files of other programs included.

use eddy_check::{Draft, TableDraft, check_rules};
use eddy_ids::{Shared, TableId};
use eddy_route::Dialect;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{Either, NamedMap, Spanned};
use eddy_spec::spec::{RuleSpec, TableSpec};
use eddy_spec::value::{ConfigName, DialectName};

use super::embed::embed;

/// Checks the route tables and adds them; the clusters that rules name count as used.
pub(super) fn check_tables(
    specs: Option<Spanned<NamedMap<ConfigName, TableForm>>>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    for entry in specs.into_iter().flat_map(|specs| specs.value.0) {
        let id = draft.tables.declare(&entry.name);
        let name = &entry.name.value.0;
        let made = entry.value.and_then(|form| check_table((id, name), form, draft, report));
        // Errors of the table are reported already; listeners may name it.
        draft.tables.add(made.unwrap_or_else(|| TableDraft::new(name, Dialect::Eddy)));
    }
}

/// Checks one table; returns `None` after errors.
fn check_table(
    (id, name): (TableId, &Shared<str>),
    Spanned { value: form, place }: Spanned<TableForm>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) -> Option<TableDraft> {
    let rules = match form {
        Either::One(rules) => Spanned { value: rules, place },
        Either::Other(TableSpec { dialect, rules: Some(rules), address, .. }) => {
            note_foreign(dialect, address.map(|address| address.place), report);
            rules
        }
        Either::Other(TableSpec { dialect, file: Some(file), address, .. }) => {
            return embed(name, dialect, &file, address.as_ref(), draft, report);
        }
        // The reader has reported that the rules are missing or wrong.
        Either::Other(TableSpec { rules: None, .. }) => return None,
    };
    Some(check_rules((id, name), rules, draft, report))
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
