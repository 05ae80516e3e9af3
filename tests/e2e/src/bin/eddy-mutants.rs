//! Applies faults of `tests/mutants` and expects a test to fail for each: `eddy-mutants FOLDER [SELECTION]`.
//!
//! FOLDER holds the copy of the tree, as last committed, and its build directory. SELECTION is a list of names,
//! `--stale`, or `--table`, which applies no fault; without it, all faults that were not applied to this commit yet are.
//! Each result is entered into `tests/mutants/RESULT.md` at once. `EDDY_MUTANTS_PROFILE` selects a profile other than
//! `dev`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use eddy_e2e::mutants::{
    FOLDER, Mutant, MutantRun, MutantSelection, MutantTable, Workshop, describe, read_mutants,
};
use eddy_e2e::place;

#[expect(clippy::print_stdout, reason = "a program for people")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let place: PathBuf = arguments.next().context("usage: eddy-mutants FOLDER [SELECTION]")?.into();
    let words: Vec<String> = arguments.collect();
    let tree = place::tree().canonicalize()?;
    let mutants = read_mutants(&tree.join(FOLDER))?;
    let mut table = MutantTable::open(&tree.join(FOLDER).join("RESULT.md"));
    let selection = match &words[..] {
        [] => MutantSelection::All,
        [word] if word == "--table" => return table.write(&mutants),
        [word] if word == "--stale" => MutantSelection::Stale,
        names => MutantSelection::Named(names.to_vec()),
    };
    let profile = place::variable("EDDY_MUTANTS_PROFILE").unwrap_or_else(|| "dev".into());
    let workshop = Workshop::open(&tree, &place, &profile)?;
    let commit = workshop.commit()?;
    let chosen = selection.of(&mutants, &table, &tree, &commit)?;
    println!("{} of {} faults, in a copy of {commit}", chosen.len(), mutants.len());
    let (begun, mut count, mut missed) = (Instant::now(), 0, Vec::new());
    for batch in chosen.chunks(BATCH) {
        println!("without a fault: the tests of {}", names(batch));
        let red = workshop.find_red(batch).await?;
        red.iter().for_each(|check| println!("fails without a fault: {}", describe(check)));
        for mutant in batch {
            let since = Instant::now();
            let verdict = workshop.try_out(mutant, &red).await?.to_string();
            count += 1;
            let left = begun.elapsed().as_secs() * (chosen.len() - count) as u64 / count as u64 / 60;
            let took = since.elapsed().as_secs();
            println!("{count}/{} {} ({took} s): {verdict}; {left} min left", chosen.len(), mutant.name);
            let run = MutantRun { verdict, commit: commit.clone(), date: date()? };
            missed.extend((!run.is_detected()).then_some(mutant.name.as_str()));
            table.enter(&mutant.name, run);
            table.write(&mutants)?;
        }
    }
    workshop.close()?;
    table.write(&mutants)?;
    ensure!(missed.is_empty(), "not detected: {}", missed.join(", "));
    Ok(())
}

fn names(mutants: &[&Mutant]) -> String {
    mutants.iter().map(|mutant| mutant.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn date() -> Result<String> {
    let output = Command::new("date").args(["--utc", "+%Y-%m-%d"]).output().context("cannot run date")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Faults whose tests run without a fault first. An interrupted run repeats these tests for at most one batch.
const BATCH: usize = 12;
