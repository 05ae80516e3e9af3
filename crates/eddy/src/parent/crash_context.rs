//! Information about a process that died: the names of its filters, and its output on standard error.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::quarantine::Suspect;
use crate::control::FilterAbout;

/// Information that a gateway process leaves with its parent, for the report of a crash.
#[derive(Debug, Default)]
pub(super) struct CrashContext {
    filters: BTreeMap<u32, String>,
    /// By filter name.
    about: BTreeMap<String, FilterAbout>,
    file: Option<OwnedFd>,
    /// Whether the previous image of the parent had the file and is about to hand it over.
    pub(super) is_file_awaited: bool,
}

/// Crash message of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CrashMessage {
    /// Line that states the cause.
    pub(super) said: String,
    /// Function of a Go program that failed, with its package.
    pub(super) at: Option<String>,
    /// Source files in the stack trace of a Go program, the innermost first.
    pub(super) files: Vec<PathBuf>,
}

impl CrashContext {
    /// Restores the information of the previous image of the parent; the file follows, if there is one.
    pub(super) fn adopt(filters: Vec<(u32, String)>, about: Vec<FilterAbout>, is_file_awaited: bool) -> Self {
        let mut adopted = Self { is_file_awaited, ..Self::default() };
        adopted.add_filters(filters);
        adopted.add_about(about);
        adopted
    }

    /// Adds details of filters.
    pub(super) fn add_about(&mut self, about: Vec<FilterAbout>) {
        for filter in about {
            if self.about.len() < FILTERS_MAX || self.about.contains_key(&filter.name) {
                self.about.insert(filter.name.clone(), filter);
            }
        }
    }

    /// Returns the details of all filters, for the next image of the parent.
    pub(super) fn about(&self) -> Vec<FilterAbout> {
        self.about.values().cloned().collect()
    }

    /// Returns the filters that may have caused a crash: those whose source folder appears in the stack trace of a Go
    /// program, else those that workers were in.
    pub(super) fn suspects(&self, words: &CrashMessage, entered: &[String]) -> Vec<Suspect> {
        let suspect =
            |about: &FilterAbout| Suspect { name: about.name.clone(), version: about.version.clone() };
        for file in &words.files {
            let is_here =
                |about: &&FilterAbout| about.folder.as_deref().is_some_and(|own| file.parent() == Some(own));
            let found: Vec<Suspect> = self.about.values().filter(is_here).map(suspect).collect();
            if !found.is_empty() {
                return found;
            }
        }
        entered.iter().filter_map(|name| self.about.get(name)).map(suspect).collect()
    }

    /// Adds names of filters.
    pub(super) fn add_filters(&mut self, names: Vec<(u32, String)>) {
        self.filters.extend(names);
        // The lowest numbers belong to the oldest filters.
        while self.filters.len() > FILTERS_MAX {
            self.filters.pop_first();
        }
    }

    /// Sets the file with the standard error of the process.
    pub(super) fn set_file(&mut self, file: OwnedFd) {
        self.file = Some(file);
        self.is_file_awaited = false;
    }

    /// Returns all names, for the next image of the parent.
    pub(super) fn names(&self) -> Vec<(u32, String)> {
        self.filters.iter().map(|(number, name)| (*number, name.clone())).collect()
    }

    /// Returns the file, for the next image of the parent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Returns the name of a filter for log entries.
    pub(super) fn name_of(&self, number: u32) -> String {
        self.filters.get(&number).cloned().unwrap_or_else(|| format!("number {number}"))
    }

    /// Returns the crash message of the process, if it wrote one.
    pub(super) fn crash_message(&self) -> Option<CrashMessage> {
        let text = read_end(self.file.as_ref()?).ok()?;
        CrashMessage::of(&String::from_utf8_lossy(&text))
    }
}

impl CrashMessage {
    fn of(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let is_beginning = |line: &&str| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
        let found = lines.iter().rposition(is_beginning);
        let index = found.or_else(|| lines.iter().rposition(|line| !line.trim().is_empty()))?;
        let said = lines.get(index)?.trim().chars().take(MESSAGE_CHARS_MAX).collect();
        let rest = lines.get(index..).unwrap_or_default();
        Some(Self { said, at: rest.windows(2).find_map(go_function), files: go_files(rest) })
    }
}

/// Returns the source files of the first stack trace in these lines, which is that of the failed goroutine.
fn go_files(lines: &[&str]) -> Vec<PathBuf> {
    let stack =
        lines.iter().skip_while(|line| !line.starts_with("goroutine ")).take_while(|line| !line.is_empty());
    let file = |line: &&str| {
        let (file, _) = line.strip_prefix('\t')?.split_once(".go:")?;
        Some(PathBuf::from(format!("{file}.go")))
    };
    stack.filter_map(file).take(FILES_MAX).collect()
}

/// Returns the function of a Go stack frame that belongs neither to the runtime nor to the SDK: a line that ends with
/// its arguments, before an indented line with the position.
fn go_function(pair: &[&str]) -> Option<String> {
    let [call, place] = pair else { return None };
    let function =
        call.strip_suffix(')').and_then(|call| call.rsplit_once('(')).map(|(function, _)| function)?;
    let is_frame =
        place.starts_with('\t') && place.contains(".go:") && !call.starts_with(char::is_whitespace);
    let is_others =
        RUNTIME_PACKAGES.iter().any(|package| function.starts_with(package)) || !function.contains('.');
    (is_frame && !is_others).then(|| function.to_owned())
}

/// Reads the end of a memory file whose writer may still have it open.
fn read_end(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let file = File::from(eddy_io::duplicate(file)?);
    let length = file.metadata()?.len();
    let from = length.saturating_sub(END_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}

/// Beginnings of the lines by which runtimes announce the end of the process.
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

/// Packages in which the error of a filter only shows.
const RUNTIME_PACKAGES: [&str; 5] =
    ["runtime.", "panic", "created by ", "internal/", "github.com/eddy-gateway/eddy/sdk/go/"];

const FILTERS_MAX: usize = 4096;
const FILES_MAX: usize = 256;
const END_BYTES_MAX: u64 = 256 * 1024;
const MESSAGE_CHARS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goroutine_panic_names_its_package() {
        let text = "a filter wrote this\npanic: assignment to entry in nil map\n\ngoroutine 18 [running]:\n\
                    runtime.throw({0x1, 0x2})\n\t/usr/go/src/runtime/panic.go:1 +0x1\n\
                    example.com/filters/auth.(*Filter).refresh(0xc000012345)\n\t/src/auth/auth.go:41 +0x3c\n\
                    created by example.com/filters/auth.New in goroutine 1\n\t/src/auth/auth.go:20 +0x5f\n";
        let words = CrashMessage::of(text).unwrap();
        assert_eq!(words.said, "panic: assignment to entry in nil map");
        assert_eq!(words.at.as_deref(), Some("example.com/filters/auth.(*Filter).refresh"));
        let files = ["/usr/go/src/runtime/panic.go", "/src/auth/auth.go", "/src/auth/auth.go"];
        assert_eq!(words.files, files.map(PathBuf::from));
    }

    #[test]
    fn a_stack_trace_takes_precedence_over_entered_filters() {
        let about = |name: &str, folder: Option<&str>| FilterAbout {
            name: name.to_owned(),
            version: "1".to_owned(),
            folder: folder.map(PathBuf::from),
        };
        let about =
            vec![about("auth", Some("/src/auth")), about("mark", Some("/src/mark")), about("c", None)];
        let crash_context = CrashContext::adopt(vec![], about, false);
        let entered = ["c".to_owned(), "unknown".to_owned()];
        let names = |words: &CrashMessage| -> Vec<String> {
            crash_context.suspects(words, &entered).into_iter().map(|suspect| suspect.name).collect()
        };
        let text = |file: &str| {
            format!(
                "panic: x\n\ngoroutine 18 [running]:\na.b()\n\t{file}:41 +0x3c\n\ngoroutine 19:\na.b()\n\t/src/mark/m.go:1\n"
            )
        };
        assert_eq!(names(&CrashMessage::of(&text("/src/auth/a.go")).unwrap()), ["auth"]);
        assert_eq!(names(&CrashMessage::of(&text("/src/elsewhere/a.go")).unwrap()), ["c"]);
        assert_eq!(names(&CrashMessage::default()), ["c"]);
    }

    #[test]
    fn other_messages_are_kept_verbatim() {
        let words = CrashMessage::of("starting\nlibmark: no licence found\n\n").unwrap();
        assert!(words.files.is_empty());
        assert_eq!((words.said.as_str(), words.at), ("libmark: no licence found", None));
        assert_eq!(
            CrashMessage::of("double free or corruption (out)\nAborted\n").unwrap().said,
            "double free or corruption (out)"
        );
        assert_eq!(CrashMessage::of("\n \n"), None);
    }

    #[test]
    fn names_are_kept_up_to_a_limit() {
        let mut crash_context = CrashContext::adopt(vec![(1, "auth".to_owned())], vec![], false);
        assert_eq!(
            (crash_context.name_of(1), crash_context.name_of(2)),
            ("auth".to_owned(), "number 2".to_owned())
        );
        crash_context.add_filters((2..5000).map(|number| (number, format!("f{number}"))).collect());
        assert_eq!(
            (crash_context.names().len(), crash_context.name_of(1)),
            (FILTERS_MAX, "number 1".to_owned())
        );
        assert_eq!(crash_context.crash_message(), None);
    }
}
