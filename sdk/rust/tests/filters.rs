//! Filters on the fake host: behaviour that filter authors rely on.

#[path = "filters/mod.rs"]
mod kinds;

use eddy_sdk::test::{Chain, Library, Request, Response, answer, counted, logged, sent};
use eddy_sdk::{Level, Phase};
use kinds::{Filters, notes};

fn library() -> Library {
    Library::of::<Filters>()
}

fn ok(_: &Request) -> Response {
    Response::new(200).field("server", "demo").piece("hello ").piece("world")
}

#[test]
fn the_library_names_its_filters_and_its_sdk() {
    let library = library();
    assert!(library.names().contains(&"script".to_owned()), "{:?}", library.names());
    assert!(library.sdk().starts_with("eddy-sdk "), "{}", library.sdk());
    assert!(library.toolchain().starts_with("rustc 1."), "{}", library.toolchain());
}

#[test]
fn an_invalid_configuration_is_refused_with_a_reason() {
    let library = library();
    let refused = library.filter("mark", r#"{"value": 1}"#).expect_err("a number is no text");
    assert!(refused.contains("invalid type"), "{refused}");
    let refused = library.filter("mark", r#"{"value": "never"}"#).expect_err("the filter refuses it");
    assert_eq!(refused, "never say never");
    let refused = library.filter("mark", r#"{"value": "panic"}"#).expect_err("the filter panics");
    assert!(refused.contains("no such value") && refused.contains("mod.rs:"), "{refused}");
    assert!(library.filter("unknown", "null").is_err());
    assert!(library.filter("mark", "{").is_err());
    let long = "x".repeat(9_000);
    let refused = library.filter("mark", &format!(r#"{{"value": "{long}", "other": 1}}"#));
    assert!(refused.expect_err("members it does not know").len() <= 4096);
}

#[test]
fn the_configuration_of_a_rule_overrides_that_of_the_filter() {
    let mark = library().filter("mark", r#"{"value": "a", "name": "x-own"}"#).expect("it is right");
    let rule = mark.rule(r#"{"value": "b"}"#).expect("it is right");
    let plain = Chain::new().then(&mark).send(Request::get("/"), ok);
    assert_eq!(plain.sent().get_field("x-own"), Some("a"));
    let ruled = Chain::new().then(&mark).with_rule(&rule).send(Request::get("/"), ok);
    assert_eq!(ruled.sent().get_field("x-own"), Some("b"));
    assert!(mark.rule(r#"{"value": "never"}"#).is_err());
    assert!(mark.rule(r#"{"value": "panic"}"#).is_err());
}

#[test]
fn later_filters_of_a_crossing_see_earlier_changes() {
    let library = library();
    let first =
        library.filter("script", r#"["set x-a one", "add x-a two", "target /new?q=1", "method PUT"]"#);
    let second =
        library.filter("script", r#"["copy x-a x-b", "copy-target x-target", "copy-method x-method"]"#);
    let (first, second) = (first.expect("right"), second.expect("right"));
    // No room for edits at first: every edit has to request more.
    for room in [0, 40, 4096] {
        let outcome = Chain::new().room(room).then(&first).then(&second).send(Request::get("/old"), ok);
        let request = outcome.sent();
        assert_eq!(request.fields.all("x-a").collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(request.fields.all("x-b").collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(request.get_field("x-target"), Some("/new?q=1"));
        assert_eq!(request.get_field("x-method"), Some("PUT"));
        assert_eq!((request.method.as_str(), request.target.as_str()), ("PUT", "/new?q=1"));
        assert_eq!(outcome.crossings(), 1, "neighbours are entered together");
    }
}

#[test]
fn a_filter_reads_its_own_changes_and_earlier_views_remain_valid() {
    let outcome = run(r#"["overlay"]"#, Request::get("/").field("x-a", "old"));
    assert_eq!(outcome.faults(), [""; 0]);
    assert_eq!(outcome.sent().get_field("x-seen"), Some("old,new"));
}

#[test]
fn a_reply_ends_the_request_and_runs_the_response_hooks() {
    let library = library();
    let reply = library.filter("script", r#"["reply 403 no"]"#).expect("right");
    let after = library.filter("script", r#"["set x-after 1"]"#).expect("right");
    let outcome = Chain::new().then(&reply).then(&after).send(Request::get("/"), ok);
    assert!(!outcome.was_sent() && outcome.is_local());
    assert_eq!(outcome.answered().status, 403);
    assert_eq!(outcome.answered().whole_body(), b"no");
    assert_eq!(outcome.answered().fields.all("x-reply").collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!((outcome.details(), outcome.grpc_status()), ("script", Some(7)));
}

#[test]
fn a_panic_is_a_fault_with_message_and_location() {
    for hook in ["panic", "panic-string", "panic-any", "panic-drop"] {
        let outcome = run(&format!(r#"["set x-a lost", "{hook}"]"#), Request::get("/"));
        assert_eq!(outcome.answered().status, 500, "{hook}");
        let [fault] = outcome.faults() else { panic!("one fault of {hook}: {:?}", outcome.faults()) };
        assert!(fault.contains("panicked at") && fault.contains("mod.rs:"), "{hook}: {fault}");
    }
}

#[test]
fn a_failed_fail_open_filter_is_skipped_and_its_changes_reverted() {
    let filter = library().filter("script", r#"["set x-a lost", "fault broken"]"#).expect("right");
    let outcome = Chain::new().then(&filter).open().send(Request::get("/"), ok);
    assert_eq!(outcome.answered().status, 200);
    assert_eq!(outcome.sent().get_field("x-a"), None);
    assert_eq!(outcome.faults(), ["broken"]);
}

#[test]
fn bodies_arrive_in_chunks_or_buffered() {
    let library = library();
    let pieces = library.filter("body", r#"{"mode": "upper"}"#).expect("right");
    let outcome = Chain::new().then(&pieces).send(Request::post("/", "abc").piece("def"), ok);
    assert_eq!(outcome.sent().whole_body(), b"ABCDEF");
    assert_eq!(outcome.answered().body, [b"HELLO ".to_vec(), b"WORLD".to_vec()]);

    let whole = library.filter("body", r#"{"mode": "reverse"}"#).expect("right");
    let outcome = Chain::new().then(&whole).then(&pieces).send(Request::post("/", "abc").piece("def"), ok);
    assert_eq!(outcome.sent().whole_body(), b"FEDCBA");
    assert_eq!(outcome.sent().get_field("x-len"), Some("6"));
    assert_eq!(outcome.answered().whole_body(), b"DLROW OLLEH");

    let around = library.filter("body", r#"{"mode": "around"}"#).expect("right");
    let outcome = Chain::new().then(&around).then(&pieces).send(Request::post("/", "abc"), ok);
    assert_eq!(outcome.sent().whole_body(), b"<BC>");
}

#[test]
fn trailers_are_read_and_changed() {
    let filter = library().filter("script", r#"["trailers"]"#).expect("right");
    let request = Request::post("/", "x").trailer("x-sum", "1");
    let outcome = Chain::new().then(&filter).send(request, |_| ok(&Request::get("/")).trailer("x-sum", "2"));
    assert_eq!(outcome.faults(), [""; 0]);
    assert_eq!(outcome.sent().trailers.get("x-sum"), Some("1!"));
    assert_eq!(outcome.answered().trailers.get("x-sum"), Some("2!"));
}

#[test]
fn a_pause_is_resumed_from_another_thread() {
    for (how, status, field) in
        [("resume", 200, Some("later")), ("reply", 418, None), ("fault", 500, None), ("drop", 500, None)]
    {
        let filter = library().filter("pause", &format!(r#"{{"how": "{how}"}}"#)).expect("right");
        let outcome = Chain::new().then(&filter).send(Request::get("/"), ok);
        assert_eq!(outcome.answered().status, status, "{how}: {:?}", outcome.faults());
        if status == 200 {
            assert_eq!(outcome.sent().get_field("x-paused"), field);
            assert_eq!(outcome.sent().get_field("x-before"), Some("pause"));
        }
    }
    let reset = library().filter("pause", r#"{"how": "reset"}"#).expect("right");
    assert!(!Chain::new().then(&reset).send(Request::get("/"), ok).was_answered());
    let buffer = library().filter("pause", r#"{"how": "buffer"}"#).expect("right");
    let outcome = Chain::new().then(&buffer).send(Request::post("/", "ab").piece("cd"), ok);
    assert_eq!(outcome.sent().body, [b"abcd".to_vec()]);
}

#[test]
fn blocking_filters_run_off_the_worker_and_see_the_same_message() {
    let library = library();
    let first = library.filter("script", r#"["set x-a one"]"#).expect("right");
    let second = library.filter("script", r#"["copy x-a x-b", "thread x-thread", "count", "metadata"]"#);
    let second = second.expect("right");
    let third = library.filter("script", r#"["copy x-b x-c"]"#).expect("right");
    let chain = Chain::new().then(&first).then(&second).blocking().then(&third);
    for _ in 0..20 {
        let outcome = chain.send(Request::get("/"), ok);
        assert_eq!(outcome.faults(), [""; 0]);
        assert_eq!(outcome.sent().get_field("x-c"), Some("one"));
        assert_eq!(outcome.sent().get_field("x-thread"), Some("eddy-filter"));
        assert_eq!(outcome.metadata("script", "seen"), Some("[1,true]"));
    }
    let paused = library.filter("pause", r#"{"how": "resume"}"#).expect("right");
    let outcome = Chain::new().then(&paused).blocking().send(Request::get("/"), ok);
    assert_eq!(outcome.sent().get_field("x-before"), Some("pause"));
    assert_eq!(outcome.sent().get_field("x-paused"), Some("later"));
    for hook in ["panic", "fault broken"] {
        let filter = library.filter("script", &format!(r#"["set x-a lost", "{hook}"]"#)).expect("right");
        let outcome = Chain::new().then(&filter).blocking().send(Request::get("/"), ok);
        assert_eq!(outcome.answered().status, 500);
        assert_eq!(outcome.faults().len(), 1, "{:?}", outcome.faults());
    }
}

#[test]
fn state_lives_from_hook_to_hook_and_is_released_once() {
    let library = library();
    let filter = library.filter("stateful", r#""state-once""#).expect("right");
    for _ in 0..3 {
        let outcome = Chain::new().then(&filter).send(Request::get("/"), ok);
        assert_eq!(outcome.answered().get_field("x-hooks"), Some("2"));
        assert_eq!(outcome.crossings(), 4, "two heads, the log and the end");
    }
    let ended: Vec<String> = notes().into_iter().filter(|note| note.starts_with("state-once")).collect();
    assert_eq!(ended, ["state-once 3 Complete"; 3]);
    let outcome = Chain::new().then(&filter).blocking().send(Request::get("/"), ok);
    assert_eq!(outcome.answered().get_field("x-hooks"), Some("2"));
}

#[test]
fn unused_hooks_are_never_called() {
    let filter = library().filter("script", r#"["set x-a 1"]"#).expect("right");
    assert_eq!(Chain::new().then(&filter).send(Request::get("/"), ok).crossings(), 1);
}

#[test]
fn outbound_requests_have_one_end() {
    let library = library();
    let filter = library.filter("ask", r#""authority""#).expect("right");
    for (given, expected) in
        [(Ok(Response::new(200).field("x-user", "jo").piece("yes")), "jo yes"), (Err("timeout"), "timeout")]
    {
        std::thread::scope(|scope| {
            let running = scope.spawn(|| Chain::new().then(&filter).send(Request::get("/"), ok));
            let call = loop {
                if let Some(call) = sent(&filter).pop() {
                    break call;
                }
                std::thread::yield_now();
            };
            assert_eq!((call.cluster.as_str(), call.method.as_str()), ("authority", "POST"));
            assert_eq!(call.fields.get("accept"), Some("text/plain"));
            assert_eq!(call.body, b"/");
            answer(&filter, &call, given);
            let outcome = running.join().expect("it does not panic");
            assert_eq!(outcome.sent().get_field("x-answer"), Some(expected));
        });
    }
    let unknown = library.filter("ask", r#""unknown""#).expect("right");
    let outcome = Chain::new().then(&unknown).send(Request::get("/"), ok);
    assert_eq!(outcome.faults(), ["the cluster does not exist"]);
}

#[test]
fn metrics_and_logs_reach_the_host() {
    let filter = library().filter("meter", "null").expect("right");
    for body in ["", "x", "xxxxxxxxxxxxxxxxxxxx"] {
        let outcome = Chain::new().then(&filter).send(Request::post("/", body), ok);
        assert_eq!(outcome.faults(), [""; 0]);
    }
    assert_eq!(counted(&filter, "requests"), [3]);
    assert_eq!(counted(&filter, "open"), [0]);
    assert_eq!(counted(&filter, "sizes"), [2, 0, 1, 21]);
    let logged = logged(&filter);
    assert!(logged.contains(&(Level::Info, "a request of 20 bytes".to_owned())), "{logged:?}");
    assert!(logged.contains(&(Level::Warn, "plain".to_owned())), "{logged:?}");
    assert!(filter.is_entered(Phase::Log) && !filter.is_entered(Phase::RequestTrailers));
}

#[test]
fn edits_that_a_phase_does_not_allow_are_refused_immediately() {
    let outcome = run(r#"["misplaced"]"#, Request::get("/"));
    assert_eq!(outcome.faults(), [""; 0]);
    assert_eq!(outcome.answered().status, 200);
}

#[test]
#[cfg_attr(miri, ignore = "16 MiB take Miri minutes")]
fn too_many_edits_are_an_error_of_the_filter() {
    let outcome = run(r#"["flood"]"#, Request::get("/"));
    assert_eq!(outcome.faults(), ["the edits exceed the limit of the call"]);
}

#[test]
fn a_drop_that_panics_affects_no_other_exchange() {
    let filter = library().filter("fragile", "null").expect("right");
    let outcome = Chain::new().then(&filter).send(Request::get("/"), ok);
    assert_eq!(outcome.answered().status, 200);
    drop(filter);
}

#[test]
fn a_route_an_endpoint_and_metadata_are_set() {
    let outcome = run(r#"["choose"]"#, Request::get("/"));
    assert!(outcome.is_route_cleared());
    assert_eq!(outcome.endpoint(), Some("127.0.0.1:9001"));
    assert_eq!(outcome.metadata("script", "who"), Some("{\"id\":7}"));
    assert_eq!(outcome.metadata("script", "gone"), None);
}

#[test]
fn a_field_is_removed_from_the_body() {
    let check = |places: &str, expected: &str| {
        let filter = library().filter("places", places).expect("right");
        let outcome = Chain::new().then(&filter).send(Request::post("/", "0123").piece("456789"), ok);
        assert_eq!(outcome.metadata("seen", "tenant"), Some(expected), "{places}: {:?}", outcome.faults());
    };
    // The last value is the effective one.
    check("[[2,3],[7,2]]", "\"78\"");
    check("[[2,3],[9,2]]", "\"234\"");
    check("[[10,1]]", "\"none\"");
    check("[[4,0]]", "\"none\"");
    check("[]", "\"none\"");
    // A piece is not the whole body.
    check("[[0,2]]", "\"none\"");
}

#[test]
fn a_filter_closes_the_connection_after_a_response() {
    let request = || Request::get("/").field("x-a", "1");
    let outcome = run(r#"["set connection close"]"#, request());
    assert!(outcome.ends_connection() && outcome.sent() == &request());
    let outcome = run(r#"["set connection keep-alive"]"#, request());
    assert!(!outcome.ends_connection());
    assert_eq!(outcome.answered().status, 500);
}

#[test]
fn fields_are_found_by_id_by_name_and_in_order() {
    let request = Request::get("/p?q").field("Authorization", "x").field("X-Two", "1").field("x-two", "2");
    let outcome = run(r#"["lookup"]"#, request);
    assert_eq!(outcome.faults(), [""; 0]);
    assert_eq!(outcome.answered().status, 200);
}

fn run(script: &str, request: Request) -> eddy_sdk::test::ChainOutcome {
    let filter = library().filter("script", script).expect("the script is right");
    Chain::new().then(&filter).send(request, ok)
}

#[test]
fn non_adjacent_filters_of_a_chain_are_all_entered() {
    let library = library();
    let first = library.filter("script", r#"["set x-a 1"]"#).expect("right");
    let elsewhere = library.filter("stateful", r#""apart""#).expect("right");
    let last = library.filter("script", r#"["copy x-a x-b"]"#).expect("right");
    let chain = Chain::new().then(&first).then(&elsewhere).then(&last).blocking().then(&first);
    let outcome = chain.send(Request::get("/"), ok);
    assert_eq!(outcome.sent().get_field("x-b"), Some("1"));
    assert_eq!(outcome.answered().get_field("x-hooks"), Some("2"));
}

#[test]
fn the_rest_of_a_hook_runs_off_the_worker() {
    let library = library();
    let first = library.filter("script", r#"["set x-a one"]"#).expect("right");
    let elsewhere = library.filter("elsewhere", r#""elsewhere""#).expect("right");
    let last = library.filter("script", r#"["copy x-b x-c"]"#).expect("right");
    for blocking in [false, true] {
        let chain = Chain::new().then(&first).then(&elsewhere);
        let chain = if blocking { chain.blocking() } else { chain };
        let outcome = chain.then(&last).send(Request::get("/"), ok);
        assert_eq!(outcome.faults(), [""; 0]);
        assert_eq!(outcome.sent().get_field("x-c"), Some("one eddy-filter 2"));
    }
    let panicking = library.filter("elsewhere", r#""panic""#).expect("right");
    let outcome = Chain::new().then(&panicking).send(Request::get("/"), ok);
    assert_eq!((outcome.answered().status, outcome.faults().len()), (500, 1));
    // The other state is released on the thread for blocking work, at any time.
    let ended =
        notes().into_iter().filter(|note| note.starts_with("elsewhere") && !note.contains("eddy-filter"));
    assert_eq!(ended.count(), 1);
}
