//! A peer's answers to a list of requests: as texts from the peer itself, or as digests from a file.
//!
//! A file has the digest of every [`BLOCK`] answers, and as text only the answers that show something: the first of each
//! kind, and those that differ from eddy's. Digests are enough to verify that eddy's answers are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// A peer's answers to a list of requests, each one line of text.
#[derive(Clone, Debug)]
pub enum PeerAnswers {
    /// Answers of the running peer.
    Live {
        /// Answers in the order of the requests.
        texts: Vec<String>,
        /// File of the recorded answers, and digest of the requests.
        file: Option<(PathBuf, u64)>,
    },
    /// Recorded answers.
    Recorded(AnswerRecord),
}

/// Recorded answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRecord {
    /// Digest of the requests.
    questions: u64,
    count: usize,
    /// Answers that are recorded as text, by the number of the request.
    texts: BTreeMap<usize, String>,
    /// Digests of the other answers of each block.
    digests: Vec<u64>,
}

/// A difference between eddy's answers and the peer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerDifference {
    /// Number of the request; or, if only a digest of the peer's answers is known, the numbers of several requests, at
    /// least one of which is answered differently.
    pub numbers: Vec<usize>,
    /// The peer's answer, if it is known as text.
    pub theirs: Option<String>,
}

/// A peer, as the report of a difference names it.
#[derive(Clone, Copy, Debug)]
pub struct AnsweringPeer {
    /// Name of the program.
    pub name: &'static str,
    /// Steps by which a developer sees the peer's answers as text.
    pub remedy: &'static str,
}

/// Error: answers cannot be compared.
#[derive(Debug)]
pub enum AnswerError {
    /// There are not as many answers of the peer as of eddy.
    Count {
        /// Answers of the peer.
        theirs: usize,
        /// Answers of eddy.
        ours: usize,
    },
    /// The file of recorded answers cannot be read or written.
    File(PathBuf, io::Error),
    /// The file of recorded answers does not have the format of one.
    Format(PathBuf),
    /// The answers were recorded for other requests.
    Questions(PathBuf),
    /// The running peer answers differently than recorded.
    Outdated(PathBuf, Vec<AnswerDifference>),
}

impl PeerAnswers {
    /// Returns where the answers differ from `ours`, which has `None` for requests that are not compared.
    ///
    /// `is_explained` tells from the number of a request, our answer and theirs whether the difference is a known one.
    /// With `UPDATE` set and the peer running, the answers are recorded.
    ///
    /// # Errors
    /// When the file cannot be written, when it disagrees with the running peer, and when the number of answers differs.
    pub fn compare(
        &self,
        ours: &[Option<String>],
        is_explained: impl Fn(usize, &str, &str) -> bool,
    ) -> Result<Vec<AnswerDifference>, AnswerError> {
        if self.len() != ours.len() {
            return Err(AnswerError::Count { theirs: self.len(), ours: ours.len() });
        }
        let (texts, file) = match self {
            Self::Recorded(record) => return Ok(record.differences(ours, is_explained)),
            Self::Live { texts, file } => (texts, file),
        };
        if let Some((file, questions)) = file {
            if env::var_os("UPDATE").is_some() {
                AnswerRecord::of(*questions, texts, ours).write(file)?;
            }
            let own: Vec<Option<String>> = texts.iter().cloned().map(Some).collect();
            let changed = AnswerRecord::read(file, *questions)?.differences(&own, |_, _, _| false);
            if !changed.is_empty() {
                return Err(AnswerError::Outdated(file.clone(), changed));
            }
        }
        let pairs = ours.iter().zip(texts).enumerate();
        Ok(pairs
            .filter(|(number, (ours, theirs))| {
                ours.as_ref().is_some_and(|ours| ours != *theirs && !is_explained(*number, ours, theirs))
            })
            .map(|(number, (_, theirs))| AnswerDifference::of(number, theirs))
            .collect())
    }

    /// Returns the recorded answers to the requests with this digest.
    ///
    /// # Errors
    /// When the file cannot be read or was recorded for other requests.
    pub fn recorded(file: &Path, questions: u64) -> Result<Self, AnswerError> {
        Ok(Self::Recorded(AnswerRecord::read(file, questions)?))
    }

    /// Number of answers.
    pub fn len(&self) -> usize {
        match self {
            Self::Live { texts, .. } => texts.len(),
            Self::Recorded(record) => record.count,
        }
    }

    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl AnswerDifference {
    fn of(number: usize, theirs: &str) -> Self {
        Self { numbers: vec![number], theirs: Some(theirs.to_owned()) }
    }

    /// Describes the difference: the requests, eddy's answers, and the peer's answer or how to see it.
    pub fn describe(
        &self,
        peer: AnsweringPeer,
        ours: &[Option<String>],
        request: impl Fn(usize) -> String,
    ) -> String {
        let answered = |number: &usize| {
            let ours = ours.get(*number).and_then(Option::as_deref).unwrap_or("(not compared)");
            format!("{}\n  eddy  {ours}\n", request(*number))
        };
        let answered: String = self.numbers.iter().map(answered).collect();
        let AnsweringPeer { name, remedy } = peer;
        match &self.theirs {
            Some(theirs) => format!("{answered}  {name} {theirs}\n"),
            None => format!(
                "{name} answers at least one of these {} differently:\n{answered}its answers to them are recorded as a \
                 digest only; to see them: {remedy}\n",
                self.numbers.len()
            ),
        }
    }
}

impl AnswerRecord {
    /// Records the peer's answers; those that differ from `ours` as text.
    fn of(questions: u64, theirs: &[String], ours: &[Option<String>]) -> Self {
        let (mut kinds, mut texts) = (BTreeSet::new(), BTreeMap::new());
        for (number, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
            if kinds.insert(kind(theirs)) || ours.as_ref() != Some(theirs) {
                texts.insert(number, theirs.clone());
            }
        }
        let mut record = Self { questions, count: theirs.len(), texts, digests: Vec::new() };
        let answers: Vec<Option<&str>> = theirs.iter().map(|answer| Some(answer.as_str())).collect();
        record.digests = answers.chunks(BLOCK).enumerate().map(|block| record.digest(block)).collect();
        record
    }

    /// Returns the recorded answers to the requests with this digest.
    ///
    /// # Errors
    /// When the file cannot be read or was recorded for other requests.
    fn read(file: &Path, questions: u64) -> Result<Self, AnswerError> {
        let text = fs::read_to_string(file).map_err(|error| AnswerError::File(file.to_owned(), error))?;
        let record = Self::parse(&text).ok_or_else(|| AnswerError::Format(file.to_owned()))?;
        if record.questions != questions {
            return Err(AnswerError::Questions(file.to_owned()));
        }
        Ok(record)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let questions = u64::from_str_radix(lines.next()?.strip_prefix("questions ")?, 16).ok()?;
        let count = lines.next()?.strip_prefix("answers ")?.parse().ok()?;
        let (mut texts, mut digests) = (BTreeMap::new(), Vec::new());
        for line in lines {
            match line.split_once(": ") {
                Some((number, answer)) => drop(texts.insert(number.parse().ok()?, answer.to_owned())),
                None => digests.extend(line.split(' ').filter_map(|word| u64::from_str_radix(word, 16).ok())),
            }
        }
        (digests.len() == usize::div_ceil(count, BLOCK)).then_some(Self { questions, count, texts, digests })
    }

    fn write(&self, file: &Path) -> Result<(), AnswerError> {
        // Another test of the same program may read the file meanwhile, so it gets its name when it is complete.
        let new = file.with_extension(format!("{}.new", process::id()));
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        let written =
            folder.and_then(|()| fs::write(&new, self.to_string())).and_then(|()| fs::rename(&new, file));
        written.map_err(|error| AnswerError::File(file.to_owned(), error))
    }

    fn differences(
        &self,
        ours: &[Option<String>],
        is_explained: impl Fn(usize, &str, &str) -> bool,
    ) -> Vec<AnswerDifference> {
        let mut different = Vec::new();
        for (number, theirs) in &self.texts {
            if let Some(Some(ours)) = ours.get(*number)
                && ours != theirs
                && !is_explained(*number, ours, theirs)
            {
                different.push(AnswerDifference::of(*number, theirs));
            }
        }
        let ours: Vec<Option<&str>> = ours.iter().map(Option::as_deref).collect();
        for (block, answers) in ours.chunks(BLOCK).enumerate() {
            if self.digests.get(block) != Some(&self.digest((block, answers))) {
                let first = block * BLOCK;
                let numbers =
                    (first..first + answers.len()).filter(|number| !self.texts.contains_key(number));
                different.push(AnswerDifference { numbers: numbers.collect(), theirs: None });
            }
        }
        different
    }

    /// Returns the digest of the answers of a block that are not recorded as text.
    fn digest(&self, (block, answers): (usize, &[Option<&str>])) -> u64 {
        let mut digest = Fnv::default();
        for (place, answer) in answers.iter().enumerate() {
            if !self.texts.contains_key(&(block * BLOCK + place)) {
                digest.add(answer.unwrap_or("not answered").as_bytes());
                digest.add(b"\n");
            }
        }
        digest.value()
    }
}

impl Display for AnswerRecord {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "questions {:016x}\nanswers {}\n", self.questions, self.count)?;
        for (number, answer) in &self.texts {
            writeln!(out, "{number}: {answer}")?;
        }
        for digests in self.digests.chunks(DIGESTS_PER_LINE) {
            let words: Vec<String> = digests.iter().map(|digest| format!("{digest:016x}")).collect();
            writeln!(out, "{}", words.join(" "))?;
        }
        Ok(())
    }
}

impl Display for AnswerError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { theirs, ours } => write!(out, "{theirs} answers of the peer and {ours} of eddy"),
            Self::File(file, _) => write!(out, "cannot read or write {}", file.display()),
            Self::Format(file) => write!(out, "{} is not complete", file.display()),
            Self::Questions(file) => write!(
                out,
                "{} is for other questions; UPDATE=1 records the answers again where the peer is installed",
                file.display()
            ),
            Self::Outdated(file, different) => write!(
                out,
                "the answers of the peer differ from {} at {different:?}; UPDATE=1 records them again",
                file.display()
            ),
        }
    }
}

impl Error for AnswerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(_, error) => Some(error),
            Self::Count { .. } | Self::Format(_) | Self::Questions(_) | Self::Outdated(..) => None,
        }
    }
}

/// FNV-1a hash, which identifies the requests of a file of recorded answers.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Fnv {
    /// Adds bytes to the hash.
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Returns the hash of the bytes so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

/// Returns the kind of an answer: its first word and the number of words.
fn kind(answer: &str) -> (String, usize) {
    let mut words = answer.split(' ');
    (words.next().unwrap_or_default().to_owned(), words.count())
}

/// Answers per digest: few enough to find the one that differs.
const BLOCK: usize = 16;

const DIGESTS_PER_LINE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that the test writes, removed at its end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            Self(env::temp_dir().join(format!("eddy-{name}-{}.txt", process::id())))
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn some(texts: &[String]) -> Vec<Option<String>> {
        texts.iter().cloned().map(Some).collect()
    }

    fn is_explained(_: usize, ours: &str, _: &str) -> bool {
        ours == "200 /explained"
    }

    /// Answers of the peer; and eddy's, one of which is not compared, and one explained.
    fn answers() -> (Vec<String>, Vec<Option<String>>) {
        let theirs: Vec<String> = (0..50).map(|number| format!("200 /{}", number % 7)).collect();
        let mut ours = some(&theirs);
        ours[20] = None;
        ours[30] = Some("200 /explained".to_owned());
        (theirs, ours)
    }

    #[test]
    fn a_record_detects_each_different_response() {
        let (theirs, ours) = answers();
        let record = AnswerRecord::of(7, &theirs, &ours);
        assert_eq!(record.texts.keys().copied().collect::<Vec<_>>(), [0, 20, 30]);
        let file = Temporary::new("answers");
        record.write(&file.0).unwrap();
        let read = AnswerRecord::read(&file.0, 7).unwrap();
        assert_eq!(read, record);
        assert!(matches!(AnswerRecord::read(&file.0, 8), Err(AnswerError::Questions(_))));
        assert_eq!(read.differences(&ours, is_explained), []);
        for number in [0, 1, 15, 16, 49] {
            let mut wrong = ours.clone();
            wrong[number] = Some("404".to_owned());
            let found = read.differences(&wrong, is_explained);
            let [found] = &found[..] else { panic!("{number}: {found:?}") };
            assert_eq!(found.theirs.is_some(), number == 0, "only the first is recorded as text");
            assert!(found.numbers.contains(&number) && found.numbers.len() <= BLOCK, "{found:?}");
            assert!(!found.numbers.contains(&20), "what is recorded as text is compared alone: {found:?}");
            wrong[number] = None;
            let is_silent = read.differences(&wrong, is_explained).is_empty();
            assert_eq!(is_silent, number == 0, "a request that is no longer compared is a difference");
        }
        assert_eq!(read.differences(&some(&theirs), is_explained), [], "eddy may come to answer as the peer");
    }

    #[test]
    fn a_changed_digest_or_text_is_reported_with_a_hint() {
        let (theirs, ours) = answers();
        let text = AnswerRecord::of(7, &theirs, &ours).to_string();
        let peer = AnsweringPeer { name: "peer", remedy: "install it" };
        let told = |text: &str| {
            let found = AnswerRecord::parse(text).unwrap().differences(&ours, is_explained);
            let [found] = &found[..] else { panic!("{found:?}") };
            found.describe(peer, &ours, |number| format!("GET /{number}"))
        };
        assert_eq!(told(&text.replace("0: 200 /0", "0: 404")), "GET /0\n  eddy  200 /0\n  peer 404\n");
        let last = if text.ends_with("0\n") { "1\n" } else { "0\n" };
        let changed = format!("{}{last}", &text[..text.len() - 2]);
        assert_eq!(
            told(&changed),
            "peer answers at least one of these 2 differently:\nGET /48\n  eddy  200 /6\nGET /49\n  eddy  200 /0\n\
             its answers to them are recorded as a digest only; to see them: install it\n"
        );
    }

    #[test]
    fn a_running_peer_is_compared_with_its_record() {
        let (mut texts, ours) = answers();
        let file = Temporary::new("live-answers");
        AnswerRecord::of(7, &texts, &ours).write(&file.0).unwrap();
        let compare = |texts: &[String], questions| {
            let live = PeerAnswers::Live { texts: texts.to_vec(), file: Some((file.0.clone(), questions)) };
            live.compare(&ours, is_explained)
        };
        assert!(compare(&texts, 7).is_ok_and(|different| different.is_empty()));
        assert!(matches!(compare(&texts, 8), Err(AnswerError::Questions(_))));
        assert!(matches!(compare(&texts[1..], 7), Err(AnswerError::Count { theirs: 49, ours: 50 })));
        texts[9] = "404".to_owned();
        assert!(matches!(compare(&texts, 7), Err(AnswerError::Outdated(_, changed)) if changed.len() == 1));
    }
}
