//! Context of the checks of built-in filters: their surroundings, and names of headers.

use std::path::Path;
use std::sync::Arc;

use eddy_filter::FilterPolicy;
use eddy_http::FieldEdits;
use eddy_spec::problem::ProblemReport;
use eddy_spec::read::Spanned;
use eddy_spec::value::FieldName;

/// Settings around a built-in filter's configuration that its check depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// Directory against which relative paths are resolved.
    pub(super) folder: &'a Path,
    /// Limits of the filter in an exchange.
    pub(super) policy: FilterPolicy,
}

/// Returns the header name, if the header may be changed.
pub(super) fn checked_field(name: &Spanned<FieldName>, report: &mut ProblemReport) -> Option<Arc<str>> {
    match FieldEdits::new().remove(&name.value.0) {
        Ok(()) => Some(name.value.0.as_str().into()),
        Err(fault) => {
            report.error(name.place, fault.to_string());
            None
        }
    }
}
