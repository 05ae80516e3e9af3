//! Properties that hold for any bytes: one function per fuzz target, also run over the stored inputs.

pub(crate) mod http;

use std::sync::{Arc, LazyLock};

use eddy_protobuf::{
    Compressed, FrameEvent, Frames, FromJson, FromJsonOptions, Mask, MessageEdit, MessageId, MessageWalk,
    ProgramBuilder, ProtobufLimits, Schema, ToJson, ToJsonOptions, Unknown, WalkProgram, canonical,
};

/// Small limits, so that small inputs reach them.
const LIMITS: ProtobufLimits =
    ProtobufLimits { depth_max: 12, message_bytes_max: 4096, held_bytes_max: 256, items_max: 64 };

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    Arc::new(
        Schema::from_descriptors(include_bytes!("../schema/eddy.binpb")).expect("the descriptors are sound"),
    )
});

static PROGRAM: LazyLock<Arc<WalkProgram>> = LazyLock::new(|| {
    let mut builder = ProgramBuilder::new(&SCHEMA, message());
    for path in ["name", "phone", "address.lines", "friends.name", r#"places["k"].city"#, "extra"] {
        builder.extract(path).expect("the field is there");
    }
    builder.edit("email", &MessageEdit::Drop).expect("the field is there");
    builder.edit("friends.secret", &MessageEdit::Mask(Mask::SameLength)).expect("the field is there");
    builder
        .edit("friends.email", &MessageEdit::Mask(Mask::Text("-".to_owned())))
        .expect("the field is there");
    Arc::new(builder.build().expect("the program is sound"))
});

fn message() -> MessageId {
    SCHEMA.find_message("eddy.test.Person").expect("the message is there")
}

/// A walk over the whole message and over pieces agree, and the rewritten message is valid without the dropped
/// fields.
pub(crate) fn walk(data: &[u8]) {
    let mut walk = MessageWalk::new(PROGRAM.clone(), LIMITS);
    let mut whole = Vec::new();
    let is_taken = walk.rewrite(data, &mut whole).is_ok();
    for step in [1, 7, 64] {
        walk.reset();
        let pushed = data.chunks(step).try_for_each(|piece| walk.push(piece));
        let is_taken_so = pushed.and_then(|()| walk.finish().map(|_| ())).is_ok();
        // Walking pieces buffers values that a whole message does not, so it reaches a limit earlier.
        assert!(is_taken || !is_taken_so, "cut every {step} bytes");
        if is_taken_so {
            let mut written = Vec::new();
            walk.write(&mut written);
            assert_eq!(written, whole, "cut every {step} bytes");
        }
    }
    if is_taken {
        let mut again = Vec::new();
        walk.rewrite(&whole, &mut again).expect("what was rewritten is a message");
    }
}

/// The JSON of a message is valid, and converts back to the same message.
pub(crate) fn to_json(data: &[u8]) {
    let mut writer = ToJson::new(SCHEMA.clone(), message(), ToJsonOptions::default(), LIMITS);
    let whole = writer.convert(data).map(<[u8]>::to_vec);
    let mut ordered = Vec::new();
    let read = canonical(&SCHEMA, message(), data, &LIMITS, &mut ordered);
    for step in [1, 7, 64] {
        writer.reset();
        let mut written = Vec::new();
        let mut push = |writer: &mut ToJson| {
            written.extend_from_slice(writer.ready());
            writer.take(usize::MAX);
        };
        let pushed = data.chunks(step).try_for_each(|piece| writer.push(piece).map(|()| push(&mut writer)));
        let is_taken = pushed.and_then(|()| writer.finish().map(|()| push(&mut writer))).is_ok();
        assert!(whole.is_ok() || !is_taken, "cut every {step} bytes");
    }
    if let Ok(json) = whole {
        read.expect("what has JSON can be read");
        let limits = ProtobufLimits { message_bytes_max: 1 << 20, ..LIMITS };
        let mut reader = FromJson::new(SCHEMA.clone(), message(), FromJsonOptions::default(), limits);
        let back = reader.convert(&json).expect("what was written can be read").to_vec();
        let mut writer = ToJson::new(SCHEMA.clone(), message(), ToJsonOptions::default(), limits);
        assert_eq!(writer.convert(&back).map(<[u8]>::len), Ok(json.len()));
    }
}

/// Accepted JSON gives a valid message; whole and pieces agree.
pub(crate) fn from_json(data: &[u8]) {
    let options = FromJsonOptions { unknown: Unknown::Ignore, ..FromJsonOptions::default() };
    let mut reader = FromJson::new(SCHEMA.clone(), message(), options, LIMITS);
    let whole = reader.convert(data).map(<[u8]>::to_vec);
    for step in [1, 7, 64] {
        reader.reset();
        let pushed = data.chunks(step).try_for_each(|piece| match reader.push(piece) {
            Ok(used) if used == piece.len() => Some(()),
            _ => None,
        });
        let pushed = pushed.and_then(|()| reader.finish().ok().map(<[u8]>::to_vec));
        if let Some(pushed) = pushed {
            assert_eq!(Ok(pushed), whole, "cut every {step} bytes");
        }
    }
    if let Ok(bytes) = whole {
        let limits = ProtobufLimits { message_bytes_max: 1 << 20, ..LIMITS };
        canonical(&SCHEMA, message(), &bytes, &limits, &mut Vec::new())
            .expect("what was written is a message");
    }
}

/// Frames are the same however the stream is cut.
pub(crate) fn frames(data: &[u8]) {
    let read = |step: usize| {
        let mut frames = Frames::new(Compressed::Pass, &LIMITS);
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for mut piece in data.chunks(step) {
            loop {
                match frames.next(&mut piece) {
                    Ok(Some(FrameEvent::Start { .. })) => messages.push(Vec::new()),
                    Ok(Some(FrameEvent::Data(data))) => {
                        messages.last_mut().expect("it has begun").extend_from_slice(data);
                    }
                    Ok(Some(FrameEvent::End)) => {}
                    Ok(None) => break,
                    Err(fault) => return (messages, Err(fault)),
                }
            }
        }
        (messages, frames.finish())
    };
    let whole = read(data.len().max(1));
    for step in [1, 3, 7] {
        assert_eq!(read(step), whole, "cut every {step} bytes");
    }
}
