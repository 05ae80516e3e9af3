//! Tests of BackendTLSPolicies: the verification of Services, and the response if a policy cannot be applied.

use eddy_config::ActionKind;
use eddy_dialects::Checked;
use eddy_model::ServerCheck;
use eddy_spec::Leniency;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

use crate::world::{check, told};

/// Returns a Gateway, a route to port 443 of a Service, and these policies.
fn with(policies: &str) -> String {
    format!(
        "{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: web}}, spec: {{gatewayClassName: eddy, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}}}\n\
         ---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: all}}, spec: {{parentRefs: [{{name: web}}], rules: [{{backendRefs: [{{name: web, port: 443}}]}}]}}}}\n\
         ---\n{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{ports: [{{name: tls, port: 443}}, {{name: plain, port: 80}}]}}}}\n\
         ---\n{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: web-1, labels: {{kubernetes.io/service-name: web}}}}, addressType: IPv4, ports: [{{name: tls, port: 8443}}], endpoints: [{{addresses: [10.0.0.1]}}]}}\n{policies}"
    )
}

fn policy(name: &str, target: &str, validation: &str) -> String {
    format!(
        "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: BackendTLSPolicy, metadata: {{name: {name}}}, spec: {{targetRefs: [{{group: '', kind: Service, name: web{target}}}], validation: {{{validation}}}}}}}\n"
    )
}

/// Returns a ConfigMap with a certificate authority.
fn authority() -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem();
    let lines: String = pem.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: authority}}\ndata:\n  other: text\n  ca.crt: |\n{lines}"
    )
}

fn taken(text: &str) -> Checked {
    check(&[("a.yaml", text)], Leniency::Strict)
        .unwrap_or_else(|problems| panic!("{}\n{text}", told(&problems)))
}

#[test]
fn upstream_tls_follows_the_backend_tls_policies() {
    let own = "caCertificateRefs: [{group: '', kind: ConfigMap, name: authority}], hostname: Up.test";
    let checked = taken(&with(&(policy("own", "", own) + &authority())));
    let tls = checked.config.clusters.first().unwrap().tls.as_ref().unwrap();
    assert_eq!(
        (tls.server_name.as_deref(), tls.sends_name, tls.check),
        (Some("up.test"), true, ServerCheck::Full)
    );
    assert_eq!(
        tls.authorities.as_ref().unwrap().path.display().to_string(),
        "ca.crt of ConfigMap default/authority"
    );
    let system = "wellKnownCACertificates: System, hostname: up.test";
    let checked = taken(&with(&policy("own", ", sectionName: tls", system)));
    assert!(checked.config.clusters.first().unwrap().tls.as_ref().unwrap().authorities.is_none());
    // A policy for another port does not apply to this one, and a policy for the port takes precedence over one for the
    // Service.
    let checked = taken(&with(&policy("own", ", sectionName: plain", system)));
    assert!(checked.config.clusters.first().unwrap().tls.is_none());
    let both = policy("a", "", "wellKnownCACertificates: System, hostname: all.test")
        + &policy("b", ", sectionName: tls", system);
    let checked = taken(&with(&both));
    assert_eq!(
        checked.config.clusters.first().unwrap().tls.as_ref().unwrap().server_name.as_deref(),
        Some("up.test")
    );
}

#[test]
fn nothing_is_sent_in_cleartext_when_authorities_are_missing() {
    for (validation, reason) in [
        (
            "caCertificateRefs: [{group: '', kind: ConfigMap, name: none}], hostname: up.test",
            "there is no ConfigMap `default/none`",
        ),
        (
            "caCertificateRefs: [{group: '', kind: ConfigMap, name: empty}], hostname: up.test",
            "has no `ca.crt`",
        ),
        (
            "caCertificateRefs: [{group: '', kind: ConfigMap, name: broken}], hostname: up.test",
            "is not usable",
        ),
        ("caCertificateRefs: [{group: '', kind: Secret, name: a}], hostname: up.test", "not in a `Secret`"),
        ("hostname: up.test", "needs certificate authorities"),
    ] {
        let maps = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: empty}, data: {a: b}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: broken}, data: {ca.crt: nothing}}\n";
        let checked = taken(&with(&(policy("own", "", validation) + maps)));
        assert!(checked.config.clusters.is_empty(), "{reason}");
        let fails = |kind: &ActionKind| match kind {
            ActionKind::Respond(respond) => respond.status == 500,
            ActionKind::Split(shares) => shares.iter().all(
                |share| matches!(&share.action.kind, ActionKind::Respond(respond) if respond.status == 500),
            ),
            ActionKind::Cluster(_)
            | ActionKind::Weighted(_)
            | ActionKind::Redirect(_)
            | ActionKind::Sites(_) => false,
        };
        assert!(
            checked.config.tables.first().unwrap().actions.iter().any(|action| fails(&action.kind)),
            "{reason}"
        );
        assert!(told(&checked.warnings).contains(reason), "{reason}: {}", told(&checked.warnings));
    }
}

#[test]
fn unsupported_policy_settings_are_refused() {
    let system = "wellKnownCACertificates: System, hostname: up.test";
    for (validation, expected) in [
        (
            format!("{system}, subjectAltNames: [{{type: Hostname, hostname: other.test}}]"),
            "only for the SNI name that it sends",
        ),
        (
            format!("{system}, subjectAltNames: [{{type: URI, uri: 'spiffe://a'}}]"),
            "only for the SNI name that it sends",
        ),
        ("wellKnownCACertificates: System, hostname: 'a b'".to_owned(), "is not a valid server name"),
        ("wellKnownCACertificates: System".to_owned(), "`hostname`"),
    ] {
        let problems =
            check(&[("a.yaml", &with(&policy("own", "", &validation)))], Leniency::Strict).unwrap_err();
        assert!(told(&problems).contains(expected), "{expected}: {}", told(&problems));
    }
}

/// Returns the lines that `eddy check` prints about a policy at its Gateways.
fn conditions(checked: &Checked, policy: &str) -> Vec<String> {
    let name = format!("BackendTLSPolicy default/{policy}");
    let shown =
        checked.statuses.iter().map(ToString::to_string).find(|text| text.lines().next() == Some(&*name));
    shown.unwrap_or_default().lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn an_https_service_accepts_a_policy() {
    let system = "wellKnownCACertificates: System, hostname: up.test";
    for protocol in ["HTTPS", "https", "kubernetes.io/wss", "wss"] {
        let said = |text: String| {
            text.replace(
                "{name: tls, port: 443}",
                &format!("{{name: tls, port: 443, appProtocol: {protocol}}}"),
            )
        };
        let checked = taken(&said(with(&policy("own", "", system))));
        assert!(checked.config.clusters.first().unwrap().tls.is_some(), "{protocol}");
        assert_eq!(told(&checked.warnings), "", "{protocol}");
        assert_eq!(conditions(&checked, "own"), ["ancestor default/web: Accepted, ResolvedRefs"]);
        let checked = taken(&said(with("")));
        assert!(checked.config.clusters.is_empty(), "{protocol}");
        let warnings = told(&checked.warnings);
        assert!(
            warnings.contains("and no BackendTLSPolicy configures how to verify its certificate"),
            "{warnings}"
        );
    }
    // A cleartext protocol is no reason to refuse TLS, and protocol names are case-insensitive.
    for (protocol, is_served) in [("Http", true), ("kubernetes.io/h2c", true), ("redis", false)] {
        let text = with(&policy("own", "", system))
            .replace("{name: tls, port: 443}", &format!("{{name: tls, port: 443, appProtocol: {protocol}}}"));
        assert_eq!(taken(&text).config.clusters.len(), usize::from(is_served), "{protocol}");
    }
}

#[test]
fn policies_get_conditions_for_the_gateways_that_use_them() {
    let missing = "caCertificateRefs: [{group: '', kind: ConfigMap, name: none}], hostname: up.test";
    let kind = "caCertificateRefs: [{group: '', kind: Other, name: none}], hostname: up.test";
    let group = "caCertificateRefs: [{group: other.test, kind: ConfigMap, name: none}], hostname: up.test";
    let system = "wellKnownCACertificates: System, hostname: up.test";
    let lacks = "ancestor default/web: not Accepted (NoValidCACertificate: ";
    for (validation, reason) in
        [(missing, "InvalidCACertificateRef"), (kind, "InvalidKind"), (group, "InvalidKind")]
    {
        let checked = taken(&with(&policy("own", "", validation)));
        let [line] = &conditions(&checked, "own")[..] else { panic!("{reason}") };
        assert!(line.starts_with(lacks) && line.contains(&format!("not ResolvedRefs ({reason}: ")), "{line}");
    }
    let both = policy("a", "", system)
        + &policy("b", "", system)
        + &policy("c", ", sectionName: tls", system)
        + &policy("d", ", sectionName: plain", system)
        + &policy("e", ", sectionName: none", system)
        + &policy("f", "-not-there", system);
    let checked = taken(&with(&both));
    assert_eq!(conditions(&checked, "a"), ["ancestor default/web: Accepted, ResolvedRefs"]);
    assert_eq!(
        conditions(&checked, "b"),
        [
            "ancestor default/web: not Accepted (Conflicted: the BackendTLSPolicy `default/a` is older), ResolvedRefs"
        ]
    );
    assert_eq!(conditions(&checked, "c"), ["ancestor default/web: Accepted, ResolvedRefs"]);
    // No route leads to the targets of these policies.
    for unused in ["d", "e", "f"] {
        assert!(conditions(&checked, unused).is_empty(), "{unused}");
    }
    let text = with(&policy("f", "-not-there", system))
        .replace("[{name: web, port: 443}]", "[{name: web-not-there, port: 443}]");
    assert_eq!(
        conditions(&taken(&text), "f"),
        [
            "ancestor default/web: not Accepted (TargetNotFound: there is no Service `default/web-not-there`), ResolvedRefs"
        ]
    );
}
