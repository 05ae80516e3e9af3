//! `eddy filter build`: builds the library with the Go filters of a configuration.

use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use eddy_source::FileSource;
use eddy_spec::problem::{Problem, SourceText, to_json};
use serde::Serialize;

use super::output::{print_linking, show};
use crate::bundle::Bundle;
use crate::cli::arguments::FilterBuild;
use crate::cli::error::CommandError;
use crate::filters::{link_packages, problems_of};
use crate::terminal::{counted, print, print_json, print_problems};

/// JSON report of a build, for scripts.
#[derive(Serialize)]
struct FilterBuildReport<'a> {
    library: &'a Path,
    bytes: u64,
    /// Whether the library was linked just now.
    is_fresh: bool,
    time_ms: u64,
    packages: &'a [String],
    go: &'a str,
    kits: &'a str,
    problems: [Problem; 0],
}

/// Builds the library of a configuration.
///
/// # Errors
/// When the configuration is invalid, or its filters do not build.
pub(in crate::cli) fn run(arguments: &FilterBuild) -> Result<(), CommandError> {
    let begun = Instant::now();
    let loaded = match FileSource::new(arguments.files.configs.clone()).load() {
        Ok(loaded) => loaded,
        Err(rejected) => return Err(show_problems(arguments, &rejected.problems, &rejected.sources)),
    };
    let (mut config, mut sources) = (loaded.checked.config, loaded.sources);
    let notice = || {
        if !arguments.json {
            print_linking()
        }
    };
    let (cache, target) = (arguments.cache.cache_dir.as_deref(), arguments.target);
    let bundle = match link_packages(&mut config, cache, target, &notice) {
        Ok(Some(bundle)) => bundle,
        Ok(None) => {
            let message = "no filter of the configuration is a Go package, as in `go: {filter: hello, package: ./hello}`";
            return Err(anyhow!(message).into());
        }
        Err(failure) => {
            let problems = problems_of(failure, &config, &mut sources);
            return Err(show_problems(arguments, &problems, &sources));
        }
    };
    if let Some(output) = &arguments.output {
        bundle.copy_to(output).map_err(|failure| show(&failure))?;
    }
    let library = arguments.output.as_deref().unwrap_or(&bundle.library);
    let time_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    if arguments.json {
        let Bundle { record, is_fresh, .. } = &bundle;
        let document = FilterBuildReport {
            library,
            bytes: record.library_bytes,
            is_fresh: *is_fresh,
            time_ms,
            packages: &record.packages,
            go: &record.go,
            kits: &record.kits,
            problems: [],
        };
        print_json(&document)?;
    } else {
        print(&text_of(&bundle, library, time_ms))?;
    }
    Ok(())
}

/// Returns the report as text: the path alone on the first line, details on the second.
fn text_of(bundle: &Bundle, library: &Path, time_ms: u64) -> String {
    let record = &bundle.record;
    let what = counted(record.packages.len(), "package");
    let how = if bundle.is_fresh { "built" } else { "unchanged" };
    let (mebibyte_tenths, seconds_tenths) = (record.library_bytes * 10 / (1 << 20), time_ms / 100);
    format!(
        "{}\n{what}, {}, {}.{} MiB, {how} in {}.{} s\n",
        library.display(),
        record.go,
        mebibyte_tenths / 10,
        mebibyte_tenths % 10,
        seconds_tenths / 10,
        seconds_tenths % 10,
    )
}

fn show_problems(arguments: &FilterBuild, problems: &[Problem], sources: &[SourceText]) -> CommandError {
    if arguments.json {
        if let Err(error) = print(&format!("{}\n", to_json(problems, &[]))) {
            return error.into();
        }
    } else {
        print_problems(problems, sources);
    }
    CommandError::Reported
}
