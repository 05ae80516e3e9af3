//! Tests of the examples in the guide.

use eddy_dialects::check_with;
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

use crate::eddy::told;

#[test]
fn examples_of_the_guide_are_accepted() {
    let text = include_str!("../../../../docs/guide/istio.md");
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [manifests, settings] = blocks.as_slice() else { panic!("{} examples", blocks.len()) };
    let manifests = SourceText::new("manifests.yaml", manifests);
    let checked = check_with(std::slice::from_ref(&manifests), Leniency::Strict)
        .unwrap_or_else(|problems| panic!("{}", told(&problems)));
    assert_eq!(told(&checked.warnings), "");
    let listener = &checked.config.listeners[0];
    assert_eq!(listener.address.to_string(), "127.0.0.1:8080");
    let both = [SourceText::new("eddy.yaml", settings), manifests];
    let checked =
        check_with(&both, Leniency::Strict).unwrap_or_else(|problems| panic!("{}", told(&problems)));
    assert_eq!(checked.config.listeners[0].address.to_string(), "0.0.0.0:18080");
}
