use std::sync::Arc;

use eddy_filter::{FilterLibrary, LoadError, LoadResult, Phase, Verdict};
use eddy_protobuf::{Frames, FromJson, FromJsonOptions, ProtobufLimits, Schema};

use super::*;
use crate::protobuf::Unreadable;
use crate::tests::support::{TestExchange, TestFilterResult, TestHost, TestServices, context, enter_piece};
use crate::{BuiltinConfig, make};

const ORDERS: &[u8] = include_bytes!("../../../../examples/field-routing/orders.binpb");

fn try_made(
    change: impl FnOnce(&mut MessageFieldsConfig),
) -> LoadResult<(Arc<dyn FilterLibrary>, Arc<TestHost>)> {
    let mut config = MessageFieldsConfig::new("orders.binpb".into());
    let tenant = FieldToExtract {
        header: Some("x-tenant".into()),
        ..FieldToExtract::new("tenant", "customer.tenant")
    };
    config.request = vec![tenant, FieldToExtract::new("region", "customer.region")];
    config.response = vec![FieldToExtract::new("total", "total.units")];
    config.is_rerouted = true;
    change(&mut config);
    let (context, host) = context(1, TestServices::with_file("orders.binpb", ORDERS));
    make(&BuiltinConfig::MessageFields(config), &context).map(|(library, _)| (library, host))
}

fn made(change: impl FnOnce(&mut MessageFieldsConfig)) -> Arc<dyn FilterLibrary> {
    try_made(change).unwrap().0
}

fn frame(name: &str, json: &str) -> Vec<u8> {
    let schema = Arc::new(Schema::from_descriptors(ORDERS).unwrap());
    let id = schema.find_message(&format!("orders.v1.{name}")).unwrap();
    let mut reader = FromJson::new(schema, id, FromJsonOptions::default(), ProtobufLimits::default());
    let message = reader.convert(json.as_bytes()).unwrap();
    [&Frames::head(u32::try_from(message.len()).unwrap(), false)[..], message].concat()
}

fn call(method: &str, fields: &str) -> TestExchange {
    TestExchange::request(&format!(
        "POST /orders.v1.Orders/{method} HTTP/1.1\nhost: a\ncontent-type: application/grpc\n{fields}transfer-encoding: chunked"
    ))
}

const ACME: &str = r#"{"customer":{"tenant":"acme","region":"ASIA"}}"#;
const OF_ACME: [&str; 4] = [
    "metadata message_fields/tenant \"acme\"",
    "add x-tenant: acme",
    "metadata message_fields/region \"ASIA\"",
    "ClearRoute",
];

#[test]
fn the_head_waits_for_the_first_message() {
    let library = made(|_| {});
    let first = frame("UploadRequest", ACME);
    let body = [first.clone(), frame("UploadRequest", r#"{"customer":{"tenant":"zoo"}}"#)].concat();
    for step in 1..=body.len() {
        let mut stage = call("Upload", "");
        assert_eq!(
            stage.enter(&*library, Phase::RequestHead),
            TestFilterResult { verdict: Verdict::Hold, edits: vec![], wait: None }
        );
        let mut at = 0;
        for piece in body.chunks(step) {
            let (before, after) = (at, at + piece.len());
            at = after;
            let said = enter_piece(&mut stage, &*library, Phase::RequestBody, piece, after == body.len());
            let ends = (before..after).contains(&(first.len() - 1));
            let expected = if after < first.len() { Verdict::Hold } else { Verdict::Continue };
            assert_eq!(said.verdict, expected, "by {step}");
            assert_eq!(said.edits, if ends { OF_ACME.to_vec() } else { Vec::new() }, "by {step}");
        }
    }
}

#[test]
fn headers_of_the_client_with_the_same_name_are_removed() {
    let library = made(|_| {});
    let said = call("Place", "x-tenant: acme\n").enter(&*library, Phase::RequestHead);
    assert_eq!(
        (said.verdict, said.edits),
        (Verdict::Hold, vec!["remove x-tenant".to_owned(), "ClearRoute".to_owned()])
    );
    let mut stage = TestExchange::request("GET / HTTP/1.1\nhost: a\nx-tenant: acme");
    stage.is_end = true;
    assert_eq!(stage.enter(&*library, Phase::RequestHead).edits, ["remove x-tenant", "ClearRoute"]);
    let quiet = made(|config| config.is_rerouted = false);
    assert_eq!(stage.enter(&*quiet, Phase::RequestHead).edits, ["remove x-tenant"]);
    // A message without the field adds no header, and does not require another route.
    let mut stage = call("Place", "");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, &frame("PlaceRequest", "{}"), true);
    assert_eq!((said.verdict, said.edits.len()), (Verdict::Continue, 0), "{said:?}");
}

#[test]
fn a_repeated_field_is_a_list() {
    let library = made(|config| {
        let articles = FieldToExtract {
            header: Some("x-article".into()),
            values_max: 2,
            value_bytes_max: 4,
            ..FieldToExtract::new("articles", "items.article")
        };
        config.request = vec![articles];
    });
    let mut stage = call("Place", "");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let body = frame("PlaceRequest", r#"{"items":[{"article":"a"},{"article":"b%"},{"article":"c"}]}"#);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, &body, true);
    assert_eq!(
        said.edits,
        [
            r#"metadata message_fields/articles ["a","b%"]"#,
            "add x-article: a",
            "add x-article: b%25",
            "ClearRoute"
        ]
    );
}

#[test]
fn later_filters_can_get_the_offsets_of_values() {
    let library = made(|config| {
        let articles =
            FieldToExtract { has_places: true, ..FieldToExtract::new("articles", "items.article") };
        config.request = vec![articles];
    });
    let mut stage = call("Place", "");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let body = frame("PlaceRequest", r#"{"items":[{"article":"abc"},{"article":"d"}]}"#);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, &body, true);
    let at = "metadata message_fields/articles_at [[9,3],[16,1]]";
    assert_eq!(said.edits, ["metadata message_fields/articles [\"abc\",\"d\"]", at]);
    assert_eq!((&body[9..12], &body[16..17]), (&b"abc"[..], &b"d"[..]));
}

#[test]
fn a_response_is_read_and_not_changed() {
    let check = |change: fn(&mut MessageFieldsConfig), body: &[u8], metadata: &[&str], unreadable: u64| {
        let (library, host) = try_made(change).unwrap();
        let mut stage = call("Place", "");
        let _ = stage.enter(&*library, Phase::RequestHead);
        let mut stage =
            stage.response("HTTP/1.1 200 OK\ncontent-type: application/grpc\ntransfer-encoding: chunked");
        stage.is_end = false;
        assert_eq!(stage.enter(&*library, Phase::ResponseHead).verdict, Verdict::Continue);
        let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, body, true);
        assert_eq!(
            (said.verdict, said.edits),
            (Verdict::Continue, metadata.iter().map(ToString::to_string).collect())
        );
        assert_eq!(host.metric("unreadable"), unreadable);
    };
    let total = |units: i64| frame("PlaceReply", &format!(r#"{{"total":{{"units":"{units}"}}}}"#));
    let both = [total(-7), total(8)].concat();
    check(|_| {}, &both, &["metadata message_fields/total -7"], 0);
    let last: fn(&mut MessageFieldsConfig) = |config| config.which = WhichMessage::Last;
    check(last, &both, &["metadata message_fields/total -7", "metadata message_fields/total 8"], 0);
    // An absent field removes the value of an earlier message.
    check(
        last,
        &[total(1), frame("PlaceReply", "{}")].concat(),
        &["metadata message_fields/total 1", "metadata message_fields/total "],
        0,
    );
    check(|_| {}, b"\0\0\0\0\x02\x12\x05", &[], 1);
    check(|_| {}, b"\x01\0\0\0\0", &[], 1);
    check(|_| {}, b"\0\0\0\0\x05", &[], 1);
}

#[test]
fn an_unreadable_message_is_refused_where_it_selects_the_route() {
    let small: fn(&mut MessageFieldsConfig) = |config| config.message_bytes_max = 2000;
    let long = frame("PlaceRequest", &format!(r#"{{"customer":{{"tenant":"{}"}}}}"#, "x".repeat(257)));
    let bodies: [(&[u8], u16, u32); 5] = [
        (b"\0\0\0\0\x02\x0a\x05", 400, 3),
        (b"\x01\0\0\0\0", 400, 3),
        (b"\0\0\0\0\x05", 400, 3),
        (b"\0\0\0\x10\0", 413, 8),
        (&long, 400, 3),
    ];
    for (body, status, grpc) in bodies {
        let library = made(small);
        let mut stage = call("Place", "");
        let _ = stage.enter(&*library, Phase::RequestHead);
        let said = enter_piece(&mut stage, &*library, Phase::RequestBody, body, true);
        assert_eq!(said.verdict, Verdict::Reply, "{body:?}");
        assert!(said.edits.contains(&format!("reply {status} message_fields")), "{said:?}");
        assert!(said.edits.contains(&format!("grpc {grpc}")), "{said:?}");
        let library = made(|config| {
            small(config);
            config.unreadable = Unreadable::Pass;
        });
        let mut stage = call("Place", "");
        let _ = stage.enter(&*library, Phase::RequestHead);
        let said = enter_piece(&mut stage, &*library, Phase::RequestBody, body, true);
        assert_eq!(said.verdict, Verdict::Continue, "{body:?}");
        // If no field is sent as a header, nothing is held and nothing is refused.
        let library = made(|config| {
            small(config);
            config.request = vec![FieldToExtract::new("region", "customer.region")];
        });
        let mut stage = call("Place", "");
        assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Continue);
        assert_eq!(
            enter_piece(&mut stage, &*library, Phase::RequestBody, body, true).verdict,
            Verdict::Continue
        );
    }
}

#[test]
fn full_metadata_drops_the_value_and_not_the_request() {
    let (library, host) = try_made(|_| {}).unwrap();
    let mut stage = call("Place", "");
    stage.metadata.set(b"other", b"key", &vec![b'1'; 65_520]).unwrap();
    let _ = stage.enter(&*library, Phase::RequestHead);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, &frame("PlaceRequest", ACME), true);
    assert_eq!(
        (said.verdict, said.edits),
        (Verdict::Continue, vec!["add x-tenant: acme".to_owned(), "ClearRoute".to_owned()])
    );
    assert_eq!(host.metric("unreadable"), 2);
}

#[test]
fn unknown_fields_are_refused() {
    let refused = |path: &str, messages: &[&str]| {
        let mut field = FieldToExtract::new("x", path);
        field.at.messages = messages.iter().map(|name| (*name).into()).collect();
        let Err(LoadError::Path { path: told, message }) = try_made(|config| config.request = vec![field])
        else {
            panic!("it is taken")
        };
        assert_eq!(told, path);
        message.strip_prefix("descriptors in orders.binpb: ").unwrap_or(&message).to_owned()
    };
    assert!(refused("customer.name", &[]).contains("has no field \"name\""));
    assert_eq!(refused("customer", &[]), "path \"customer\" ends at a message or map; name a field in it");
    assert!(refused("items", &["orders.v1.UploadRequest"]).contains("has no field \"items\""));
    assert_eq!(refused("a", &["orders.v1.None"]), "no message \"orders.v1.None\" is defined");
    assert_eq!(
        refused("total.units", &["orders.v1.PlaceReply"]),
        "path \"total.units\": no gRPC method has messages \"orders.v1.PlaceReply\" in this direction"
    );
    assert!(refused("customer..", &[]).contains("examples of paths"));
}
