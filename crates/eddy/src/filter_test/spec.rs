//! Runs a spec: executes its requests and returns the results of its tests.

use std::fs;
use std::path::{Path, PathBuf};

use eddy_filter::LibraryKeepAlive;
use eddy_guest::{LuaLimits, LuaSpec, SpecPart};

use super::exchange::ScriptExchange;
use super::message::SpecMessage;
use super::script::{ScriptFilter, is_compiled};
use super::upstream::{SpecInterrupt, SpecUpstream};

/// Spec that is being run.
pub(crate) struct Rehearsal {
    spec: LuaSpec,
    /// Folder of the scripts that it names.
    folder: PathBuf,
    scripts: Vec<ScriptFilter>,
    answer: Vec<SpecPart>,
}

/// Result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpecTestResult {
    /// The test of this name passed.
    Passed(String),
    /// The test failed, with the reason and its file and line.
    Failed { test: String, why: String },
    /// The spec itself is broken, with the reason and its file and line; no further tests are run.
    Broken(String),
}

impl Rehearsal {
    /// Loads a spec. With `only`, just the tests whose names contain one of the texts are run.
    ///
    /// # Errors
    /// Why the spec cannot be run, with file and line.
    pub(crate) fn new(path: &Path, only: &[String]) -> Result<Self, String> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let text = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        let spec = LuaSpec::load(&name, &text).map_err(|error| error.to_string())?;
        let answer = only.iter().map(|text| SpecPart::new("only", text, "")).collect();
        let folder = path.parent().unwrap_or_else(|| Path::new(".")).to_owned();
        Ok(Self { spec, folder, scripts: Vec::new(), answer })
    }

    fn step(&mut self) -> Result<Vec<SpecPart>, SpecTestResult> {
        let answer = std::mem::take(&mut self.answer);
        self.spec.step(&answer).map_err(|error| SpecTestResult::Broken(error.to_string()))
    }

    fn run_parts(&mut self, said: &[SpecPart]) -> Result<Vec<SpecPart>, SpecInterrupt> {
        let Some((first, rest)) = said.split_first() else { return Ok(Vec::new()) };
        if first.what == "filter" {
            self.load(rest).map_err(SpecInterrupt::Impossible)
        } else {
            self.send(&text_of(&first.name), rest)
        }
    }

    fn load(&mut self, parts: &[SpecPart]) -> Result<Vec<SpecPart>, String> {
        let (mut chunk, mut text, mut config) = ("script".to_owned(), Vec::new(), "null".to_owned());
        let (mut compiled, mut name) = (None, String::new());
        let mut limits = LuaLimits::default();
        for part in parts {
            match part.what.as_str() {
                "file" => {
                    let path = self.folder.join(text_of(&part.value));
                    if is_compiled(&path) {
                        compiled = Some(path);
                        continue;
                    }
                    chunk = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                    text = fs::read(&path)
                        .map_err(|error| format!("cannot read \"{}\": {error}", path.display()))?;
                }
                "name" => name = text_of(&part.value),
                "source" => text.clone_from(&part.value),
                "config" => config = text_of(&part.value),
                "allow" => match text_of(&part.value).as_str() {
                    "os" => limits.allows_os = true,
                    "io" => limits.allows_io = true,
                    "package" => limits.allows_package = true,
                    "ffi" => limits.allows_ffi = true,
                    other => {
                        return Err(format!("unknown `allow` entry \"{other}\"; use os, io, package or ffi"));
                    }
                },
                _ => {}
            }
        }
        let number = self.scripts.len();
        self.scripts.push(match compiled {
            Some(path) => ScriptFilter::load_compiled(&path, &name, &config)?,
            None if !name.is_empty() => {
                return Err(
                    "`name` selects a filter of a library or module; a script is one filter".to_owned()
                );
            }
            None => ScriptFilter::load(number, &chunk, &text, &config, limits)?,
        });
        Ok(vec![SpecPart::new("made", number.to_string(), "")])
    }

    fn send(&mut self, number: &str, parts: &[SpecPart]) -> Result<Vec<SpecPart>, SpecInterrupt> {
        let script = number.parse().ok().and_then(|number: usize| self.scripts.get(number));
        let script = script.ok_or_else(|| SpecInterrupt::Impossible("unknown filter".to_owned()))?;
        let mut request = SpecMessage::default();
        let (mut clusters, mut rule) = (Vec::new(), None);
        for part in parts {
            if request.take(part).map_err(SpecInterrupt::Impossible)? {
                continue;
            }
            match part.what.as_str() {
                "cluster" => clusters.push(part.name.clone()),
                "config" => rule = Some(text_of(&part.value)),
                _ => {}
            }
        }
        *script.host.noted() = super::host::HostRecording { clusters, ..Default::default() };
        let made = rule.map(|rule| {
            script.library.rule_config(script.made.number, &script.made.owner, &rule, &script.reclaim_queue)
        });
        let made = made.transpose().map_err(|error| SpecInterrupt::Impossible(error.to_string()))?;
        let (config, _held) = made.unwrap_or_else(|| (0, LibraryKeepAlive::default()));
        let exchange = ScriptExchange::new(script, &request, config).map_err(SpecInterrupt::Impossible)?;
        exchange.run(&request, &mut SpecUpstream { spec: &mut self.spec })
    }
}

impl Iterator for Rehearsal {
    type Item = SpecTestResult;

    /// Runs the next test.
    fn next(&mut self) -> Option<SpecTestResult> {
        let mut interrupting = None;
        loop {
            let said = match interrupting.take().map_or_else(|| self.step(), Ok) {
                Ok(said) => said,
                Err(broken) => return self.end(broken),
            };
            let first = said.first().cloned().unwrap_or_default();
            let (test, why) = (text_of(&first.name), text_of(&first.value));
            match first.what.as_str() {
                "passed" => return Some(SpecTestResult::Passed(test)),
                "failed" => return Some(SpecTestResult::Failed { test, why }),
                "broken" => return self.end(SpecTestResult::Broken(why)),
                "filter" | "send" => {}
                _ => return None,
            }
            self.answer = match self.run_parts(&said) {
                Ok(answer) => answer,
                Err(SpecInterrupt::Impossible(why)) => vec![SpecPart::new("error", why, "")],
                Err(SpecInterrupt::EndedEarly(more)) => {
                    interrupting = Some(more);
                    continue;
                }
                Err(SpecInterrupt::Broken(why)) => return self.end(SpecTestResult::Broken(why)),
            };
        }
    }
}

impl Rehearsal {
    /// Ends the iteration: a broken spec is not run any further.
    fn end(&mut self, broken: SpecTestResult) -> Option<SpecTestResult> {
        // It is replaced by a spec without tests.
        self.spec = LuaSpec::load("ended", b"").ok()?;
        Some(broken)
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
