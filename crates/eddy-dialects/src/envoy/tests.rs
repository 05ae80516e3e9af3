use super::is_envoy;

#[test]
fn texts_of_envoy_are_known_by_their_keys() {
    assert!(is_envoy("static_resources: {}"));
    assert!(is_envoy("name: x\nvirtual_hosts: []"));
    assert!(is_envoy("{\"virtualHosts\": []}"));
    assert!(!is_envoy("listeners: []"));
    assert!(!is_envoy("a: {virtual_hosts: []}"));
}
