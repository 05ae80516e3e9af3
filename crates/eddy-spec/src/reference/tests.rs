//! Tests that every default and example can be read.

use crate::problem::{ProblemReport, SourceText};
use crate::read::{FromNode, MappingInfo, ValueSchema};
use crate::spec::GatewaySpec;
use crate::yaml::parse;

fn mappings(shape: &ValueSchema, found: &mut Vec<MappingInfo>) {
    match shape {
        ValueSchema::Word(_) | ValueSchema::Any => {}
        ValueSchema::List(inner) | ValueSchema::Named { value: inner, .. } => mappings(inner, found),
        ValueSchema::Either(one, other) => {
            mappings(one, found);
            mappings(other, found);
        }
        ValueSchema::Mapping(info) => {
            found.push(info.clone());
            info.keys.iter().for_each(|key| mappings(&key.shape, found));
        }
    }
}

#[test]
fn every_default_and_example_can_be_read() {
    let mut all = Vec::new();
    mappings(&GatewaySpec::shape(), &mut all);
    for key in all.iter().flat_map(|info| &info.keys) {
        for text in [Some(key.example), key.default].into_iter().flatten() {
            let mut report = ProblemReport::new();
            let root = parse(text, 0, &mut report).root.unwrap();
            let is_read = (key.is_readable)(&root, &mut report);
            let source = SourceText::new(key.name, text);
            assert!(is_read && !report.has_errors(), "{:?}", report.into_problems(&[source]));
        }
    }
}

#[test]
fn mappings_of_one_name_are_the_same() {
    let mut all = Vec::new();
    mappings(&GatewaySpec::shape(), &mut all);
    for one in &all {
        for other in all.iter().filter(|other| other.name == one.name) {
            assert_eq!(one.about, other.about);
        }
    }
}
