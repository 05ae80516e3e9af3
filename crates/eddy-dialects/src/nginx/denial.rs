//! Problems with access control directives that eddy does not support.

use eddy_spec::problem::SourceSpan;

use super::guard::{Consequence, guard_consequence, is_off};
use super::reader::NginxReader;
use super::tree::Directive;

impl NginxReader<'_, '_> {
    /// Reports a directive that eddy does not support or does not know; one that controls access is not ignored.
    pub(super) fn refuse_directive(
        &mut self,
        directive: &Directive,
        here: u16,
        message: String,
        hint: Option<String>,
    ) {
        let (place, is_lenient) = (directive.name.place, self.report.is_lenient());
        match guard_consequence(&directive.name.text, here) {
            Consequence::Kept(reason) if !is_off(directive) => {
                let hint = hint.unwrap_or_else(|| format!("`--lenient` does not ignore it: {reason}"));
                self.report.error(place, message).hint(hint);
            }
            Consequence::Closes if is_lenient && !is_off(directive) => {
                let message = format!("{message}; the requests that it protects are rejected with 403");
                self.report.warning(place, message).hint("remove it to allow them");
            }
            Consequence::Closes if !is_off(directive) => {
                let usual = "remove it, or give `--lenient` to reject the requests that it protects with 403";
                self.refuse(place, message, hint.unwrap_or_else(|| usual.to_owned()));
            }
            Consequence::Skipped | Consequence::Closes | Consequence::Kept(_) => {
                let usual = "remove it, or ignore it with `--lenient`";
                self.refuse(place, message, hint.unwrap_or_else(|| usual.to_owned()));
            }
        }
    }

    /// Reports that `--lenient` replaces an unreadable part of a program by a 403 response, because it may control
    /// access.
    pub(super) fn note_denial(&mut self, place: SourceSpan) {
        if self.report.is_lenient() {
            self.report
                .warning(
                    place,
                    "this may control access, and eddy cannot read it; the requests here are rejected with 403",
                )
                .hint("remove it to allow them");
        }
    }
}
