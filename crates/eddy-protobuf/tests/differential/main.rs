//! Mutated messages and JSON, compared with the Go reference implementation: both accept or reject an input, with the
//! same values.
//!
//! The answers of the reference to the first cases are kept in `recorded/go.txt` as digests; `run` compares with the
//! program itself and runs more cases. If `EDDY_PROTOBUF_REFERENCE` names that program, cases are sent to it directly,
//! `EDDY_PROTOBUF_CASES` of them; with `UPDATE=1` its answers are recorded.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test is told by its environment how long it runs")]

mod cases;
mod reference;
mod values;

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use eddy_protobuf::{
    FromJson, FromJsonOptions, MessageId, MessageWalk, ProgramBuilder, ProtobufError, ProtobufLimits, Schema,
    ToJson, ToJsonOptions, canonical,
};

use cases::{CaseEncoding, Cases, DifferentialCase};
use reference::{GO_ANSWERS, Reference};

/// Result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseAnswer {
    /// The input is invalid.
    Refused,
    /// The input is valid, but has no JSON form.
    NoJson,
    /// The reference panics, so that it has no answer.
    Panicked,
    /// Hash of its JSON.
    Json(u64),
}

impl Display for CaseAnswer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => out.write_str(REFUSED),
            Self::NoJson => out.write_str("no JSON"),
            Self::Panicked => out.write_str(PANICKED),
            Self::Json(hash) => write!(out, "JSON {hash:016x}"),
        }
    }
}

/// Converts test cases.
struct CaseConverter {
    schema: Arc<Schema>,
    to_json: Vec<ToJson>,
    from_json: Vec<FromJson>,
    walks: Vec<MessageWalk>,
    ids: Vec<MessageId>,
}

impl CaseConverter {
    fn new() -> Self {
        let schema =
            Arc::new(Schema::from_descriptors(include_bytes!("../schema/conformance.binpb")).unwrap());
        let ids: Vec<MessageId> =
            cases::MESSAGES.iter().map(|name| schema.find_message(name).unwrap()).collect();
        let limits = ProtobufLimits::default();
        let walk = |id: &MessageId| {
            let mut builder = ProgramBuilder::new(&schema, *id);
            builder.check_everywhere();
            MessageWalk::new(Arc::new(builder.build().unwrap()), limits)
        };
        Self {
            to_json: ids
                .iter()
                .map(|id| ToJson::new(schema.clone(), *id, ToJsonOptions::default(), limits))
                .collect(),
            from_json: ids
                .iter()
                .map(|id| FromJson::new(schema.clone(), *id, FromJsonOptions::default(), limits))
                .collect(),
            walks: ids.iter().map(walk).collect(),
            ids,
            schema,
        }
    }

    fn answer(&mut self, case: &DifferentialCase) -> CaseAnswer {
        match case.form {
            CaseEncoding::Wire => self.wire(case.message, &case.bytes),
            CaseEncoding::Json => match self.read(case.message, &case.bytes) {
                Err(_) => CaseAnswer::Refused,
                Ok(bytes) => self.wire(case.message, &bytes),
            },
        }
    }

    fn wire(&mut self, message: usize, bytes: &[u8]) -> CaseAnswer {
        let mut ordered = Vec::new();
        let read =
            canonical(&self.schema, self.ids[message], bytes, &ProtobufLimits::default(), &mut ordered);
        let walked = self.walks[message].extract(bytes).map(|_| ());
        assert_eq!(read.is_ok(), walked.is_ok(), "{read:?} {walked:?}: {bytes:x?}");
        let json = self.write(message, bytes);
        if read.is_err() {
            assert!(json.is_err(), "what can't be read has no JSON: {bytes:x?}");
            return CaseAnswer::Refused;
        }
        // The canonical form has the same JSON.
        let again = self.write(message, &ordered).ok();
        match json {
            Err(_) => {
                assert_eq!(again, None, "{bytes:x?}");
                CaseAnswer::NoJson
            }
            Ok(json) => {
                assert_eq!(again.map(|json| values::hash(&json)), Some(values::hash(&json)), "{bytes:x?}");
                CaseAnswer::Json(values::hash(&json))
            }
        }
    }

    /// Converts as a whole and in pieces, which must agree.
    fn write(&mut self, message: usize, bytes: &[u8]) -> Result<Vec<u8>, ProtobufError> {
        let writer = &mut self.to_json[message];
        let whole = writer.convert(bytes).map(<[u8]>::to_vec);
        writer.reset();
        let step = bytes.len() % 7 + 1;
        let pushed =
            bytes.chunks(step).try_for_each(|piece| writer.push(piece)).and_then(|()| writer.finish());
        match &whole {
            // Fields may be in another order: whether the canonical form is needed depends on the pieces.
            Ok(whole) => {
                let pushed = pushed.map(|()| values::hash(writer.ready()));
                assert_eq!(pushed, Ok(values::hash(whole)), "by {step}: {bytes:x?}");
            }
            Err(_) => assert!(pushed.is_err(), "by {step}: {bytes:x?}"),
        }
        whole
    }

    fn read(&mut self, message: usize, json: &[u8]) -> Result<Vec<u8>, ProtobufError> {
        let reader = &mut self.from_json[message];
        let whole = reader.convert(json).map(<[u8]>::to_vec);
        reader.reset();
        let step = json.len() % 7 + 1;
        let mut is_behind = false;
        let pushed = json.chunks(step).try_for_each(|piece| {
            is_behind |= !piece.trim_ascii().is_empty() && reader.is_done();
            if is_behind { Ok(()) } else { reader.push(piece).map(|used| is_behind |= used < piece.len()) }
        });
        let pushed = pushed.and_then(|()| reader.finish().map(<[u8]>::to_vec));
        match &whole {
            Ok(_) => assert_eq!(pushed, whole, "by {step}"),
            Err(_) => assert!(pushed.is_err() || is_behind, "by {step}: {}", String::from_utf8_lossy(json)),
        }
        whole
    }
}

#[test]
fn mutated_messages_are_judged_as_by_the_reference() {
    let mut subject = CaseConverter::new();
    let mut cases = Cases::new(&subject.schema);
    let count = std::env::var("EDDY_PROTOBUF_CASES").ok().map_or(RECORDED, |count| count.parse().unwrap());
    let mut reference = Reference::open();
    let (mut compared, mut accepted, mut differences) = (0, 0, 0);
    // In batches, because a long run has more cases than fit into memory.
    while compared < count {
        let batch: Vec<DifferentialCase> =
            (0..RECORDED.min(count - compared)).map(|_| cases.next()).collect();
        let ours: Vec<CaseAnswer> = batch.iter().map(|case| subject.answer(case)).collect();
        accepted += ours.iter().filter(|answer| matches!(answer, CaseAnswer::Json(_))).count();
        let ours: Vec<Option<String>> = ours.iter().map(|answer| Some(answer.to_string())).collect();
        let theirs = reference.answers(&batch, compared == 0 && batch.len() == RECORDED);
        let different = theirs.compare(&ours, |number, found, expected| {
            expected == PANICKED || cases::is_known_difference(&batch[number], found, expected)
        });
        let different = different.unwrap_or_else(|error| panic!("{error}"));
        for different in &different {
            let case = |number: usize| format!("case {}: {}", compared + number, batch[number]);
            println!("{}", different.describe(GO_ANSWERS, &ours, case));
        }
        differences += different.len();
        compared += batch.len();
    }
    println!("{count} cases, {accepted} accepted");
    reference.close();
    assert_eq!(differences, 0);
    // Otherwise nothing is compared.
    assert!(accepted > count / 8, "{accepted}");
}

/// Number of cases whose answers are recorded.
const RECORDED: usize = 20_000;

/// Answer to an invalid input, as text.
const REFUSED: &str = "refused";

/// Answer of a reference that panics, as text.
const PANICKED: &str = "panicked";
