//! Parser of `cargo test` output: Cargo's own lines and those of Rust's test harness.

use std::collections::BTreeSet;

use crate::tally::{Skip, TestTally};

/// Reads the output line by line.
#[derive(Debug, Default)]
pub(crate) struct Libtest {
    tally: TestTally,
    program: Option<TestProgram>,
}

/// A running test program.
#[derive(Debug, Default)]
struct TestProgram {
    name: String,
    passed: usize,
    failed: BTreeSet<String>,
    /// Whether the current lines belong to a list of failures.
    is_in_list: bool,
    result: Option<ProgramResult>,
}

/// Counts in the result line of a program.
#[derive(Debug)]
struct ProgramResult {
    passed: usize,
    failed: usize,
}

impl Libtest {
    /// Reads a line.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(name) = started(line) {
            self.end_program();
            self.program = Some(TestProgram { name, ..TestProgram::default() });
            return;
        }
        let Some(program) = &mut self.program else { return };
        if line == "failures:" {
            // The harness lists the names last, after the output of the failed tests.
            program.is_in_list = true;
            program.failed.clear();
        } else if line.starts_with("---- ") {
            program.is_in_list = false;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            // Failed tests may print the output of another harness; the last result line is the program's own.
            let (passed, failed) = (count(result, " passed"), count(result, " failed"));
            program.result = Some(ProgramResult { passed, failed });
            program.is_in_list = false;
        } else if let Some(test) = line.strip_prefix("    ").filter(|_| program.is_in_list) {
            program.failed.insert(test.to_owned());
        } else if let Some((test, reason)) = ignored(line) {
            let remedy = "cargo test -- --ignored, for the test named".to_owned();
            let skip = Skip { reason: reason.to_owned(), remedy, test: format!("{}::{test}", program.name) };
            self.tally.skipped.push(skip);
        } else if line.starts_with("test ") && line.ends_with(" ... ok") {
            program.passed += 1;
        }
    }

    /// Ends the output and returns the counts.
    pub(crate) fn finish(mut self) -> TestTally {
        self.end_program();
        self.tally
    }

    fn end_program(&mut self) {
        let Some(TestProgram { name, passed, failed, result, .. }) = self.program.take() else { return };
        let Some(result) = result else {
            // The program crashed or called `exit`.
            self.tally.passed += passed;
            self.tally.failed.push(format!("{name} (ended without a result)"));
            return;
        };
        self.tally.passed += result.passed;
        if failed.len() < result.failed {
            self.tally.failed.push(format!("{name} ({} without a name)", result.failed - failed.len()));
        }
        if result.failed > 0 {
            self.tally.failed.extend(failed.iter().map(|test| format!("{name}::{test}")));
        }
    }
}

/// Returns the name of the program that Cargo starts according to this line.
fn started(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc {}", name.trim()));
    }
    let (_, path) = line.strip_prefix("Running ")?.rsplit_once('(')?;
    let file = path.strip_suffix(')')?.rsplit('/').next()?;
    let (name, _hash) = file.rsplit_once('-')?;
    Some(name.to_owned())
}

/// Returns the test that this line reports as ignored, and the reason.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (test, reason) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some((test, reason.strip_prefix(", ").unwrap_or("no reason is given")))
}

/// Returns the number before a word of a result line.
fn count(result: &str, word: &str) -> usize {
    let before = result.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TestTally {
        let mut reader = Libtest::default();
        text.lines().for_each(|line| reader.read(line));
        reader.finish()
    }

    #[test]
    fn passed_failed_and_ignored_tests_are_counted_by_program() {
        let tally = read(
            "   Compiling a v1\n     Running unittests src/lib.rs (target/quick/deps/a_b-0123456789abcdef)\n\n\
             running 4 tests\ntest x::one ... ok\ntest x::two ... FAILED\ntest three ... ignored, takes minutes\n\
             test four ... FAILED\n\nfailures:\n\n---- x::two stdout ----\nnote:\n    not a name\n\
             ---- four stdout ----\nit said:\n    x\n\n\nfailures:\n    four\n    x::two\n\n\
             test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
             error: test failed, to rerun pass `-p a --lib`\n   Doc-tests a_b\n\nrunning 1 test\n\
             test src/lib.rs - f (line 3) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n\n\
             error: 1 target failed:\n    `-p a --lib`\n",
        );
        assert_eq!((tally.passed, tally.failed), (2, vec!["a_b::four".to_owned(), "a_b::x::two".to_owned()]));
        let [skip] = &tally.skipped[..] else { panic!("{:?}", tally.skipped) };
        assert_eq!((skip.test.as_str(), skip.reason.as_str()), ("a_b::three", "takes minutes"));
    }

    #[test]
    fn a_program_that_crashes_is_a_failure_and_hides_no_other() {
        let tally = read(
            "     Running tests/one.rs (/far/deps/one-0123456789abcdef)\n\nrunning 2 tests\ntest a ... ok\n\
             error: test failed, to rerun pass `-p x --test one`\n\nCaused by:\n  process didn't exit successfully (signal: 6)\n\
             \x20    Running tests/two.rs (/far/deps/two-0123456789abcdef)\n\nrunning 1 test\ntest a ... ok\n\n\
             test result: ok. 1 passed; 0 failed; 0 ignored\n",
        );
        assert_eq!((tally.passed, tally.failed), (2, vec!["one (ended without a result)".to_owned()]));
    }

    #[test]
    fn failures_without_names_are_counted() {
        let tally = read(
            "     Running tests/own.rs (deps/own-0123456789abcdef)\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\n",
        );
        assert_eq!((tally.passed, tally.failed), (3, vec!["own (2 without a name)".to_owned()]));
        assert_eq!(read("error: could not compile `a`\n"), TestTally::default());
    }
}
