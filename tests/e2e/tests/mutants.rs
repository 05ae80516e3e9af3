//! Every planted fault can be applied: the text that it replaces occurs exactly once in its file.

use anyhow::{Context, Result, ensure};
use eddy_e2e::mutants::read_mutants;
use eddy_e2e::place;

#[test]
fn every_fault_can_be_planted() -> Result<()> {
    let mutants = read_mutants(&place::tree().join("tests/mutants"))?;
    ensure!(mutants.len() >= 20, "only {} faults", mutants.len());
    for mutant in mutants {
        let path = place::tree().join(&mutant.file);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("{}: {}", mutant.name, path.display()))?;
        mutant.plant(&text)?;
    }
    Ok(())
}
