use eddy_protobuf::{JsonFieldNaming, Schema};
use serde_json::Value;

use super::{OpenApiOptions, open_api};

const LIBRARY: &[u8] = include_bytes!("../../../../../examples/transcoding/library.binpb");

fn told(is_auto: bool, names: JsonFieldNaming, services: &[String]) -> anyhow::Result<Value> {
    let schema = Schema::from_descriptors(LIBRARY)?;
    let told = open_api(schema, &OpenApiOptions { services, is_auto, names, title: "t", version: "1" })?;
    // One of the methods is bound to an HTTP method that OpenAPI does not support.
    assert!(told.left_out.iter().all(|left| left.contains("no method `PURGE`")), "{:?}", told.left_out);
    Ok(serde_json::from_str(&told.document)?)
}

#[test]
fn path_variables_and_body_fields_are_not_query_parameters() {
    let document = told(false, JsonFieldNaming::Json, &[]).unwrap();
    let names = |operation: &Value| {
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let text = |parameter: &Value| {
            format!("{} {}", parameter["in"].as_str().unwrap(), parameter["name"].as_str().unwrap())
        };
        parameters.iter().map(text).collect::<Vec<_>>()
    };
    let create = &document["paths"]["/v1/shelves/{parent}/books"]["post"];
    assert_eq!(names(create).first().unwrap(), "path parent");
    assert!(
        names(create).iter().all(|name| *name != "query book" && !name.starts_with("query book.")),
        "{create}"
    );
    let schema = &create["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(schema["$ref"], "#/components/schemas/library.v1.Book");
    let moved = &document["paths"]["/v1/shelves/{name}/books/{name_2}:move"]["post"];
    assert_eq!(names(moved), ["path name", "path name_2"]);
    let all = document["components"]["schemas"].as_object().unwrap();
    let text = document.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(all.contains_key(name), "{name} is referred to");
    }
}

#[test]
fn methods_without_a_rule_are_included_on_request() {
    let path = "/library.v1.Library/GetShelf";
    assert!(told(false, JsonFieldNaming::Json, &[]).unwrap()["paths"][path].is_null());
    // A method with a rule has no path beside that of its rule.
    assert!(told(true, JsonFieldNaming::Json, &[]).unwrap()["paths"][path].is_null());
    let error = told(false, JsonFieldNaming::Json, &["library.v1.Shop".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("library.v1.Shop"), "{error}");
}

#[test]
fn fields_have_their_json_or_declared_names() {
    let json = told(false, JsonFieldNaming::Json, &[]).unwrap().to_string();
    let declared = told(false, JsonFieldNaming::Declared, &[]).unwrap().to_string();
    assert!(json.contains("\"pageSize\"") && !json.contains("\"page_size\""), "{json}");
    assert!(declared.contains("\"page_size\"") && !declared.contains("\"pageSize\""), "{declared}");
}
