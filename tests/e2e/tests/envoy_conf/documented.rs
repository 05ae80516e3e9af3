//! Checks that all examples of Envoy's documentation are either tested here or listed with a reason.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Result, ensure};
use eddy_e2e::place::{tree, variable};

use crate::examples::EXAMPLES;

/// Sections whose examples are left out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("arch_overview/http/http_routing (route table of VHDS, scoped routes)", "eddy takes routes from files"),
    (
        "arch_overview/http/http_routing (retries, hedging, internal redirects)",
        "what an endpoint does decides; retries and hedging are tried with endpoints that fail or are slow, internal redirects are refused",
    ),
    (
        "arch_overview/http/upgrades (CONNECT, WebSocket)",
        "`connect_matcher` is refused; `upgrade_configs` changes no route",
    ),
    (
        "base.proto#HeaderValueOption.append_action (ADD_IF_ABSENT, OVERWRITE_IF_EXISTS)",
        "refused, each by its name",
    ),
    (
        "http_conn_man/headers#custom-request-response-headers (`%REQ(x)%` and the like)",
        "refused: a filter of eddy's puts what a request has",
    ),
    (
        "http_connection_manager.proto#path_with_escaped_slashes_action (UNESCAPE_AND_REDIRECT)",
        "refused: eddy does not redirect to the unescaped path",
    ),
    ("route_components.proto#RateLimit", "eddy has a filter of its own for it"),
    (
        "route_components.proto#RouteAction.cluster_header, cluster_specifier_plugin",
        "refused: a client does not choose where a request goes",
    ),
    ("route_components.proto#RouteAction.hash_policy", "refused for now"),
    (
        "route_components.proto#RouteAction.host_rewrite_header, host_rewrite_path_regex, auto_host_rewrite",
        "refused: eddy takes no host from a request",
    ),
    (
        "route_components.proto#RouteAction.request_mirror_policies",
        "nobody sees the answer to a copy; tried with endpoints that count",
    ),
    ("route_components.proto#RouteMatch.connect_matcher", "refused: eddy makes no tunnels"),
    (
        "route_components.proto#RouteMatch.dynamic_metadata, filter_state, tls_context",
        "refused: there is no such thing in eddy",
    ),
    (
        "route_components.proto#VirtualHost.require_tls (EXTERNAL_ONLY)",
        "refused: eddy does not tell inner requests from outer ones",
    ),
    (
        "route_components.proto#WeightedCluster.runtime_key_prefix",
        "there is no runtime; weights are those that are written",
    ),
];

#[test]
fn the_page_of_examples_is_as_it_should_be() -> Result<()> {
    ensure!(EXAMPLES.len() >= 40, "{} examples", EXAMPLES.len());
    let mut page = format!(
        "# Examples of Envoy's documentation\n\n\
         This page is made by a test. {} configurations after examples of the documentation are put to eddy and to the real\n\
         Envoy, both as programs (`tests/e2e/tests/envoy_conf`), request by request; beside them stand tables at random. The\n\
         sections are those of <https://www.envoyproxy.io/docs/envoy/latest/> and of the API.\n\n\
         | section | what is shown |\n|---|---|\n",
        EXAMPLES.len()
    );
    let mut examples: Vec<_> = EXAMPLES.iter().collect();
    examples.sort_by_key(|example| example.section);
    for example in examples {
        writeln!(page, "| {} | {} |", example.section, example.about)?;
    }
    page.push_str("\n## Left out\n\n| section | why |\n|---|---|\n");
    for (section, why) in LEFT_OUT {
        writeln!(page, "| {section} | {why} |")?;
    }
    let path = tree().join("docs/reference/envoy-examples.md");
    if variable("UPDATE").is_some() {
        fs::write(&path, &page)?;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    ensure!(page == expected, "docs/reference/envoy-examples.md is not as it was; UPDATE=1 accepts it");
    Ok(())
}
