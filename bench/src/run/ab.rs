//! Comparison of two builds or two configurations in many pairs of one run.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::session::Session;
use super::traffic::Windows;
use super::whole::{lacking, measure};
use crate::measure::machine;
use crate::peers::{BenchTarget, GatewayKind};
use crate::report::results::Results;
use crate::settings::BenchSettings;

/// Options of a comparison of two contenders.
#[derive(Args, Clone, Debug)]
pub struct AbOptions {
    /// First contender: a program, and after a colon a template of its configuration if it is not the committed one.
    #[arg(long)]
    pub a: AbVariant,
    /// Second contender, in the same form.
    #[arg(long)]
    pub b: AbVariant,
    /// Name of the results.
    #[arg(long, env = "NAME", default_value = "ab")]
    pub name: String,
    /// Number of pairs of windows.
    #[arg(long, env = "PAIRS", default_value_t = 40)]
    pub pairs: usize,
    /// Options of all runs.
    #[command(flatten)]
    pub settings: BenchSettings,
}

/// A program and optionally a configuration, as written on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbVariant {
    binary: PathBuf,
    config: Option<PathBuf>,
}

impl FromStr for AbVariant {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (binary, config) =
            text.split_once(':').map_or((text, None), |(binary, config)| (binary, Some(config)));
        if binary.is_empty() || config == Some("") {
            bail!("expected PATH or PATH:CONFIG");
        }
        Ok(Self { binary: binary.into(), config: config.map(PathBuf::from) })
    }
}

impl AbVariant {
    /// Returns the target. It counts as eddy unless its program is named like a rival.
    fn target(&self, name: &str) -> Result<BenchTarget> {
        let file = self.binary.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let kind = GatewayKind::named(file).unwrap_or(GatewayKind::Eddy);
        let binary = std::fs::canonicalize(&self.binary)
            .with_context(|| format!("no program `{}`", self.binary.display()))?;
        Ok(BenchTarget { config: self.config.clone(), ..BenchTarget::new(name, kind, binary) })
    }
}

/// Runs the pairs and returns the results; the reference is `b`, so that ratios are `b` over `a`.
///
/// # Errors
/// Returns an error if nothing can be measured.
pub fn run_ab(options: AbOptions) -> Result<Results> {
    let AbOptions { a, b, name, pairs, mut settings } = options;
    if settings.scenarios.iter().all(String::is_empty) {
        settings.scenarios = vec!["get".to_owned()];
    }
    let scenarios = settings.chosen()?;
    settings.window()?;
    if pairs == 0 || settings.connections == 0 {
        bail!("nothing to measure: pairs and connections must not be 0");
    }
    let targets = vec![a.target(A)?, b.target(B)?];
    let absent = lacking(&scenarios, &targets);
    if !absent.is_empty() {
        bail!("{}", absent.join("; "));
    }
    let files_max = machine::raise_files_max();
    let mut session = Session::new(settings, pairs, targets, files_max)?;
    measure(&mut session, &scenarios, Windows::Saturation)?;
    session.progress.say("done");
    Ok(session.finish(&name, B))
}

const A: &str = "a";
const B: &str = "b";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_are_read() {
        let plain: AbVariant = "target/release/eddy".parse().unwrap();
        assert_eq!(plain, AbVariant { binary: "target/release/eddy".into(), config: None });
        let both: AbVariant = "eddy:other.yaml".parse().unwrap();
        assert_eq!(both, AbVariant { binary: "eddy".into(), config: Some("other.yaml".into()) });
        assert!("".parse::<AbVariant>().is_err());
        assert!("eddy:".parse::<AbVariant>().is_err());
    }
}
