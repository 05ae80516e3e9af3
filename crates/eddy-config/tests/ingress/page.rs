//! Which examples of documentation are tested here, and why the others are not.

use std::fmt::Write as _;
use std::path::Path;

use eddy_config::{SourceText, check};

use crate::certificate::secret;
use crate::documented::of_ingress_nginx;
use crate::plain::{PATHS, shown};

/// Examples that are left out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("Kubernetes: resource backends", "refused: eddy serves nothing but Services"),
    (
        "Kubernetes: TLS",
        "tried with a certificate in front of the program as it runs (`tests/e2e/tests/manifests.rs`)",
    ),
    ("Kubernetes: load balancing, updating an Ingress", "it shows what `kubectl` prints"),
    ("ingress-nginx: examples/affinity, annotations of session affinity", "refused: eddy has no sessions"),
    (
        "ingress-nginx: examples/auth, examples/external-auth, examples/oauth-external-auth",
        "refused: nobody would ask who comes",
    ),
    (
        "ingress-nginx: examples/auth/client-certs",
        "refused: clients of Ingresses are asked for no certificate",
    ),
    ("ingress-nginx: examples/canary, by weight", "a draw: its shares are tested by themselves"),
    ("ingress-nginx: examples/chashsubset", "refused: a key goes to one endpoint"),
    (
        "ingress-nginx: examples/customization/configuration-snippets and all snippets",
        "refused: they can say anything",
    ),
    (
        "ingress-nginx: examples/customization/custom-errors",
        "its ConfigMap is not read; tried with annotations",
    ),
    ("ingress-nginx: examples/customization (ConfigMaps of the controller)", "eddy reads no ConfigMap"),
    ("ingress-nginx: examples/docker-registry, examples/grpc", "they need TLS towards Services, or gRPC"),
    ("ingress-nginx: examples/openpolicyagent, examples/psp", "they are about what a cluster admits"),
    (
        "ingress-nginx: examples/tls-termination",
        "tried with a certificate in front of the program as it runs",
    ),
    ("ingress-nginx: annotations of rate limits", "refused: requests would not be limited"),
    (
        "ingress-nginx: annotations of mirroring, ModSecurity, OpenTelemetry",
        "refused or without effect, each with its reason",
    ),
    ("ingress-nginx: exposing TCP and UDP services", "it is no Ingress"),
];

#[test]
fn the_page_of_examples_is_as_it_should_be() {
    let nginx = of_ingress_nginx();
    let kubernetes = shown();
    let mut page = format!(
        "# Examples of Ingress\n\n\
         This page is made by a test (`crates/eddy-config/tests/ingress`). {} examples of the page of Kubernetes on Ingress \
         and {} of the documentation of ingress-nginx, in manifests of our own, are sent requests; those of ingress-nginx \
         go to the real NGINX as well, with the configuration that the controller would write.\n\n\
         ## Kubernetes\n\n\
         The sections are those of <https://kubernetes.io/docs/concepts/services-networking/ingress/>.\n\n\
         | example | requests |\n|---|--:|\n",
        kubernetes.len() + PATHS.len(),
        nginx.len()
    );
    for example in &kubernetes {
        let _ = writeln!(page, "| {} | {} |", example.source, example.answers.len());
    }
    let _ = writeln!(page, "| path types, row by row | {} |", PATHS.len());
    page.push_str("\n## ingress-nginx\n\n| example | requests |\n|---|--:|\n");
    for example in &nginx {
        let _ = writeln!(page, "| {} | {} |", example.source, example.answers.len());
    }
    page.push_str("\n## Left out\n\n| example | why |\n|---|---|\n");
    for (example, why) in LEFT_OUT {
        let _ = writeln!(page, "| {example} | {why} |");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/ingress-examples.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(page, published, "docs/reference/ingress-examples.md is not as it was; UPDATE=1 accepts it");
}

#[test]
fn examples_of_the_guide_are_taken() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/ingress.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [plain, settings, secure] = blocks.as_slice() else { panic!("{} examples", blocks.len()) };
    let service = |name| {
        format!(
            "---\n{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {{ports: [{{port: 80}}]}}}}\n"
        )
    };
    let others = secret("shop-example-com", &["shop.example.com"]) + &service("cart") + &service("web");
    let texts = [("eddy.yaml", *settings), ("a.yaml", plain), ("b.yaml", secure), ("c.yaml", &others)];
    let sources = texts.map(|(name, text)| SourceText::new(name, text));
    let config = check(&sources).unwrap_or_else(|problems| panic!("{problems:#?}")).config;
    let shown =
        config.listeners.iter().map(|listener| (listener.address.to_string(), listener.tls.is_some()));
    let expected = [("0.0.0.0:8080".to_owned(), false), ("0.0.0.0:443".to_owned(), true)];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}
