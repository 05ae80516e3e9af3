//! Answers of the reference implementation: recorded, or from its program.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use test_peers::{AnsweringPeer, Fnv, PeerAnswers};

use super::CaseAnswer;
use super::cases::{CaseEncoding, DifferentialCase, MESSAGES};

/// The reference, as the report of a difference names it.
pub(crate) const GO_ANSWERS: AnsweringPeer =
    AnsweringPeer { name: "Go", remedy: "crates/eddy-protobuf/tests/differential/run (needs Go)" };

/// Source of the answers.
pub(crate) enum Reference {
    Recorded,
    Program(Box<ReferenceProcess>),
}

/// The running reference program.
pub(crate) struct ReferenceProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts the reference program that the environment names; without it, recorded answers are used.
    pub(crate) fn open() -> Self {
        let Ok(program) = std::env::var("EDDY_PROTOBUF_REFERENCE") else { return Self::Recorded };
        let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema/conformance.binpb");
        let mut command = Command::new(program);
        let mut child = command.arg(schema).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self::Program(Box::new(ReferenceProcess { child, input, output }))
    }

    /// Returns the answers to cases, in their order; those to the first batch are recorded in a file.
    pub(crate) fn answers(&mut self, cases: &[DifferentialCase], is_recorded: bool) -> PeerAnswers {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/recorded/go.txt");
        let questions = questions(cases);
        match self {
            Self::Recorded => {
                assert!(is_recorded, "another number of cases needs EDDY_PROTOBUF_REFERENCE");
                PeerAnswers::recorded(&file, questions).unwrap_or_else(|error| panic!("{error}"))
            }
            Self::Program(program) => PeerAnswers::Live {
                texts: cases.iter().map(|case| program.answer(case).to_string()).collect(),
                file: is_recorded.then_some((file, questions)),
            },
        }
    }

    pub(crate) fn close(self) {
        let Self::Program(program) = self else { return };
        let ReferenceProcess { mut child, input, .. } = *program;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

impl ReferenceProcess {
    fn answer(&mut self, case: &DifferentialCase) -> CaseAnswer {
        let form = u8::from(case.form == CaseEncoding::Json);
        let message = u8::try_from(case.message).unwrap();
        let length = u32::try_from(case.bytes.len()).unwrap().to_le_bytes();
        let asked = [&[form, message][..], &length, &case.bytes].concat();
        self.input.write_all(&asked).unwrap();
        let mut answer = [0; ANSWER_BYTES];
        self.output.read_exact(&mut answer).unwrap();
        let [verdict, hash @ ..] = answer;
        match verdict {
            0 => CaseAnswer::Refused,
            1 => CaseAnswer::NoJson,
            3 => CaseAnswer::Panicked,
            _ => CaseAnswer::Json(u64::from_le_bytes(hash)),
        }
    }
}

/// Returns the digest of the cases by which their recorded answers are recognized.
///
/// It leaves out the bytes of messages on the wire, which are made by the code under test: a fault in it is a different
/// answer, and not another question.
fn questions(cases: &[DifferentialCase]) -> u64 {
    let mut digest = Fnv::default();
    for case in cases {
        digest.add(&[u8::from(case.form == CaseEncoding::Json)]);
        digest.add(MESSAGES[case.message].as_bytes());
        if case.form == CaseEncoding::Json {
            digest.add(&case.bytes);
        }
    }
    digest.value()
}

/// Bytes of an answer: a verdict and a hash.
const ANSWER_BYTES: usize = 9;
