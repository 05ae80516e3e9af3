//! Every planted fault can be applied: the text that it replaces occurs exactly once in its file.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use eddy_e2e::mutants::{FOLDER, read_mutants};
use eddy_e2e::place;

#[test]
fn every_fault_can_be_planted() -> Result<()> {
    let mutants = read_mutants(&place::tree().join(FOLDER))?;
    ensure!(mutants.len() >= 20, "only {} faults", mutants.len());
    for mutant in mutants {
        let path = place::tree().join(&mutant.file);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("{}: {}", mutant.name, path.display()))?;
        mutant.plant(&text)?;
    }
    Ok(())
}

#[test]
fn the_table_has_a_row_for_each_fault() -> Result<()> {
    let folder = place::tree().join(FOLDER);
    let mutants = read_mutants(&folder)?;
    let faults: BTreeSet<String> =
        mutants.iter().map(|mutant| format!("{} | {}", mutant.name, mutant.file.display())).collect();
    let table = std::fs::read_to_string(folder.join("RESULT.md"))?;
    let rows: BTreeSet<String> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .skip(1)
        .map(|row| row.split(" | ").take(2).collect::<Vec<_>>().join(" | "))
        .collect();
    let others: Vec<_> = faults.symmetric_difference(&rows).collect();
    ensure!(others.is_empty(), "{others:?}; `cargo xtask mutants --table` writes the table anew");
    Ok(())
}
