use std::fs;
use std::process::Command;

use super::*;
use crate::mutants::read_mutants;
use crate::mutants::table::MutantRun;
use crate::place::TempDir;

/// A repository with two files and a fault for each.
struct Repository {
    folder: TempDir,
    table: MutantTable,
}

impl Repository {
    fn new() -> Self {
        let folder = TempDir::new("repository").unwrap();
        fs::create_dir_all(folder.join(FOLDER)).unwrap();
        let table = MutantTable::open(&folder.join("RESULT.md"));
        let repository = Self { folder, table };
        repository.git(&["init", "--quiet"]);
        repository.write("a.rs", "a");
        repository.write("b.rs", "b");
        repository.write("tests/mutants/x.mutants", &(fault("one", "a", "x") + &fault("two", "b", "x")));
        repository.commit();
        repository
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.join(path), text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let who = ["-c", "user.name=a", "-c", "user.email=a@a.test"];
        let status = Command::new("git").arg("-C").arg(self.folder.path()).args(who).args(words).status();
        assert!(status.unwrap().success(), "git {words:?}");
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "a"]);
    }

    fn head(&self) -> String {
        git_text(self.folder.path(), &["log", "-1", "--format=%h"]).unwrap().trim().to_owned()
    }

    fn enter(&mut self, name: &str, verdict: &str) {
        let commit = self.head();
        self.table
            .enter(name, MutantRun { verdict: verdict.to_owned(), commit, date: "2020-02-29".to_owned() });
    }

    fn selected(&self, selection: &MutantSelection) -> Vec<String> {
        let mutants = read_mutants(&self.folder.join(FOLDER)).unwrap();
        let selected = selection.of(&mutants, &self.table, self.folder.path(), &self.head()).unwrap();
        selected.into_iter().map(|mutant| mutant.name.clone()).collect()
    }
}

fn fault(name: &str, file: &str, replace: &str) -> String {
    format!("== {name}: it\nfile: {file}.rs\nunit: -p it\n<<<<\n{file}\n====\n{replace}\n>>>>\n")
}

#[test]
fn a_result_is_valid_until_the_file_or_the_fault_changes() {
    let mut repository = Repository::new();
    assert_eq!(repository.selected(&MutantSelection::Stale), ["one", "two"]);
    repository.enter("one", "detected by `cargo test it`");
    repository.enter("two", "**SURVIVED**");
    assert_eq!(
        repository.selected(&MutantSelection::Stale),
        ["two"],
        "a fault that survived is planted again"
    );
    assert_eq!(repository.selected(&MutantSelection::All), [""; 0]);
    repository.enter("two", "detected by `cargo test it`");
    repository.write("b.rs", "b // changed");
    repository.commit();
    assert_eq!(repository.selected(&MutantSelection::Stale), ["two"]);
    assert_eq!(repository.selected(&MutantSelection::All), ["one", "two"]);
    repository.write("tests/mutants/x.mutants", &(fault("one", "a", "other") + &fault("two", "b", "x")));
    repository.commit();
    assert_eq!(
        repository.selected(&MutantSelection::Stale),
        ["one", "two"],
        "another fault of the same name"
    );
    let mut unknown = repository.table.run("one").unwrap().clone();
    unknown.commit = "0123456".to_owned();
    repository.table.enter("one", unknown);
    assert_eq!(repository.selected(&MutantSelection::Stale), ["one", "two"]);
    assert_eq!(repository.selected(&MutantSelection::Named(vec!["two".to_owned()])), ["two"]);
}
