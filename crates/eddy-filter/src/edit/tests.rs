use super::*;

const ALL: &[FilterEdit<'_>] = &[
    FilterEdit::Set { name: b"a", value: b"bc" },
    FilterEdit::Add { name: b"abcdefgh", value: b"" },
    FilterEdit::Remove { name: b"x" },
    FilterEdit::Method(b"POST"),
    FilterEdit::Target(b"/a?b"),
    FilterEdit::Authority(b"a:1"),
    FilterEdit::Status(404),
    FilterEdit::BodySet(b"whole"),
    FilterEdit::BodyAppend(b""),
    FilterEdit::BodyPrepend(b"12345678"),
    FilterEdit::BodyDrain(7),
    FilterEdit::Reply { status: 401, body: b"no", details: b"auth" },
    FilterEdit::ReplyField { name: b"www-authenticate", value: b"Basic" },
    FilterEdit::Metadata { space: b"auth", key: b"user", value: b"\"a\"" },
    FilterEdit::ClearRoute,
    FilterEdit::Endpoint { address: b"127.0.0.1:1", is_strict: true },
    FilterEdit::Fault(b"it broke"),
    FilterEdit::LimitFault { limit: FilterLimit::Memory, why: b"too much" },
    FilterEdit::LimitFault { limit: FilterLimit::Cpu, why: b"too long" },
    FilterEdit::ReplyGrpc(7),
    FilterEdit::Trailer { change: TrailerChange::Add, name: b"x-sum", value: b"1" },
    FilterEdit::Trailer { change: TrailerChange::Remove, name: b"x-sum", value: b"" },
];

fn log() -> EditLog {
    let mut log = EditLog::new();
    for (step, edit) in ALL.iter().enumerate() {
        log.push(u16::try_from(step).unwrap(), edit).unwrap();
    }
    log
}

#[test]
fn written_values_are_read_back() {
    let log = log();
    let read: Vec<_> = log.records().map(Result::unwrap).collect();
    let written: Vec<_> = ALL
        .iter()
        .enumerate()
        .map(|(step, edit)| EditRecord { step: u16::try_from(step).unwrap(), edit: *edit })
        .collect();
    assert_eq!(read, written);
    assert_eq!(log.len() % 8, 0);
}

#[test]
fn a_log_truncated_anywhere_ends_with_an_error() {
    let whole = log();
    let bytes = { whole }.bytes_mut().clone();
    let mut ends = vec![0];
    let mut cut = EditLog::new();
    for edit in ALL {
        cut.push(0, edit).unwrap();
        ends.push(cut.len());
    }
    for length in 0..bytes.len() {
        let mut log = EditLog::new();
        log.append(&bytes[..length]).unwrap();
        let read: Vec<_> = log.records().collect();
        let whole = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(read.iter().filter(|record| record.is_ok()).count(), whole, "cut at {length}");
        let is_cut = !ends.contains(&length);
        assert_eq!(read.last().is_some_and(|last| *last == Err(EditError::Truncated)), is_cut, "{length}");
    }
}

#[test]
fn unknown_record_numbers_are_refused() {
    for op in [0, 20, 255, u16::MAX] {
        let mut log = EditLog::new();
        log.push(0, &FilterEdit::ClearRoute).unwrap();
        log.bytes_mut()[..2].copy_from_slice(&op.to_ne_bytes());
        assert_eq!(log.records().next(), Some(Err(EditError::UnknownOperation(op))));
        assert_eq!(log.records().count(), 1);
    }
    let mut log = EditLog::new();
    log.push(0, &FilterEdit::Set { name: b"no nul", value: b"" }).unwrap();
    log.bytes_mut()[..2].copy_from_slice(&14_u16.to_ne_bytes());
    assert_eq!(log.records().next(), Some(Err(EditError::Malformed)));
}

#[test]
fn lengths_beyond_the_log_are_truncated_records() {
    let mut log = EditLog::new();
    log.push(0, &FilterEdit::BodySet(b"1234")).unwrap();
    for at in [4, 8] {
        let mut bytes = log.bytes_mut().clone();
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_ne_bytes());
        let mut broken = EditLog::new();
        broken.append(&bytes).unwrap();
        assert_eq!(broken.records().next(), Some(Err(EditError::Truncated)));
    }
}

#[test]
fn a_log_grows_to_its_limit() {
    let mut log = EditLog::new();
    let large = vec![0; EDITS_BYTES_MAX];
    assert_eq!(log.push(0, &FilterEdit::BodySet(&large)), Err(EditError::TooLarge));
    log.push(0, &FilterEdit::BodySet(&large[..EDITS_BYTES_MAX - 16])).unwrap();
    assert_eq!(log.push(0, &FilterEdit::ClearRoute), Err(EditError::TooLarge));
    assert_eq!(log.append(&[0]), Err(EditError::TooLarge));
    assert_eq!(log.len(), EDITS_BYTES_MAX);
}

#[test]
fn bodies_change_as_edited() {
    let mut body = b"middle".to_vec();
    for edit in
        [FilterEdit::BodyAppend(b" end"), FilterEdit::BodyPrepend(b"start "), FilterEdit::BodyDrain(2)]
    {
        apply_to_body(&edit, &mut body).unwrap();
    }
    assert_eq!(body, b"art middle end");
    apply_to_body(&FilterEdit::BodyDrain(u32::MAX), &mut body).unwrap();
    apply_to_body(&FilterEdit::BodySet(b"new"), &mut body).unwrap();
    assert_eq!(body, b"new");
    assert_eq!(apply_to_body(&FilterEdit::ClearRoute, &mut body), Err(EditRefused::Phase));
}
