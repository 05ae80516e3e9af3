//! What is known of a process that died: the names of its filters, and what it wrote to standard error.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// What a gateway process leaves with its parent, to be read when it has died.
#[derive(Debug, Default)]
pub(super) struct Testimony {
    filters: BTreeMap<u32, String>,
    file: Option<OwnedFd>,
    /// Whether another image of the parent had the file and is about to hand it over.
    pub(super) is_file_awaited: bool,
}

/// Why a process says it died.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastWords {
    /// The line that tells.
    pub(super) said: String,
    /// The function of a Go program that was at fault, with its package.
    pub(super) at: Option<String>,
}

impl Testimony {
    /// What another image of the parent knew; the file follows, if there is one.
    pub(super) fn adopt(filters: Vec<(u32, String)>, is_file_awaited: bool) -> Self {
        Self { filters: filters.into_iter().collect(), file: None, is_file_awaited }
    }

    /// Takes note of names.
    pub(super) fn add_filters(&mut self, names: Vec<(u32, String)>) {
        self.filters.extend(names);
        // The lowest numbers are the oldest filters.
        while self.filters.len() > FILTERS_MAX {
            self.filters.pop_first();
        }
    }

    /// Takes the file that is the process's standard error.
    pub(super) fn set_file(&mut self, file: OwnedFd) {
        self.file = Some(file);
        self.is_file_awaited = false;
    }

    /// All names, for another image of the parent.
    pub(super) fn names(&self) -> Vec<(u32, String)> {
        self.filters.iter().map(|(number, name)| (*number, name.clone())).collect()
    }

    /// The file, for another image of the parent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// How a record names a filter.
    pub(super) fn name_of(&self, number: u32) -> String {
        self.filters.get(&number).cloned().unwrap_or_else(|| format!("number {number}"))
    }

    /// What the process said last, if anything.
    pub(super) fn last_words(&self) -> Option<LastWords> {
        let text = read_end(self.file.as_ref()?).ok()?;
        LastWords::of(&String::from_utf8_lossy(&text))
    }
}

impl LastWords {
    fn of(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let is_beginning = |line: &&str| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
        let found = lines.iter().rposition(is_beginning);
        let index = found.or_else(|| lines.iter().rposition(|line| !line.trim().is_empty()))?;
        let said = lines.get(index)?.trim().chars().take(SAID_CHARS_MAX).collect();
        let rest = lines.get(index..).unwrap_or_default();
        Some(Self { said, at: rest.windows(2).find_map(go_function) })
    }
}

/// The function of a frame of a Go stack that is neither the runtime's nor the kit's: a line that ends with its
/// arguments, before one that is indented and names the place.
fn go_function(pair: &[&str]) -> Option<String> {
    let [call, place] = pair else { return None };
    let function =
        call.strip_suffix(')').and_then(|call| call.rsplit_once('(')).map(|(function, _)| function)?;
    let is_frame =
        place.starts_with('\t') && place.contains(".go:") && !call.starts_with(char::is_whitespace);
    let is_others = OTHERS.iter().any(|package| function.starts_with(package)) || !function.contains('.');
    (is_frame && !is_others).then(|| function.to_owned())
}

/// The last bytes of a memory file that its writer may still have.
fn read_end(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let file = File::from(eddy_io::duplicate(file)?);
    let length = file.metadata()?.len();
    let from = length.saturating_sub(END_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}

/// How the lines begin by which runtimes say that the process is about to die.
const BEGINNINGS: [&str; 9] = [
    "panic: ",
    "fatal error: ",
    "SIG",
    "runtime: out of memory",
    "*** ",
    "terminate called",
    "thread '",
    "free(): ",
    "double free",
];

/// Packages in which a mistake of a filter only shows.
const OTHERS: [&str; 5] =
    ["runtime.", "panic", "created by ", "internal/", "github.com/eddy-gateway/eddy/sdk/go/"];

const FILTERS_MAX: usize = 4096;
const END_BYTES_MAX: u64 = 256 * 1024;
const SAID_CHARS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_goroutine_names_its_package() {
        let text = "a filter wrote this\npanic: assignment to entry in nil map\n\ngoroutine 18 [running]:\n\
                    runtime.throw({0x1, 0x2})\n\t/usr/go/src/runtime/panic.go:1 +0x1\n\
                    example.com/filters/auth.(*Filter).refresh(0xc000012345)\n\t/src/auth/auth.go:41 +0x3c\n\
                    created by example.com/filters/auth.New in goroutine 1\n\t/src/auth/auth.go:20 +0x5f\n";
        let words = LastWords::of(text).unwrap();
        assert_eq!(words.said, "panic: assignment to entry in nil map");
        assert_eq!(words.at.as_deref(), Some("example.com/filters/auth.(*Filter).refresh"));
    }

    #[test]
    fn other_words_are_kept_as_they_are() {
        let words = LastWords::of("starting\nlibmark: no licence found\n\n").unwrap();
        assert_eq!((words.said.as_str(), words.at), ("libmark: no licence found", None));
        assert_eq!(
            LastWords::of("double free or corruption (out)\nAborted\n").unwrap().said,
            "double free or corruption (out)"
        );
        assert_eq!(LastWords::of("\n \n"), None);
    }

    #[test]
    fn names_are_kept_up_to_a_limit() {
        let mut testimony = Testimony::adopt(vec![(1, "auth".to_owned())], false);
        assert_eq!((testimony.name_of(1), testimony.name_of(2)), ("auth".to_owned(), "number 2".to_owned()));
        testimony.add_filters((2..5000).map(|number| (number, format!("f{number}"))).collect());
        assert_eq!((testimony.names().len(), testimony.name_of(1)), (FILTERS_MAX, "number 1".to_owned()));
        assert_eq!(testimony.last_words(), None);
    }
}
