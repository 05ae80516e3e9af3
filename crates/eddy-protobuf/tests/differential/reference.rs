//! Answers of the reference implementation: recorded, or from its program.

use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::CaseAnswer;
use super::cases::{CaseEncoding, DifferentialCase};

/// Source of the answers.
pub(crate) enum Reference {
    Recorded { answers: &'static [u8] },
    Program(Box<ReferenceProcess>),
}

/// The running reference program.
pub(crate) struct ReferenceProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Recorded answers, if recording is enabled.
    recorded: Option<Vec<u8>>,
}

/// Opens the reference for `count` cases.
pub(crate) fn open(count: u32) -> Reference {
    let Ok(program) = std::env::var("EDDY_PROTOBUF_REFERENCE") else {
        let answers: &[u8] = include_bytes!("go.answers");
        assert!(count as usize * ANSWER_BYTES <= answers.len(), "more cases need EDDY_PROTOBUF_REFERENCE");
        return Reference::Recorded { answers };
    };
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema/conformance.binpb");
    let mut command = Command::new(program);
    let mut child = command.arg(schema).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let recorded = std::env::var("UPDATE").is_ok().then(Vec::new);
    Reference::Program(Box::new(ReferenceProcess { child, input, output, recorded }))
}

impl Reference {
    pub(crate) fn answer(&mut self, case: &DifferentialCase) -> CaseAnswer {
        let mut answer = [0; ANSWER_BYTES];
        match self {
            Self::Recorded { answers } => {
                let (first, rest) = answers.split_at(ANSWER_BYTES);
                answer.copy_from_slice(first);
                *answers = rest;
            }
            Self::Program(program) => {
                let form = u8::from(case.form == CaseEncoding::Json);
                let message = u8::try_from(case.message).unwrap();
                let length = u32::try_from(case.bytes.len()).unwrap().to_le_bytes();
                let asked = [&[form, message][..], &length, &case.bytes].concat();
                program.input.write_all(&asked).unwrap();
                program.output.read_exact(&mut answer).unwrap();
                if let Some(recorded) = &mut program.recorded {
                    recorded.extend(answer);
                }
            }
        }
        let [verdict, hash @ ..] = answer;
        match verdict {
            0 => CaseAnswer::Refused,
            1 => CaseAnswer::NoJson,
            3 => CaseAnswer::Panicked,
            _ => CaseAnswer::Json(u64::from_le_bytes(hash)),
        }
    }

    pub(crate) fn close(self) {
        let Self::Program(program) = self else { return };
        let ReferenceProcess { mut child, input, recorded, .. } = *program;
        drop(input);
        assert!(child.wait().unwrap().success());
        if let Some(recorded) = recorded {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/go.answers");
            std::fs::write(file, recorded).unwrap();
        }
    }
}

/// Bytes of an answer: a verdict and a hash.
const ANSWER_BYTES: usize = 9;
