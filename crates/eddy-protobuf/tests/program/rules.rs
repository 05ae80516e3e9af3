//! Rules checked by programs.

use std::sync::Arc;

use eddy_protobuf::{ProgramBuilder, ProgramError, ProtobufErrorKind, RuleTest};

use super::{message, run, schema};

/// Checks a rule with valid and invalid messages in JSON.
fn check(name: &str, path: &str, test: &RuleTest, good: &[&str], bad: &[&str]) {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message(name).unwrap());
    let number = builder.rule(path, test).unwrap();
    let program = Arc::new(builder.build().unwrap());
    for json in good {
        run(&program, &[], &message(&schema, name, json)).unwrap_or_else(|fault| panic!("{json}: {fault}"));
    }
    for json in bad {
        let fault = run(&program, &[], &message(&schema, name, json)).unwrap_err();
        assert_eq!(fault.kind, ProtobufErrorKind::Rule(number), "{json}");
    }
}

#[test]
fn required_fields_must_be_present() {
    let person = "eddy.test.Person";
    check(person, "name", &RuleTest::Present, &[r#"{"name": "a"}"#], &["{}", r#"{"email": "a"}"#]);
    check(person, "score", &RuleTest::Present, &[r#"{"score": 0}"#], &["{}"]);
    check(person, "address", &RuleTest::Present, &[r#"{"address": {}}"#], &[r#"{"phone": "1"}"#]);
    // Only where the message is present.
    check(
        person,
        "friends.name",
        &RuleTest::Present,
        &["{}", r#"{"friends": [{"name": "a"}]}"#],
        &[r#"{"friends": [{"name": "a"}, {"age": 1}]}"#],
    );
}

#[test]
fn texts_have_lengths_and_patterns() {
    let person = "eddy.test.Person";
    let bytes = RuleTest::Bytes { min: 2, max: 4 };
    check(person, "name", &bytes, &["{}", r#"{"name": "éé"}"#], &[r#"{"name": "a"}"#, r#"{"name": "ééé"}"#]);
    let characters = RuleTest::Characters { min: 0, max: 2 };
    check(person, "name", &characters, &[r#"{"name": "éé"}"#], &[r#"{"name": "éée"}"#]);
    let pattern = RuleTest::Pattern("^[a-z]+@[a-z]+\\.example$".to_owned());
    check(
        person,
        "friends.email",
        &pattern,
        &[r#"{"friends": [{"email": "a@b.example"}]}"#],
        &[r#"{"friends": [{"email": "a@b.example"}, {"email": "x a@b.example"}]}"#],
    );
    check(
        person,
        "name",
        &RuleTest::Pattern("b".to_owned()),
        &[r#"{"name": "abc"}"#],
        &[r#"{"name": "ac"}"#],
    );
    check(person, "secret", &RuleTest::Utf8, &[r#"{"secret": "YWI="}"#], &[r#"{"secret": "/w=="}"#]);
}

#[test]
fn numbers_have_ranges() {
    let ages = RuleTest::Integer { min: 1, max: 150 };
    check("eddy.test.Person", "age", &ages, &["{}", r#"{"age": 150}"#], &[r#"{"age": 151}"#]);
    let balance = RuleTest::Integer { min: -5, max: 5 };
    check("eddy.test.Person", "balance", &balance, &[r#"{"balance": -5}"#], &[r#"{"balance": -6}"#]);
    let sizes = RuleTest::Integer { min: 0, max: 9 };
    check(
        "eddy.test.Item",
        "sizes",
        &sizes,
        &[r#"{"sizes": [0, 9]}"#],
        &[r#"{"sizes": [1, 10]}"#, r#"{"sizes": [-1]}"#],
    );
    let status = RuleTest::Integer { min: 0, max: 1 };
    check("eddy.test.Item", "status", &status, &[r#"{"status": 1}"#], &[r#"{"status": 2}"#]);
    let price = RuleTest::Number { min: 0.0, max: 10.0 };
    check(
        "eddy.test.Item",
        "price",
        &price,
        &[r#"{"price": 0.5}"#],
        &[r#"{"price": -0.5}"#, r#"{"price": "NaN"}"#],
    );
}

#[test]
fn invalid_rules_are_reported() {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Person").unwrap());
    let mut check = |path: &str, test: RuleTest, expected: &str| {
        let problem = builder.rule(path, &test).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    check("name", RuleTest::Integer { min: 0, max: 1 }, "is not an integer");
    check("age", RuleTest::Number { min: 0.0, max: 1.0 }, "is not a float or double");
    check("age", RuleTest::Utf8, "is not a string or bytes");
    check("friends", RuleTest::Present, "is repeated");
    check("name", RuleTest::Pattern("a(".to_owned()), "unclosed group");
    check("name", RuleTest::Pattern("\\b".to_owned()), "word boundaries");
    let large = RuleTest::Pattern("[a-z]{1000}{1000}".to_owned());
    assert!(matches!(builder.rule("name", &large), Err(ProgramError::Pattern { .. })));
}
