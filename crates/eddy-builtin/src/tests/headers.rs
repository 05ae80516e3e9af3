use eddy_filter::Phase;

use super::support::{TestExchange, made};
use crate::{BuiltinConfig, FieldRules, HeadersConfig, TemplateString};

fn rules(remove: &[&str], set: &[(&str, &str)], add: &[(&str, &str)]) -> FieldRules {
    let rendered = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, text)| ((*name).into(), TemplateString::parse(text).unwrap())).collect()
    };
    FieldRules {
        remove: remove.iter().map(|name| (*name).into()).collect(),
        set: rendered(set),
        add: rendered(add),
    }
}

#[test]
fn fields_are_removed_set_and_added() {
    let config = HeadersConfig {
        request: rules(
            &["x-old"],
            &[("x-peer", "${peer_ip}"), ("x-none", "${header.x-missing}")],
            &[("x-more", "${method} ${path}"), ("x-more", "${header.x-missing}")],
        ),
        response: rules(&["server"], &[("x-from", "${endpoint}/${status}")], &[]),
    };
    let (library, info) = made(&BuiltinConfig::Headers(config));
    assert!(info.interest.has(Phase::RequestHead) && info.interest.has(Phase::ResponseHead));
    let mut stage = TestExchange::request("GET /a?b HTTP/1.1\nhost: a").response("HTTP/1.1 204 No Content");
    let edits = stage.enter(&*library, Phase::RequestHead).edits;
    assert_eq!(edits, ["remove x-old", "set x-peer: 192.0.2.1", "remove x-none", "add x-more: GET /a"]);
    let edits = stage.enter(&*library, Phase::ResponseHead).edits;
    assert_eq!(edits, ["remove server", "set x-from: 127.0.0.1:9000/204"]);
}

#[test]
fn a_direction_without_changes_is_not_entered() {
    let config = HeadersConfig { request: FieldRules::default(), response: rules(&["server"], &[], &[]) };
    let (_, info) = made(&BuiltinConfig::Headers(config));
    assert!(!info.interest.has(Phase::RequestHead) && info.interest.has(Phase::ResponseHead));
}
