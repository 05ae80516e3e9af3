//! Parser of the events that `go test -json` prints.

use std::collections::HashMap;

use serde_json::Value;

use crate::tally::{Skip, TestTally};

/// Reads the events line by line.
#[derive(Debug, Default)]
pub(crate) struct GoTest {
    tally: TestTally,
    /// Output of tests that are still running, by package and test name.
    printed: HashMap<(String, String), String>,
}

impl GoTest {
    /// Reads a line and returns the text to show to a person, if any.
    pub(crate) fn read(&mut self, line: &str) -> Option<String> {
        let Some(event) = serde_json::from_str::<Value>(line).ok().filter(Value::is_object) else {
            return Some(format!("{line}\n"));
        };
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let (action, package, output) = (text("Action"), text("Package"), text("Output"));
        let Some(test) = event["Test"].as_str() else {
            if action == "fail" {
                self.fail_package(&package);
            }
            // Output of a package is shown; the package reports its result in it.
            return Some(output).filter(|output| !output.is_empty() && output != "PASS\n");
        };
        let key = (package.clone(), test.to_owned());
        if action == "output" {
            self.printed.entry(key).or_default().push_str(&output);
            return None;
        }
        if !matches!(action.as_str(), "pass" | "fail" | "skip") {
            return None;
        }
        let printed = self.printed.remove(&key).unwrap_or_default();
        let name = format!("{package}::{test}");
        match action.as_str() {
            // A subtest is counted with its parent test.
            "pass" => self.tally.passed += usize::from(!test.contains('/')),
            "skip" => self.tally.skipped.push(skip(name, &printed)),
            _ => {
                self.tally.failed.push(name);
                return Some(printed);
            }
        }
        None
    }

    /// Ends the output and returns the counts.
    pub(crate) fn finish(self) -> TestTally {
        self.tally
    }

    /// Records a package failure, unless one of its tests has failed: it does not compile, or it crashes.
    fn fail_package(&mut self, package: &str) {
        let of_package = format!("{package}::");
        if !self.tally.failed.iter().any(|name| name.starts_with(&of_package)) {
            self.tally.failed.push(package.to_owned());
        }
    }
}

fn skip(test: String, printed: &str) -> Skip {
    let said =
        printed.lines().map(str::trim).filter(|line| !line.starts_with("=== ") && !line.starts_with("--- "));
    // `file_test.go:12: reason`
    let said = said.map(|line| {
        line.split_once(".go:").and_then(|(_, rest)| rest.split_once(": ")).map_or(line, |(_, why)| why)
    });
    let reason = said.collect::<Vec<_>>().join(" ");
    let is_short = reason.contains("-short");
    let remedy = if is_short { "go test without -short, in its folder" } else { "as the reason says" };
    Skip { reason, remedy: remedy.to_owned(), test }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(action: &str, test: &str, output: &str) -> String {
        let mut event = serde_json::json!({"Action": action, "Package": "p"});
        for (key, value) in [("Test", test), ("Output", output)] {
            if !value.is_empty() {
                event[key] = value.into();
            }
        }
        event.to_string()
    }

    #[test]
    fn tests_are_counted_and_only_failures_are_shown() {
        let mut reader = GoTest::default();
        let mut shown = String::new();
        for line in [
            "go: downloading a".to_owned(),
            event("run", "TestA", ""),
            event("output", "TestA", "noise\n"),
            event("pass", "TestA/inner", ""),
            event("pass", "TestA", ""),
            event("output", "TestB", "    b_test.go:3: it is wrong\n"),
            event("fail", "TestB", ""),
            event("output", "TestC", "=== RUN   TestC\n"),
            event("output", "TestC", "    c_test.go:33: NOT TESTED because of -short\n"),
            event("output", "TestC", "--- SKIP: TestC (0.00s)\n"),
            event("skip", "TestC", ""),
            event("output", "", "FAIL\tp\t0.1s\n"),
            event("fail", "", ""),
        ] {
            shown.extend(reader.read(&line));
        }
        assert_eq!(shown, "go: downloading a\n    b_test.go:3: it is wrong\nFAIL\tp\t0.1s\n");
        let tally = reader.finish();
        assert_eq!((tally.passed, tally.failed), (1, vec!["p::TestB".to_owned()]));
        let expected = Skip {
            reason: "NOT TESTED because of -short".to_owned(),
            remedy: "go test without -short, in its folder".to_owned(),
            test: "p::TestC".to_owned(),
        };
        assert_eq!(tally.skipped, [expected]);
    }

    #[test]
    fn a_package_that_does_not_compile_is_a_failure() {
        let mut reader = GoTest::default();
        assert_eq!(reader.read(&event("build-output", "", "x.go:1: no\n")).as_deref(), Some("x.go:1: no\n"));
        assert_eq!(reader.read(&event("fail", "", "")), None);
        assert_eq!(reader.finish().failed, ["p"]);
    }
}
