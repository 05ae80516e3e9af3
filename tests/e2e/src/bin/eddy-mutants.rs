//! Plants each fault of `tests/mutants` and expects a test to notice: `eddy-mutants FOLDER [NAME...]`.
//!
//! FOLDER holds the copy of the tree and its build directory. Without names all faults are planted.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use eddy_e2e::mutants::{Mutant, Outcome, Workshop, read_mutants};
use eddy_e2e::place;

#[expect(clippy::print_stdout, reason = "a program for people")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let place: PathBuf = arguments.next().context("usage: eddy-mutants FOLDER [NAME...]")?.into();
    let names: Vec<String> = arguments.collect();
    let mutants = read_mutants(&place::tree().join("tests/mutants"))?;
    let chosen: Vec<&Mutant> =
        mutants.iter().filter(|mutant| names.is_empty() || names.contains(&mutant.name)).collect();
    ensure!(!chosen.is_empty(), "no fault has one of these names: {names:?}");
    let profile = place::variable("EDDY_MUTANTS_PROFILE").unwrap_or_else(|| "dev".into());
    let workshop = Workshop::open(&place::tree().canonicalize()?, &place, &profile)?;
    workshop.check_unchanged(&chosen).await?;
    let mut bad = Vec::new();
    for mutant in &chosen {
        let since = Instant::now();
        let verdict = match workshop.try_out(mutant).await {
            Ok(Outcome::Noticed(by)) => format!("noticed by {by}"),
            Ok(Outcome::Survived) => {
                bad.push(mutant.name.clone());
                format!("SURVIVED: {}", mutant.what)
            }
            Err(error) => {
                bad.push(mutant.name.clone());
                format!("INVALID: {error:#}")
            }
        };
        println!("{} ({} s): {verdict}", mutant.name, since.elapsed().as_secs());
    }
    workshop.close()?;
    println!("{} of {} faults noticed", chosen.len() - bad.len(), chosen.len());
    ensure!(bad.is_empty(), "not noticed: {}", bad.join(", "));
    Ok(())
}
