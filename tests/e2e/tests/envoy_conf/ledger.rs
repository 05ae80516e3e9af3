//! Progress file of a long comparison run, so that an interrupted run can be resumed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use eddy_e2e::place::variable;

use crate::Compared;
use crate::coverage::Coverage;

/// Progress of a comparison run.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Path of the file, if any.
    path: Option<PathBuf>,
    /// Seed of the next configurations.
    pub(crate) seed: u64,
    pub(crate) compared: Compared,
    pub(crate) coverage: Coverage,
}

impl Ledger {
    /// Reads the file named by `EDDY_ENVOY_LEDGER`, if its run has not reached `wanted` pairs; otherwise starts at
    /// zero.
    pub(crate) fn open(wanted: usize) -> Result<Self> {
        let path = variable("EDDY_ENVOY_LEDGER").map(PathBuf::from);
        let mut ledger =
            Self { path, seed: FIRST_SEED, compared: Compared::default(), coverage: Coverage::default() };
        let text = ledger.path.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(": ") else { continue };
            if name == SEED {
                ledger.seed = value.parse().context("the ledger has no seed")?;
            } else {
                counts.insert(name.to_owned(), value.parse().with_context(|| format!("no number: {line}"))?);
            }
        }
        let pairs = counts.remove(PAIRS).unwrap_or_default();
        let left_out = counts.remove(LEFT_OUT).unwrap_or_default();
        counts.remove(DIFFERENT);
        // A completed run is not resumed: the next run begins with other seeds.
        if pairs < wanted {
            ledger.compared = Compared { pairs, left_out };
            ledger.coverage = Coverage::of_lines(&counts);
        }
        Ok(ledger)
    }

    /// Advances to the next seed and saves the progress.
    pub(crate) fn turn(&mut self) -> Result<()> {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Some(path) = &self.path else { return Ok(()) };
        let mut text =
            "Generated routes compared with the real Envoy, request by request; progress of the last run.\n\n"
                .to_owned();
        let own = [(PAIRS, self.compared.pairs), (DIFFERENT, 0), (LEFT_OUT, self.compared.left_out)];
        for (name, count) in own.into_iter().chain(self.coverage.lines()) {
            // Writing to memory cannot fail.
            let _ = writeln!(text, "{name}: {count}");
        }
        let _ = writeln!(text, "{SEED}: {}", self.seed);
        // Atomic, so that an interrupted run leaves the previous file.
        let fresh = path.with_extension("next");
        fs::write(&fresh, text)?;
        fs::rename(fresh, path).with_context(|| format!("cannot write {}", path.display()))
    }
}

const PAIRS: &str = "pairs compared";
const DIFFERENT: &str = "unexplained differences";
const LEFT_OUT: &str = "left out for a reason in the list of divergences";
const SEED: &str = "next seed";

const FIRST_SEED: u64 = 0x9e37_79b9_7f4a_7c15;
