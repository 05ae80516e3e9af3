//! A peer's answers to a list of requests: as texts from the peer itself, or as digests from a file.
//!
//! A file has the digest of every [`BLOCK`] answers, and as text only the answers that show something: the first of each
//! kind, and those that differ from eddy's. Digests are enough to verify that eddy's answers are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::questions::Fnv;
use crate::place::variable;

/// A peer's answers to a list of requests, each one line of text.
#[derive(Clone, Debug)]
pub enum PeerAnswers {
    /// Answers of the running peer.
    Live {
        /// Answers in the order of the requests.
        texts: Vec<String>,
        /// File of the recorded answers and digest of the requests.
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
    /// Number of the request.
    pub number: usize,
    /// The peer's answer, or what is known of it.
    pub theirs: String,
}

impl PeerAnswers {
    /// Returns where the answers differ from `ours`, which has `None` for requests that are not compared.
    ///
    /// `is_explained` tells whether a difference between our answer and theirs is a known one. With `UPDATE` set and the
    /// peer running, the answers are recorded.
    ///
    /// # Errors
    /// When the file cannot be written, when it disagrees with the running peer, and when the number of answers differs.
    pub fn compare(
        &self,
        ours: &[Option<String>],
        is_explained: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<AnswerDifference>> {
        ensure!(self.len() == ours.len(), "{} answers to {} requests", self.len(), ours.len());
        let (texts, file) = match self {
            Self::Recorded(record) => return Ok(record.differences(ours, is_explained)),
            Self::Live { texts, file } => (texts, file),
        };
        if let Some((file, questions)) = file {
            if variable("UPDATE").is_some() {
                AnswerRecord::of(*questions, texts, ours).write(file)?;
            }
            let own: Vec<Option<String>> = texts.iter().cloned().map(Some).collect();
            let changed = AnswerRecord::read(file, *questions)?.differences(&own, |_, _| false);
            ensure!(
                changed.is_empty(),
                "the answers of the peer differ from {} at {changed:?}; UPDATE=1 records them again",
                file.display()
            );
        }
        let pairs = ours.iter().zip(texts).enumerate();
        Ok(pairs
            .filter(|(_, (ours, theirs))| {
                ours.as_ref().is_some_and(|ours| ours != *theirs && !is_explained(ours, theirs))
            })
            .map(|(number, (_, theirs))| AnswerDifference { number, theirs: theirs.clone() })
            .collect())
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
    pub(super) fn read(file: &Path, questions: u64) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let record = Self::parse(&text).with_context(|| format!("{} is not complete", file.display()))?;
        ensure!(
            record.questions == questions,
            "{} is for other questions; UPDATE=1 records the answers again where the peer is installed",
            file.display()
        );
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

    fn write(&self, file: &Path) -> Result<()> {
        let mut text = format!("questions {:016x}\nanswers {}\n", self.questions, self.count);
        for (number, answer) in &self.texts {
            writeln!(text, "{number}: {answer}")?;
        }
        for digests in self.digests.chunks(DIGESTS_PER_LINE) {
            let words: Vec<String> = digests.iter().map(|digest| format!("{digest:016x}")).collect();
            writeln!(text, "{}", words.join(" "))?;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    fn differences(
        &self,
        ours: &[Option<String>],
        is_explained: impl Fn(&str, &str) -> bool,
    ) -> Vec<AnswerDifference> {
        let mut different = Vec::new();
        for (number, theirs) in &self.texts {
            if let Some(Some(ours)) = ours.get(*number)
                && ours != theirs
                && !is_explained(ours, theirs)
            {
                different.push(AnswerDifference { number: *number, theirs: theirs.clone() });
            }
        }
        let ours: Vec<Option<&str>> = ours.iter().map(Option::as_deref).collect();
        for (block, answers) in ours.chunks(BLOCK).enumerate() {
            if self.digests.get(block) != Some(&self.digest((block, answers))) {
                let (first, last) = (block * BLOCK, block * BLOCK + answers.len() - 1);
                let theirs =
                    format!("not recorded as text; at least one of the answers {first} to {last} differs");
                different.push(AnswerDifference { number: first, theirs });
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
    use crate::place::TempDir;

    fn some(texts: &[String]) -> Vec<Option<String>> {
        texts.iter().cloned().map(Some).collect()
    }

    #[test]
    fn a_record_finds_each_answer_that_differs() {
        let theirs: Vec<String> = (0..50).map(|number| format!("200 /{}", number % 7)).collect();
        let mut ours = some(&theirs);
        ours[20] = None;
        ours[30] = Some("200 /explained".to_owned());
        let record = AnswerRecord::of(7, &theirs, &ours);
        assert_eq!(record.texts.keys().copied().collect::<Vec<_>>(), [0, 20, 30]);
        let folder = TempDir::new("answers").unwrap();
        let file = folder.join("record.txt");
        record.write(&file).unwrap();
        let read = AnswerRecord::read(&file, 7).unwrap();
        assert_eq!(read, record);
        assert!(
            AnswerRecord::read(&file, 8).is_err_and(|error| error.to_string().contains("other questions"))
        );
        let is_explained = |ours: &str, _: &str| ours == "200 /explained";
        assert_eq!(read.differences(&ours, is_explained), []);
        for number in [0, 1, 15, 16, 49] {
            let mut wrong = ours.clone();
            wrong[number] = Some("404".to_owned());
            let found = read.differences(&wrong, is_explained);
            assert_eq!(found.len(), 1, "{number}: {found:?}");
            assert_eq!(found[0].number, number / BLOCK * BLOCK);
            wrong[number] = None;
            let is_silent = read.differences(&wrong, is_explained).is_empty();
            assert_eq!(is_silent, number == 0, "a request that is no longer compared is a difference");
        }
        assert_eq!(read.differences(&some(&theirs), is_explained), [], "eddy may come to answer as the peer");
    }
}
