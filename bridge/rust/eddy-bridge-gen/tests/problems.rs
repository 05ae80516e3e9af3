//! Types that can't cross the bridge are reported with their position.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use eddy_bridge_gen::go_text;

/// Checks that a declaration has these problems, as `LINE:COLUMN: MESSAGE`.
fn check(declaration: &str, expected: &[&str]) {
    let error = go_text(declaration, "declaration.rs", "declared").unwrap_err();
    let found: Vec<String> = error
        .into_iter()
        .map(|error| {
            let start = error.span().start();
            format!("{}:{}: {error}", start.line, start.column + 1)
        })
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
}

fn method(line: &str) -> String {
    format!("#[eddy_bridge::go]\ntrait Service {{\n    {line}\n}}\n")
}

#[test]
fn unsupported_types() {
    check(&method("fn call(&self, a: usize);"), &["3:23: `usize` differs between machines: use u64"]);
    check(&method("fn call(&self, a: Vec<char>);"), &["3:27: Go has no char"]);
    check(&method("fn call(&self) -> (u8, u8);"), &["3:23: a tuple has no field names"]);
    check(&method("fn call(&self, a: &mut String);"), &["3:24: values can't be changed in place"]);
    check(&method("fn call(&self, a: HashMap<f64, u8>);"), &["3:31: a map key must be"]);
    check(&method("fn call(&self, a: fn());"), &["3:23: this type can't cross"]);
    check(&method("fn call(&self, a: Vec<()>);"), &["3:27: () is only allowed as a result"]);
    check(&method("fn call(&self, a: Order);"), &["3:23: no struct `Order` in this file"]);
    check(&method("fn call(&self, a: Option<u8, u8>);"), &["3:23: `Option` needs 1 types"]);
    check(&method("fn call(&self) -> &str;"), &["3:23: a result can't borrow"]);
    check(&method("fn call(&self) -> Vec<Option<&[u8]>>;"), &["3:23: a result can't borrow"]);
}

#[test]
fn unsupported_methods() {
    check(&method("fn call();"), &["3:8: a method must take &self"]);
    check(&method("fn call(&mut self);"), &["3:8: a method must take &self"]);
    check(&method("fn call<T>(&self, a: u8);"), &["3:12: a method can't have type or lifetime"]);
    check(&method("const A: u8;"), &["3:5: a service can only have methods"]);
    check(&method("#[short] fn call(&self);"), &["3:5: #[short] is not supported"]);
    check(&method("fn call(&self, (a, b): u8);"), &["3:20: an argument needs a name and a type"]);
}

#[test]
fn all_problems_are_reported_together() {
    check(
        &method("fn call(&self, a: usize, b: char) -> (u8, u8);"),
        &["3:23: `usize`", "3:33: Go has no char", "3:42: a tuple"],
    );
}

#[test]
fn unsupported_structs() {
    let derive = "#[derive(eddy_bridge::Record)]\n";
    check(&format!("{derive}struct A {{}}\n"), &["2:8: a struct without fields"]);
    check(&format!("{derive}struct A(u8);\n"), &["2:10: a field needs a name"]);
    check(
        &format!("{derive}struct A<T> {{ a: T }}\n"),
        &["2:9: a struct that crosses the bridge can't have type"],
    );
    check(&format!("{derive}struct A {{ a: Vec<A> }}\n"), &["2:19: `A` contains itself"]);
    check(
        &format!("{derive}struct A {{ b: B }}\n{derive}struct B {{ a: Option<A> }}\n"),
        &["4:22: `A` contains itself"],
    );
    check(&format!("{derive}struct A<'a> {{ a: &'a [String] }}\n"), &["2:19: in a struct, only &str"]);
}

#[test]
fn a_syntax_error_is_reported() {
    check("trait 1 {}", &["1:7: expected identifier"]);
}
