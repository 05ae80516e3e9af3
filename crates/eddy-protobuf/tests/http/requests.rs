//! Fields set by path and query.

use eddy_protobuf::HttpIndexOptions;

use crate::{library, library_with, messages, values};

#[track_caller]
fn check(target: &str, expected: &str) {
    let found = messages(&library(), "GET", target, "").unwrap();
    assert_eq!(values(&found), values(&[expected]), "{target}");
}

#[track_caller]
fn refused(target: &str, expected: &str) {
    assert_eq!(messages(&library(), "GET", target, "").unwrap_err(), expected, "{target}");
}

#[test]
fn path_variables_set_fields() {
    check("/v1/shelves/1", r#"{"name":"shelves/1"}"#);
    check("/v1/shelves/a%20b%2Fc", r#"{"name":"shelves/a b%2Fc"}"#);
    check("/v1/books/a%20b%2Fc+d", r#"{"name":"a b/c+d"}"#);
    check("/v1/shelves/%22%5C%0a", r#"{"name":"shelves/\"\\\n"}"#);
    refused("/v1/shelves/%zz", "the path is not percent-encoded UTF-8");
    refused("/v1/shelves/%ff", "the path is not percent-encoded UTF-8");
}

#[test]
fn query_parameters_set_fields_of_all_kinds() {
    let list = |query: &str, expected: &str| {
        let expected = match expected {
            "" => r#"{"parent":"shelves/1"}"#.to_owned(),
            _ => format!(r#"{{{expected},"parent":"shelves/1"}}"#),
        };
        check(&format!("/v1/shelves/1/books?{query}"), &expected);
    };
    list("", "");
    list("&&", "");
    list("page_size=7&pageToken=a%26b+c", r#""pageSize":7,"pageToken":"a&b c""#);
    list("filter.tags=x&filter.tags=y&filter.pages_min=0", r#""filter":{"tags":["x","y"],"pagesMin":0}"#);
    list(
        "filter.kinds=KIND_NOVEL&filter.kinds=2&filter.kinds=9",
        r#""filter":{"kinds":["KIND_NOVEL","KIND_ATLAS",9]}"#,
    );
    list("filter.like.number=-5", r#""filter":{"like":{"number":-5}}"#);
    list("since=2026-01-31T12:00:00.5Z", r#""since":"2026-01-31T12:00:00.500Z""#);
    list(
        "patience=1.5s&copies=9007199254740993&isNew=false",
        r#""patience":"1.500s","copies":"9007199254740993","isNew":false"#,
    );
    list("cursor=-_8&rating=NaN&is_lent=true", r#""cursor":"+/8=","rating":"NaN","isLent":true"#);
    check("/v1/books/b?readMask=title,pages.text", r#"{"readMask":"title,pages.text","name":"b"}"#);
}

#[test]
fn invalid_query_parameters_are_refused() {
    let list = |query: &str, expected: &str| refused(&format!("/v1/shelves/1/books?{query}"), expected);
    list("size=1", "the parameter \"size\" is not a field of the request");
    list("page_size.x=1", "the parameter \"page_size.x\" is not a field of the request");
    list("parent=x", "the parameter \"parent\" is already set by the path or the body");
    list(
        "filter=x",
        "the parameter \"filter\" is a message, a map, or in a repeated field: it is only allowed in the body",
    );
    list("page_size=1&pageSize=2", "the parameter \"pageSize\" occurs twice, and its field is not repeated");
    list("page_size=x", "the value of \"page_size\" is invalid: a value is not of the field's type");
    list("is_lent=1", "the value of \"is_lent\" is invalid: a value is not of the field's type");
    list(
        "filter.kinds=NOVEL",
        "the value of \"filter.kinds\" is invalid: the enum has no value of this name",
    );
    list("page_token=%", "the query is not percent-encoded UTF-8");
    list("%ff=1", "the query is not percent-encoded UTF-8");
    let many = "filter.tags=1&".repeat(1025);
    list(&many, "too many parameters");
    let long = format!("page_token={}", "x".repeat(70_000));
    assert!(messages(&library(), "GET", &format!("/v1/shelves/1/books?{long}"), "").is_err());
}

#[test]
fn foreign_query_parameters_can_be_ignored() {
    let index = library_with(HttpIndexOptions {
        ignored_parameters: vec!["key".to_owned()],
        ..HttpIndexOptions::default()
    });
    assert!(messages(&index, "GET", "/v1/shelves/1?key=%ff", "").is_ok());
    assert!(messages(&index, "GET", "/v1/shelves/1?kex=1", "").is_err());
    let index =
        library_with(HttpIndexOptions { ignores_unknown_parameters: true, ..HttpIndexOptions::default() });
    assert!(messages(&index, "GET", "/v1/shelves/1?kex=1", "").is_ok());
    assert!(messages(&index, "GET", "/v1/shelves/1?name=1", "").is_err());
}
