//! Execution of the steps of a long run, and the file with its result.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::step::{RunStep, StepOutcome, StepStatus};

/// File with the result of a long run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultPage {
    /// The file, within the tree.
    pub(super) path: &'static str,
    pub(super) title: &'static str,
}

/// Runs the steps that are selected, in order, and prints the outcome of each; a failed step does not end the run. The
/// page is written after each step, so that an interrupted run leaves what it has found. Returns whether nothing failed.
///
/// # Errors
/// When a step can't be started or the page can't be written.
pub(super) fn run_all(root: &Path, page: ResultPage, steps: &[(RunStep, bool)]) -> Result<bool> {
    let mut outcomes: Vec<StepOutcome> = steps.iter().map(|(step, _)| step.not_run()).collect();
    let mut is_good = page.write(root, &outcomes)?;
    for (index, (step, _)) in steps.iter().enumerate().filter(|(_, (_, is_selected))| *is_selected) {
        let outcome = step.run(root)?;
        write!(io::stdout().lock(), "{outcome}")?;
        outcomes[index] = outcome;
        is_good = page.write(root, &outcomes)?;
    }
    Ok(is_good)
}

impl ResultPage {
    /// Writes the outcomes of a run, its date and the commit it ran on; figures of earlier runs, below [`EARLIER`], stay
    /// as they are in the file. Returns whether nothing failed.
    ///
    /// # Errors
    /// When git fails or the file can't be written.
    pub(super) fn write(self, root: &Path, outcomes: &[StepOutcome]) -> Result<bool> {
        let commit = output(root, &["git", "log", "-1", "--format=%h"])?;
        // The page itself changes while a run goes on.
        let others = format!(":!{}", self.path);
        let status = ["git", "status", "--porcelain", "--untracked-files=no", "--", ".", &others];
        let is_changed = !output(root, &status)?.is_empty();
        let commit = if is_changed { format!("{commit} with uncommitted changes") } else { commit };
        let date = output(root, &["date", "--utc", "+%Y-%m-%d"])?;
        let place = root.join(self.path);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let before = std::fs::read_to_string(&place).unwrap_or_default();
        let text = page(self.title, &commit, &date, outcomes)? + earlier(&before);
        std::fs::write(&place, text).with_context(|| format!("can't write `{}`", place.display()))?;
        Ok(outcomes.iter().all(|outcome| outcome.verdict != StepStatus::Failed))
    }
}

/// Returns the page with the table of outcomes and the figures that the tests printed.
fn page(title: &str, commit: &str, date: &str, outcomes: &[StepOutcome]) -> Result<String> {
    let processors = std::thread::available_parallelism()?;
    let is_run = outcomes.iter().any(|outcome| outcome.verdict != StepStatus::NotRun);
    let run = if is_run {
        format!("Commit {commit}, {date}, {processors} processors.")
    } else {
        format!("None of these parts was run yet; {date}.")
    };
    let mut text = format!("# {title}\n\n{run}\n\n");
    text.push_str("| part | cases | result | time |\n|---|---|---|--:|\n");
    for outcome in outcomes {
        write!(text, "{outcome}")?;
    }
    let with_figures = || outcomes.iter().filter(|outcome| !outcome.figures.is_empty());
    if with_figures().next().is_some() {
        text.push_str("\n## Figures\n\nPrinted by the tests.\n");
    }
    for outcome in with_figures() {
        write!(text, "\n{}:\n\n```text\n{}\n```\n", outcome.name, outcome.figures.join("\n"))?;
    }
    Ok(text)
}

/// Returns the part of a page with figures of earlier runs, or nothing.
fn earlier(page: &str) -> &str {
    page.find(EARLIER).map_or("", |at| &page[at..])
}

fn output(root: &Path, words: &[&str]) -> Result<String> {
    let (program, arguments) = words.split_first().context("a command has a program")?;
    let output = Command::new(program).args(arguments).current_dir(root).output();
    let output = output.with_context(|| format!("can't start `{program}`"))?;
    ensure!(output.status.success(), "`{}` failed", words.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Heading of the part of a page that a run does not write.
const EARLIER: &str = "\n## Figures of earlier runs\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_earlier_runs_are_kept() {
        let kept = "\n## Figures of earlier runs\n\nOf abc1234.\n\n### More\n";
        assert_eq!(earlier(&format!("# Last run\n\n| part |\n{kept}")), kept);
        assert_eq!(earlier("# Last run\n"), "");
        assert_eq!(earlier(""), "");
    }

    #[test]
    fn the_page_is_written_after_each_step() {
        let root = std::env::temp_dir().join(format!("eddy-long-run-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        output(&root, &["git", "init", "-q"]).unwrap();
        let commit = ["commit", "-q", "--allow-empty", "-m", "first"];
        output(&root, &[&["git"], &identity[..], &commit].concat()).unwrap();
        let page = ResultPage { path: "RESULT.md", title: "Last run" };
        let steps = [
            (RunStep::new("one", &["true"]), true),
            (RunStep::new("two", &["false"]), false),
            (RunStep::new("three", &["grep", "-q", "| one | – | passed", "RESULT.md"]), true),
        ];
        assert!(run_all(&root, page, &steps).unwrap());
        let text = std::fs::read_to_string(root.join("RESULT.md")).unwrap();
        assert!(text.contains("| two | – | not run") && text.contains("| three | – | passed"), "{text}");
        assert!(!run_all(&root, page, &[(RunStep::new("one", &["false"]), true)]).unwrap());
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_page_lists_the_executed_parts() {
        let steps = [
            RunStep::new("one", &["echo", "---- a stdout ----\n7 requests"]),
            RunStep::new("two", &["true"]),
        ];
        let outcomes = [steps[0].run(Path::new(".")).unwrap(), steps[1].not_run()];
        let text = page("Last run", "abc1234", "2020-02-29", &outcomes).unwrap();
        assert!(text.starts_with("# Last run\n\nCommit abc1234, 2020-02-29, "), "{text}");
        assert!(
            text.contains("| one | – | passed | 0 s |\n| two | – | not run at this commit | – |\n"),
            "{text}"
        );
        assert!(text.ends_with("\none:\n\n```text\n7 requests\n```\n"), "{text}");
        let text = page("Last run", "abc1234", "2020-02-29", &outcomes[1..]).unwrap();
        assert!(text.starts_with("# Last run\n\nNone of these parts was run yet; 2020-02-29.\n"), "{text}");
    }
}
