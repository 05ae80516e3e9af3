//! Applies each fault of `tests/mutants` and expects a test to fail: `eddy-mutants FOLDER [NAME...]`.
//!
//! FOLDER holds the copy of the tree, as last committed, and its build directory. Without names all faults are applied,
//! and `tests/mutants/RESULT.md` is written. `EDDY_MUTANTS_PROFILE` selects a profile other than `dev`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use eddy_e2e::mutants::{Mutant, MutantReport, Workshop, describe, read_mutants};
use eddy_e2e::place;

#[expect(clippy::print_stdout, reason = "a program for people")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let place: PathBuf = arguments.next().context("usage: eddy-mutants FOLDER [NAME...]")?.into();
    let names: Vec<String> = arguments.collect();
    let folder = place::tree().join("tests/mutants");
    let mutants = read_mutants(&folder)?;
    if let Some(name) = names.iter().find(|name| mutants.iter().all(|mutant| mutant.name != **name)) {
        anyhow::bail!("no fault is named {name:?}");
    }
    let chosen: Vec<&Mutant> =
        mutants.iter().filter(|mutant| names.is_empty() || names.contains(&mutant.name)).collect();
    let profile = place::variable("EDDY_MUTANTS_PROFILE").unwrap_or_else(|| "dev".into());
    let workshop = Workshop::open(&place::tree().canonicalize()?, &place, &profile)?;
    let commit = workshop.commit()?;
    println!("{} faults in a copy of {commit}; running their tests without faults first", chosen.len());
    let red = workshop.find_red(&chosen).await?;
    red.iter().for_each(|check| println!("fails without a fault: {}", describe(check)));
    let mut report = MutantReport::default();
    for mutant in &chosen {
        let since = Instant::now();
        let outcome = workshop.try_out(mutant, &red).await?;
        report.add(mutant, outcome, since.elapsed());
        println!("{}/{} {}", report.count().0, chosen.len(), report.last());
    }
    workshop.close()?;
    let (count, noticed) = report.count();
    let summary = format!("{noticed} of {count} planted faults were detected, in the tree of {commit}.");
    println!("\n{report}\n{summary}");
    if names.is_empty() {
        let text = format!("# Planted faults, last full run\n\n{summary}\n\n{report}");
        std::fs::write(folder.join("RESULT.md"), text).context("cannot write the result")?;
    }
    ensure!(report.missed().is_empty(), "not detected: {}", report.missed().join(", "));
    Ok(())
}
