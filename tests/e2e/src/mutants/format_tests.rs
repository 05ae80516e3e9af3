use super::{Check, parse};

const TEXT: &str = "\
# A comment.

== one: what is wrong
file: a/b.rs
unit: -p a b
test: --test corpus requests EDDY_CASES=x/y
<<<<
    old
====
    new
    lines
>>>>

== two: more
file: c.rs
test: --test fields
<<<<
x
====
>>>>
";

#[test]
fn faults_are_read_as_written() {
    let mutants = parse(TEXT).unwrap();
    assert_eq!(mutants.len(), 2);
    assert_eq!((mutants[0].name.as_str(), mutants[0].what.as_str()), ("one", "what is wrong"));
    assert_eq!((mutants[0].find.as_str(), mutants[0].replace.as_str()), ("    old", "    new\n    lines"));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(mutants[0].checks[0], Check::Unit(words(&["-p", "a", "b"])));
    let variables = vec![("EDDY_CASES".to_owned(), "x/y".to_owned())];
    assert_eq!(mutants[0].checks[1], Check::EndToEnd(words(&["--test", "corpus", "requests"]), variables));
    assert_eq!(mutants[1].replace, "");
}

#[test]
fn a_fault_is_planted_once_or_not_at_all() {
    let mutant = parse(TEXT).unwrap().remove(0);
    assert_eq!(mutant.plant("a\n    old\nb").unwrap(), "a\n    new\n    lines\nb");
    assert!(mutant.plant("nothing").is_err());
    assert!(mutant.plant("    old    old").is_err());
}

#[test]
fn an_invalid_fault_is_refused() {
    for text in [
        "x",
        "== a: b\nfile: c\n<<<<\nx\n====\ny\n>>>>",
        "== a: b\nunit: c\n<<<<\nx\n====\ny\n>>>>",
        "== a: b\nfile: c\nunit: d\n<<<<\nx",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}
