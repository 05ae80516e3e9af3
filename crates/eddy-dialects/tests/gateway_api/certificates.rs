//! Tests of HTTPS listeners: which certificates they present, and the messages about certificates that cannot be used.

use eddy_dialects::Checked;
use eddy_spec::Leniency;

use crate::certificate::{secret, secret_of};
use crate::world::{check, told};

/// Returns a Gateway with listeners, given as flow mappings, and a route for all of them.
fn gateway(listeners: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: web}}\nspec: {{gatewayClassName: eddy, listeners: [{listeners}]}}\n\
         ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: all}}\nspec: {{parentRefs: [{{name: web}}], rules: [{{backendRefs: [{{name: web, port: 80}}]}}]}}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{ports: [{{port: 80}}]}}\n"
    )
}

fn https(name: &str, hostname: &str, refs: &str) -> String {
    let hostname = if hostname.is_empty() { String::new() } else { format!("hostname: '{hostname}', ") };
    format!("{{name: {name}, port: 443, protocol: HTTPS, {hostname}tls: {{certificateRefs: [{refs}]}}}}")
}

fn taken(texts: &[&str]) -> Checked {
    let text = texts.concat();
    check(&[("a.yaml", &text)], Leniency::Strict).unwrap_or_else(|problems| panic!("{}", told(&problems)))
}

/// Returns the conditions of a listener, as `eddy check` prints them.
fn conditions(checked: &Checked, listener: &str) -> String {
    let shown: Vec<String> = checked.statuses.iter().map(ToString::to_string).collect();
    let beginning = format!("  listener {listener}: ");
    let line = shown.iter().flat_map(|text| text.lines()).find_map(|line| line.strip_prefix(&beginning));
    line.unwrap_or_else(|| panic!("{shown:?}")).to_owned()
}

#[test]
fn listeners_present_their_own_certificates() {
    let listeners =
        [https("one", "one.test", "{name: one}"), https("below", "*.test", "{name: below}, {name: one}")];
    let text = gateway(&listeners.join(", "));
    let checked = taken(&[&text, &secret("one", &["one.test"]), &secret("below", &["*.test"])]);
    let [listener] = checked.config.listeners.as_slice() else { panic!("{:?}", checked.config.listeners) };
    let tls = listener.tls.as_ref().unwrap();
    let shown: Vec<(String, Vec<String>)> = tls
        .certificates
        .iter()
        .map(|one| (one.chain.path.display().to_string(), one.hosts.clone().unwrap_or_default()))
        .collect();
    let expected = [
        ("tls.crt of Secret default/one", "one.test"),
        ("tls.crt of Secret default/below", "*.test"),
        ("tls.crt of Secret default/one", "*.test"),
    ];
    let expected = expected.map(|(path, host)| (path.to_owned(), vec![host.to_owned()]));
    assert_eq!(shown, expected);
    assert!(tls.is_strict, "no listener is for every host");
    assert_eq!(conditions(&checked, "below"), "Accepted, Programmed, ResolvedRefs, 1 route");
    assert!(!checked.config.shown.contains("BEGIN") && checked.config.shown.contains("stringData: (hidden)"));
    // A listener without a hostname matches any server name.
    let any = https("any", "", "{name: one}");
    let checked = taken(&[&gateway(&any), &secret("one", &["one.test"])]);
    let tls = checked.config.listeners[0].tls.as_ref().unwrap();
    assert_eq!((tls.is_strict, tls.certificates[0].hosts.as_deref()), (false, Some(&["*".to_owned()][..])));
}

#[test]
fn missing_certificates_are_reported_and_the_rest_is_served() {
    let good = secret("good", &["one.test"]);
    let broken = good.replace("{name: good}", "{name: broken}").replace("BEGIN CERTIFICATE", "BEGIN NOTHING");
    let other = secret("mixed", &["one.test"]);
    let (chain, key) = (other.split("  tls.key").next().unwrap(), good.split("  tls.key").nth(1).unwrap());
    let mixed = format!("{chain}  tls.key{key}");
    let away = good.replace("{name: good}", "{name: away, namespace: other}");
    let all = [&*good, &broken, &mixed, &away].concat();
    for (refs, reason, message) in [
        ("{name: none}", "InvalidCertificateRef", "there is no Secret `default/none`"),
        ("{name: broken}", "InvalidCertificateRef", "its `tls.crt`: "),
        ("{name: mixed}", "InvalidCertificateRef", "the key does not belong to the first certificate"),
        ("{name: good, kind: ConfigMap}", "InvalidCertificateRef", "certificates must be in a Secret"),
        (
            "{name: away, namespace: other}",
            "RefNotPermitted",
            "no ReferenceGrant allows a Gateway of `default`",
        ),
        ("", "InvalidCertificateRef", "the listener names no certificate"),
    ] {
        let served = "{name: http, port: 80, protocol: HTTP}";
        let alone = format!("{}, {served}", https("bad", "", refs));
        let checked = taken(&[&gateway(&alone), &all]);
        assert_eq!(checked.config.listeners.len(), 1, "{refs}");
        let conditions_alone = conditions(&checked, "bad");
        assert!(
            conditions_alone.starts_with("Accepted, not Programmed (Invalid")
                && conditions_alone.contains(&format!("not ResolvedRefs ({reason}: "))
                && conditions_alone.contains(message),
            "{conditions_alone}"
        );
        assert!(told(&checked.warnings).contains("this listener is not served"), "{refs}");
        if refs.is_empty() {
            continue;
        }
        let beside = https("bad", "", &format!("{refs}, {{name: good}}"));
        let checked = taken(&[&gateway(&beside), &all]);
        let tls = checked.config.listeners[0].tls.as_ref().unwrap();
        assert_eq!(tls.certificates.len(), 1, "{refs}");
        let conditions = conditions(&checked, "bad");
        assert!(conditions.starts_with("Accepted, Programmed, not ResolvedRefs"), "{conditions}");
        assert!(told(&checked.warnings).contains(message), "{}", told(&checked.warnings));
    }
    let grant = "---\n{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: a, namespace: other}, spec: {from: [{group: gateway.networking.k8s.io, kind: KIND, namespace: default}], to: [{group: '', kind: TO}]}}\n";
    let far = gateway(&https("far", "", "{name: away, namespace: other}"));
    for (kind, to, count) in [("Gateway", "Secret", 1), ("HTTPRoute", "Secret", 0), ("Gateway", "Service", 0)]
    {
        let grant = grant.replace("KIND", kind).replace("TO", to);
        let outcome = check(&[("a.yaml", &[far.as_str(), &away, &grant].concat())], Leniency::Strict);
        let listeners = outcome.map_or(0, |checked| checked.config.listeners.len());
        assert_eq!(listeners, count, "{kind} {to}");
    }
}

#[test]
fn listeners_with_different_protocols_on_one_port_conflict() {
    let listeners =
        format!("{}, {{name: http, port: 443, protocol: HTTP}}", https("https", "", "{name: one}"));
    let checked = taken(&[&gateway(&listeners), &secret("one", &["one.test"])]);
    assert_eq!(checked.config.listeners.len(), 1);
    assert!(checked.config.listeners[0].tls.is_some());
    let conditions = conditions(&checked, "http");
    assert!(
        conditions.starts_with("not Accepted (ProtocolConflict), not Programmed (Invalid)")
            && conditions.contains("the listener `https` already uses HTTPS"),
        "{conditions}"
    );
}

#[test]
fn expired_certificates_are_presented_and_short_keys_are_reported() {
    let version1 = secret_of("old", VERSION_1.0, VERSION_1.1);
    let listeners = https("old", "www.test", "{name: old}");
    for (name, secret) in [("version 1", &version1), ("no host", &secret("old", &[]))] {
        let checked = taken(&[&gateway(&listeners), secret]);
        assert_eq!(conditions(&checked, "old"), "Accepted, Programmed, ResolvedRefs, 1 route", "{name}");
        let tls = checked.config.listeners[0].tls.as_ref().unwrap();
        assert_eq!(tls.certificates[0].hosts.as_deref(), Some(&["www.test".to_owned()][..]), "{name}");
    }
    let short = secret_of("old", RSA_1024.0, RSA_1024.1);
    let served = format!("{listeners}, {{name: http, port: 80, protocol: HTTP}}");
    let checked = taken(&[&gateway(&served), &short]);
    let conditions = conditions(&checked, "old");
    assert!(conditions.contains("not ResolvedRefs (InvalidCertificateRef: "), "{conditions}");
    assert!(conditions.contains("its `tls.key`: the RSA key in it has 1024 bits"), "{conditions}");
}

const VERSION_1: (&str, &str) = (
    include_str!("../../../../tests/e2e/data/certificates/version1.crt"),
    include_str!("../../../../tests/e2e/data/certificates/version1.key"),
);
const RSA_1024: (&str, &str) = (
    include_str!("../../../../tests/e2e/data/certificates/rsa1024.crt"),
    include_str!("../../../../tests/e2e/data/certificates/rsa1024.key"),
);
