//! Data that a paused step sends in front of the part of the body that it holds.

use eddy_filter::{
    Direction, FilterPause, IncomingBody, MessageRun, Phase, PhaseCall, RunOutput, StepOrder, StepResult,
};
use eddy_http::Fields;
use eddy_ids::WorkerTime;

use crate::machine::chain;
use crate::scenario::StepSpec;

/// Returns a step that is entered in these phases.
fn step(phases: &[Phase]) -> StepSpec {
    let phases = phases.iter().fold(0, |bits, phase| bits | 1 << (*phase as u32));
    StepSpec { phases, library: 0, is_open: false, body_bytes_max: 100, actions: Vec::new() }
}

fn pause(phase: Phase, step: u8) -> FilterPause {
    FilterPause { phase, step, turn: 1, due: WorkerTime::NEVER, goes_on: None, is_sending: false }
}

fn call_of(output: RunOutput) -> PhaseCall {
    if let RunOutput::Enter(call) = output { call } else { panic!("{output:?}") }
}

#[test]
fn data_passes_the_steps_behind_and_the_pause_goes_on() {
    let chain = chain(&[step(&[Phase::RequestBody]), step(&[Phase::RequestBody, Phase::RequestHead])]);
    let mut run = MessageRun::default();
    run.begin(StepOrder::new(Direction::Request, &chain), IncomingBody::Streamed);
    assert!(!run.send(b"x", WorkerTime::NEVER), "nothing has paused");
    let head = call_of(run.poll(&chain));
    run.passed(&chain, &head);
    assert_eq!(run.poll(&chain), RunOutput::Head);
    run.seal();
    assert_eq!(run.poll(&chain), RunOutput::Read);
    run.push_last(b"end", Fields::default());
    let body = call_of(run.poll(&chain));
    assert!(body.is_end);
    run.pause(pause(Phase::RequestBody, 0));
    for data in [b"one".as_slice(), b"two"] {
        assert!(matches!(run.poll(&chain), RunOutput::Waiting(wait) if !wait.is_sending));
        assert!(run.send(data, WorkerTime::from_millis(7)));
        assert!(run.is_streaming());
        let behind = call_of(run.poll(&chain));
        assert_eq!((behind.phase, behind.is_end, run.data()), (Phase::RequestBody, false, data));
        assert_eq!(behind.entries(&chain).map(|entry| entry.step).collect::<Vec<_>>(), [1]);
        run.passed(&chain, &behind);
        assert_eq!((run.poll(&chain), run.data()), (RunOutput::Piece, data));
        run.taken();
        assert!(matches!(run.poll(&chain), RunOutput::Waiting(wait) if wait.is_sending));
        assert_eq!((run.data(), run.check_invariants()), (b"end".as_slice(), Ok(())));
        run.has_sent(WorkerTime::NEVER);
    }
    assert!(!run.is_streaming() && run.resume().is_some());
    run.stopped(Phase::RequestBody, 0, StepResult::Continue);
    let behind = call_of(run.poll(&chain));
    assert!(behind.is_end);
    run.passed(&chain, &behind);
    assert_eq!((run.poll(&chain), run.data()), (RunOutput::LastPiece, b"end".as_slice()));
    run.taken();
    assert_eq!(run.poll(&chain), RunOutput::End);
}

#[test]
fn data_in_front_of_a_whole_body_is_written_behind_its_head() {
    let chain = chain(&[step(&[Phase::ResponseBody]), step(&[Phase::ResponseBody])]);
    let mut run = MessageRun::default();
    run.begin(StepOrder::new(Direction::Response, &chain), IncomingBody::Whole(b"reply"));
    let body = call_of(run.poll(&chain));
    assert!(body.is_buffered);
    // The response passes the last step first.
    run.pause(pause(Phase::ResponseBody, 1));
    assert!(run.send(b"data", WorkerTime::NEVER) && run.is_length_open() && run.whole().is_none());
    assert_eq!(run.poll(&chain), RunOutput::Head);
    run.seal();
    // The step behind pauses as well, and sends, too.
    call_of(run.poll(&chain));
    run.pause(pause(Phase::ResponseBody, 0));
    assert!(run.send(b"more", WorkerTime::NEVER));
    assert_eq!((run.poll(&chain), run.data()), (RunOutput::Piece, b"more".as_slice()));
    run.taken();
    assert!(matches!(run.poll(&chain), RunOutput::Waiting(wait) if wait.step == 0));
    run.resume();
    run.stopped(Phase::ResponseBody, 0, StepResult::Continue);
    assert_eq!((run.poll(&chain), run.data()), (RunOutput::Piece, b"data".as_slice()));
    run.taken();
    assert!(matches!(run.poll(&chain), RunOutput::Waiting(wait) if wait.step == 1));
    assert_eq!(run.data(), b"reply");
    assert_eq!((run.abandon_pause().is_some(), run.abandon_pause()), (true, None));
}

#[test]
fn data_goes_in_front_of_what_a_later_step_buffers() {
    let chain = chain(&[step(&[Phase::RequestBody]), step(&[Phase::RequestHead, Phase::RequestBody])]);
    let mut run = MessageRun::default();
    run.begin(StepOrder::new(Direction::Request, &chain), IncomingBody::Streamed);
    call_of(run.poll(&chain));
    run.stopped(Phase::RequestHead, 1, StepResult::Buffer);
    assert_eq!(run.poll(&chain), RunOutput::Read);
    run.push_last(b"end", Fields::default());
    call_of(run.poll(&chain));
    run.pause(pause(Phase::RequestBody, 0));
    assert!(run.send(b"data ", WorkerTime::NEVER));
    assert!(matches!(run.poll(&chain), RunOutput::Waiting(wait) if wait.is_sending));
    run.resume();
    run.stopped(Phase::RequestBody, 0, StepResult::Continue);
    let whole = call_of(run.poll(&chain));
    assert_eq!((whole.is_buffered, run.data()), (true, b"data end".as_slice()));
    // In a head hook there is no piece that data could go in front of.
    run.begin(StepOrder::new(Direction::Request, &chain), IncomingBody::Streamed);
    call_of(run.poll(&chain));
    run.pause(pause(Phase::RequestHead, 1));
    assert!(!run.send(b"data", WorkerTime::NEVER));
}
