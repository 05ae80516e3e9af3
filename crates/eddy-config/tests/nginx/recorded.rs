//! Recorded responses of another program, for machines on which it is not installed.

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) struct Recorded {
    path: Option<PathBuf>,
    known: BTreeMap<String, String>,
    noted: BTreeMap<String, String>,
}

impl Recorded {
    /// Opens a file of responses by its path below `tests`; no file if the name is empty.
    pub(crate) fn open(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
        let path = (!name.is_empty()).then(|| folder.join(name));
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let known = text.lines().filter_map(|line| line.split_once('\t'));
        let known = known.map(|(key, answer)| (key.to_owned(), answer.to_owned())).collect();
        Self { path, known, noted: BTreeMap::new() }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&str> {
        self.known.get(key).map(String::as_str)
    }

    pub(crate) fn note(&mut self, key: &str, answer: &str) {
        self.noted.insert(key.to_owned(), answer.to_owned());
    }

    /// Writes the recorded responses, if `UPDATE` is set.
    pub(crate) fn close(self, is_there: bool) {
        let Some(path) = self.path.filter(|_| is_there && std::env::var_os("UPDATE").is_some()) else {
            return;
        };
        let lines: String = self.noted.iter().map(|(key, answer)| format!("{key}\t{answer}\n")).collect();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines).unwrap();
    }
}
