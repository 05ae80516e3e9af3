//! Tests of TLS settings of Gateways and DestinationRules, and of consistent hashing keys.

use eddy_config::Serve;
use eddy_dialects::check_with;
use eddy_model::{Balance, BalanceKey, ClusterConfig, ClusterTlsConfig, ServerCheck, TlsVersion};
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

use crate::certificate::secret;
use crate::eddy::told;

const ROUTES: &str = "\
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n---\n\
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.1]}]}\n---\n\
{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: web}, spec: {hosts: ['*.test'], gateways: [gateway], http: [{route: [{destination: {host: web}}]}]}}\n---\n";

/// Returns a Gateway with these servers, and routes for all of them.
fn gateway(servers: &str) -> String {
    format!(
        "{ROUTES}{{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {{name: gateway}}, spec: {{servers: [{servers}]}}}}\n"
    )
}

fn https(host: &str, tls: &str) -> String {
    format!("{{port: {{number: 443, name: '{host}', protocol: HTTPS}}, hosts: ['{host}'], tls: {{{tls}}}}}")
}

fn said(text: &str, leniency: Leniency) -> (Option<eddy_config::GatewayConfig>, String) {
    match check_with(&[SourceText::new("a.yaml", text)], leniency) {
        Ok(checked) => (Some(checked.config), told(&checked.warnings)),
        Err(problems) => (None, told(&problems)),
    }
}

fn taken(text: &str) -> eddy_config::GatewayConfig {
    let (config, problems) = said(text, Leniency::Strict);
    config.unwrap_or_else(|| panic!("{problems}\n{text}"))
}

#[test]
fn https_servers_present_the_certificates_of_their_secrets_for_their_hosts() {
    let servers = [
        https("one.test", "mode: SIMPLE, credentialName: one"),
        https("default/*.test", "mode: SIMPLE, credentialNames: [below, one], minProtocolVersion: TLSV1_3"),
    ];
    let text = gateway(&servers.join(", ")) + &secret("one", &["one.test"]) + &secret("below", &["*.test"]);
    let config = taken(&text);
    let [listener] = config.listeners.as_slice() else { panic!("{:?}", config.listeners) };
    // The server name of the TLS handshake (SNI) does not select among rules.
    assert!(matches!(&listener.serve, Serve::Routes(tables) if tables.len() == 1));
    let tls = listener.tls.as_ref().unwrap();
    let shown: Vec<(String, String)> = tls
        .certificates
        .iter()
        .map(|one| (one.chain.path.display().to_string(), one.hosts.clone().unwrap_or_default().join(" ")))
        .collect();
    let expected = [("one", "one.test"), ("below", "*.test"), ("one", "*.test")];
    let expected =
        expected.map(|(name, host)| (format!("tls.crt of Secret default/{name}"), host.to_owned()));
    assert_eq!(shown, expected);
    assert_eq!((tls.is_strict, tls.version_min, tls.clients.is_some()), (true, TlsVersion::Tls13, false));
    assert!(!config.shown.contains("BEGIN"));
}

#[test]
fn clients_present_certificates_to_servers_that_request_them() {
    let authority = "---\n{apiVersion: v1, kind: Secret, metadata: {name: one-cacert}, stringData: {ca.crt: authority}}\n";
    for (mode, is_optional) in [("MUTUAL", false), ("OPTIONAL_MUTUAL", true)] {
        let text = gateway(&https("one.test", &format!("mode: {mode}, credentialName: one")))
            + &secret("one", &["one.test"]);
        let config = taken(&(text.clone() + authority));
        let clients = config.listeners[0].tls.as_ref().unwrap().clients.as_ref().unwrap();
        assert_eq!(clients.authorities.path.display().to_string(), "ca.crt of Secret default/one-cacert");
        assert_eq!(clients.is_optional, is_optional);
        let (config, problems) = said(&text, Leniency::Strict);
        assert!(
            config.is_none() && problems.contains("no certificate authority is configured"),
            "{problems}"
        );
    }
}

#[test]
fn unavailable_tls_settings_are_reported() {
    let one = || secret("one", &["one.test"]);
    let plain = "{port: {number: 443, name: plain, protocol: HTTP}, hosts: ['two.test']}";
    for (servers, expected) in [
        (https("one.test", "mode: SIMPLE"), "TLS needs a certificate"),
        (https("one.test", "mode: NONE, credentialName: one"), "expected a mode such as `SIMPLE`"),
        (
            "{port: {number: 443, protocol: HTTPS}, hosts: [one.test]}".to_owned(),
            "needs `tls` with a certificate",
        ),
        (
            https("one.test", "mode: SIMPLE, credentialName: one") + ", " + plain,
            "an HTTP and an HTTPS server have the same port",
        ),
        (
            https("one.test", "mode: SIMPLE, credentialName: one")
                + ", "
                + &https("two.test", "mode: MUTUAL, serverCertificate: a, privateKey: b, caCertificates: c"),
            "need the same client certificate settings",
        ),
        (https("one.test", "mode: SIMPLE, credentialName: one, caCrl: a"), "`caCrl` is not supported"),
    ] {
        let (config, problems) = said(&(gateway(&servers) + &one()), Leniency::Strict);
        assert!(config.is_none() && problems.contains(expected), "{expected}:\n{problems}");
    }
}

/// Returns the cluster of the Service `web` under a traffic policy, and the messages.
fn cluster(policy: &str, more: &str) -> (Option<ClusterConfig>, String) {
    let text = gateway("{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}")
        + &format!(
            "---\n{{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {{name: web}}, spec: {{host: web, trafficPolicy: {{{policy}}}}}}}\n{more}"
        );
    let (config, problems) = said(&text, Leniency::Strict);
    (config.and_then(|config| Some(ClusterConfig::clone(config.clusters.first()?))), problems)
}

fn tls(policy: &str, more: &str) -> ClusterTlsConfig {
    let (cluster, problems) = cluster(&format!("tls: {{{policy}}}"), more);
    cluster.and_then(|cluster| cluster.tls).unwrap_or_else(|| panic!("{problems}"))
}

#[test]
fn destination_rules_configure_upstream_tls() {
    let simple = tls("mode: SIMPLE, sni: Up.test, caCertificates: /etc/ca.pem", "");
    assert_eq!(
        (simple.server_name.as_deref(), simple.sends_name, simple.check),
        (Some("up.test"), true, ServerCheck::Full)
    );
    assert_eq!(simple.authorities.unwrap().path.display().to_string(), "/etc/ca.pem");
    let system = tls("mode: SIMPLE, subjectAltNames: [up.test], caCertificates: system", "");
    assert_eq!((system.server_name.as_deref(), system.authorities), (Some("up.test"), None));
    let own = secret("own", &["eddy.test"]);
    let mutual = tls("mode: MUTUAL, credentialName: own, sni: up.test, insecureSkipVerify: true", &own);
    assert_eq!(mutual.identity.unwrap().chain.path.display().to_string(), "tls.crt of Secret default/own");
    assert_eq!(mutual.check, ServerCheck::Nothing);
    let files = tls("mode: MUTUAL, clientCertificate: /c, privateKey: /k, sni: up.test", "");
    assert_eq!(files.identity.unwrap().key.path.display().to_string(), "/k");
    for (policy, expected) in [
        ("mode: MUTUAL, sni: up.test", "needs a certificate and its private key"),
        ("mode: MUTUAL, credentialName: none, sni: up.test", "there is no Secret `default/none`"),
        ("mode: SIMPLE, sni: 'a b'", "is not a valid server name"),
        ("mode: SIMPLE, sni: a.test, subjectAltNames: [b.test]", "only for the SNI name that it sends"),
        ("mode: OTHER", "expected `SIMPLE`"),
        ("mode: SIMPLE, caCrl: a", "`caCrl` is not supported"),
    ] {
        let (cluster, problems) = cluster(&format!("tls: {{{policy}}}"), "");
        assert!(cluster.is_none() && problems.contains(expected), "{expected}:\n{problems}");
    }
    let (named, problems) = cluster("tls: {mode: SIMPLE}", "");
    let name = named.unwrap().tls.unwrap().server_name;
    assert_eq!(name.as_deref(), Some("web.default.svc.cluster.local"));
    assert!(problems.contains("not the host of each request"), "{problems}");
    let (mesh, problems) = cluster("tls: {mode: ISTIO_MUTUAL}", "");
    assert!(mesh.unwrap().tls.is_none() && problems.contains("not part of the mesh"), "{problems}");
}

#[test]
fn a_consistent_hash_uses_one_key() {
    for (hash, key) in [
        ("httpHeaderName: X-User", BalanceKey::Header("x-user".into())),
        ("httpCookie: {name: Session}, minimumRingSize: 1024", BalanceKey::Cookie("Session".into())),
        ("useSourceIp: true, maglev: {}", BalanceKey::Address),
    ] {
        let (cluster, problems) = cluster(&format!("loadBalancer: {{consistentHash: {{{hash}}}}}"), "");
        let cluster = cluster.unwrap_or_else(|| panic!("{problems}"));
        let balance = if hash.contains("maglev") { Balance::Maglev } else { Balance::Ring };
        assert_eq!((cluster.balance, cluster.key), (balance, Some(key)));
    }
    for (hash, expected) in [
        ("httpHeaderName: a, useSourceIp: true", "needs exactly one key"),
        ("minimumRingSize: 1", "needs exactly one key"),
        ("httpQueryParameterName: q", "`httpQueryParameterName` is not supported"),
        ("useSourceIp: true, maglev: {tableSize: 5}", "has 65537 entries"),
        ("httpCookie: {name: a, ttl: 0s}", "does not generate cookies"),
    ] {
        let (cluster, problems) = cluster(&format!("loadBalancer: {{consistentHash: {{{hash}}}}}"), "");
        assert!(cluster.is_none() && problems.contains(expected), "{expected}:\n{problems}");
    }
}
