//! Properties that hold for any text: the body of the fuzz target, also run with kept inputs and broken examples.

use std::time::{Duration, Instant};

use eddy_dialects::check;
use eddy_spec::problem::{Colour, SourceText, render, to_json};

/// Maximum time for a text, in a debug build on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Checks a configuration, which must be accepted, or refused with positions and reasons; returns whether it is
/// accepted.
pub(crate) fn configuration(text: &str) -> bool {
    let sources = [SourceText::new("eddy.yaml", text)];
    let begin = Instant::now();
    let (is_taken, problems) = match check(&sources) {
        Ok(checked) => (true, checked.warnings),
        Err(problems) => (false, problems),
    };
    assert!(begin.elapsed() < TIME_MAX, "{:?}", begin.elapsed());
    assert!(is_taken || !problems.is_empty(), "refused without a problem");
    let lines = text.split('\n').count();
    for problem in &problems {
        assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem}");
        assert!(problem.line >= 1 && problem.column >= 1 && problem.length >= 1, "{problem}");
        // YAML also counts a carriage return of its own as a line end.
        let is_inside = lines + text.matches('\r').count() >= problem.line as usize;
        assert!(is_inside, "{problem}");
    }
    let shown = render(&problems, &sources, Colour::Never);
    assert!(!shown.contains('\x1b') && !shown.contains('\0'));
    assert!(to_json(&problems, &[]).contains("problems"));
    is_taken
}
