//! Reads and checks the configuration.

use std::sync::Arc;

use eddy_config::GatewayConfig;
use eddy_source::{FileSource, Rejected};
use eddy_spec::problem::{Problem, Severity};
use eddy_spec::version_of;

use super::loaded::Loaded;
use crate::bundle::GoBuildTarget;
use crate::filters::{FilterProblem, folders_of, link_packages, probe, problems_of};
use crate::tls::{ReadTls, advise};

/// Reads and checks the files of `source`, as the successor of the configuration in force, if there is one.
///
/// # Errors
/// All problems at once.
pub(super) fn load(source: &FileSource, last: Option<&GatewayConfig>) -> Result<Loaded, Rejected> {
    let loaded = last.map_or_else(|| source.load(), |last| source.load_after(last))?;
    let mut warnings = loaded.checked.warnings;
    let config = loaded.checked.config;
    let sources = loaded.sources;
    let tls = match ReadTls::read(&config) {
        Ok(tls) => tls,
        Err(problems) => return Err(Rejected { problems, sources }),
    };
    warnings.extend(advise(&config, &tls.parts));
    let folders = folders_of(&config);
    Ok(Loaded { config: Arc::new(config), sources, warnings, folders, bundle: None, tls })
}

/// Links the Go packages of a configuration.
///
/// # Errors
/// Why they cannot be linked.
///
/// # Cost
/// With Go packages: a tenth of a second, or the time of a compiler.
pub(super) fn linked(mut loaded: Loaded) -> Result<Loaded, Rejected> {
    let notice = || tracing::info!("linking Go packages");
    match link_packages(Arc::make_mut(&mut loaded.config), None, GoBuildTarget::Library, &notice) {
        Ok(bundle) => Ok(Loaded { bundle: bundle.map(|bundle| bundle.library), ..loaded }),
        Err(failure) => {
            let Loaded { config, mut sources, .. } = loaded;
            let problems = problems_of(failure, &config, &mut sources);
            Err(Rejected { problems, sources })
        }
    }
}

/// Links the Go packages of a configuration. If its texts are still those of `last_good`, the same library is used even
/// when the Go sources have changed: the process that replaces a crashed one runs the same code.
///
/// # Errors
/// Why the packages cannot be linked.
pub(super) fn linked_as(read: Loaded, last_good: Option<&Loaded>) -> Result<Loaded, Rejected> {
    let same = last_good.filter(|last| version_of(&last.sources) == version_of(&read.sources));
    match same {
        Some(Loaded { config, bundle: Some(bundle), .. }) if bundle.is_file() => {
            Ok(Loaded { config: Arc::clone(config), bundle: Some(bundle.clone()), ..read })
        }
        Some(_) | None => linked(read),
    }
}

/// Checks that all filters of a configuration can be created; adds warnings about them.
///
/// # Errors
/// Every filter that cannot be created.
pub(super) fn vetted(loaded: Loaded) -> Result<Loaded, Rejected> {
    let problems = probe(&loaded.config, &loaded.sources, loaded.bundle.as_deref());
    if Problem::errors(&problems) > 0 {
        return Err(Rejected { problems, sources: loaded.sources });
    }
    Ok(Loaded { warnings: loaded.warnings.into_iter().chain(problems).collect(), ..loaded })
}

/// Returns the rejection of a configuration whose filters could be created in the probe but not now.
pub(super) fn unmade(problems: &[FilterProblem], loaded: &Loaded) -> Rejected {
    let problems = problems.iter().map(|problem| problem.in_sources(&loaded.sources)).collect();
    Rejected { problems, sources: loaded.sources.clone() }
}

/// Logs each problem with its position.
pub(super) fn log_problems(problems: &[Problem]) {
    for problem in problems {
        let (path, line, column) = (&*problem.path, problem.line, problem.column);
        let hint = problem.hint.as_deref();
        match problem.severity {
            Severity::Error => tracing::error!(path, line, column, hint, "{}", problem.message),
            Severity::Warning => tracing::warn!(path, line, column, hint, "{}", problem.message),
        }
    }
}
