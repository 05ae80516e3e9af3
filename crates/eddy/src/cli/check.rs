//! `eddy check`: reports every problem of a configuration.

use eddy_config::GatewayConfig;
use eddy_route::nginx::BlockKind;
use eddy_source::{FileSource, Loaded};
use eddy_spec::ObjectStatus;
use eddy_spec::problem::{Problem, SourceText, to_json};

use super::arguments::Check;
use super::error::CommandError;
use super::filter::print_linking;
use crate::bundle::GoBuildTarget;
use crate::filters;
use crate::terminal::{counted, print, print_error, print_problems};
use crate::tls::{ReadTls, advise};

/// Reads and checks the configuration and prints the result.
///
/// # Errors
/// When one of the problems is an error.
pub(super) fn run(arguments: &Check) -> Result<(), CommandError> {
    let (problems, sources, config, objects) = match FileSource::new(arguments.files.configs.clone())
        .with_leniency(arguments.dialect.leniency())
        .load()
    {
        Ok(loaded) => with_filters(loaded),
        Err(rejected) => (rejected.problems, rejected.sources, None, Vec::new()),
    };
    if arguments.json {
        print(&format!("{}\n", to_json(&problems, &objects)))?;
    } else {
        print_problems(&problems, &sources);
    }
    let Some(config) = config else {
        if !arguments.json {
            print_error(&format!("{}\n", counted(Problem::errors(&problems), "error")));
        }
        return Err(CommandError::Reported);
    };
    if !arguments.json {
        for object in &objects {
            print(&format!("{object}\n"))?;
        }
        let in_tables: usize = config.tables.values().map(|table| table.routes.rules.len()).sum();
        let is_location = |kind: &BlockKind| !matches!(kind, BlockKind::Server | BlockKind::If);
        let places = config.sites.iter().flat_map(|sites| sites.program.places());
        let in_sites = places.filter(|place| is_location(&place.kind)).count();
        let rules = in_tables + in_sites;
        print(&format!(
            "ok: {}, {}, {}\n",
            counted(config.listeners.len(), "listener"),
            counted(rules, "rule"),
            counted(config.clusters.len(), "cluster")
        ))?;
    }
    Ok(())
}

/// Adds the problems found by reading certificates and probing filters.
fn with_filters(loaded: Loaded) -> CheckResult {
    let Loaded { mut checked, mut sources } = loaded;
    match ReadTls::read(&checked.config) {
        Ok(tls) => checked.warnings.extend(advise(&checked.config, &tls.parts)),
        Err(problems) => {
            return (checked.warnings.into_iter().chain(problems).collect(), sources, None, Vec::new());
        }
    }
    let wrong =
        match filters::link_packages(&mut checked.config, None, GoBuildTarget::Library, &print_linking) {
            Ok(bundle) => {
                let library = bundle.as_ref().map(|bundle| &*bundle.library);
                filters::probe(&checked.config, &sources, library)
            }
            Err(failure) => filters::problems_of(failure, &checked.config, &mut sources),
        };
    let config = (Problem::errors(&wrong) == 0).then_some(checked.config);
    (checked.warnings.into_iter().chain(wrong).collect(), sources, config, checked.statuses)
}

/// Problems, the texts that they refer to, the configuration if no problem is an error, and the status of Kubernetes
/// objects.
type CheckResult = (Vec<Problem>, Vec<SourceText>, Option<GatewayConfig>, Vec<ObjectStatus>);
