//! `ConfigDialect`: a language in which a configuration, or a part of it, is written.

use eddy_spec::problem::ProblemReport;

use super::draft::Draft;

/// A language in which a configuration, or a part of it, is written. It reads `Input`: the source texts, or objects
/// that were read from them before.
pub trait ConfigDialect<Input: ?Sized> {
    /// Adds what the input says to the draft; problems go to `report`. After errors, parts may be missing.
    fn lower(&self, input: &Input, draft: &mut Draft<'_>, report: &mut ProblemReport);
}
