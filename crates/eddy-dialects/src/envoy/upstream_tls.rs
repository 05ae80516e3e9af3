//! TLS to the endpoints of a cluster.
//!
//! Envoy does not verify the certificate of an endpoint when no authority is configured, nor its name when there is
//! none to match; eddy does the same, and warns.

use eddy_ids::Shared;
use eddy_model::{ClusterTlsConfig, EndpointAddress, EndpointConfig, IdentityFiles, ServerCheck};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::YamlNode;
use eddy_tls::is_server_name;

use super::reader::EnvoyReader;
use super::tls::DataSource;

impl EnvoyReader<'_> {
    /// Reads the `transport_socket` of a cluster. Returns `None` for cleartext, and for a type that eddy does not
    /// support, which is reported.
    pub(super) fn upstream_tls(
        &mut self,
        node: &YamlNode<'_>,
        endpoints: &[EndpointConfig],
    ) -> Option<ClusterTlsConfig> {
        let tls = self.upstream_context(node, endpoints);
        if tls.is_none() {
            // The fields left unread because of the problem must not be reported.
            self.mark_all_read(node);
        }
        tls
    }

    fn upstream_context(
        &mut self,
        node: &YamlNode<'_>,
        endpoints: &[EndpointConfig],
    ) -> Option<ClusterTlsConfig> {
        let Some((config, kind)) = self.typed_config(node, &[UPSTREAM, CLEARTEXT]) else {
            if self.report.is_lenient() {
                // Leniency must not turn a request for more than cleartext into cleartext.
                self.report
                    .error(node.place, "`--lenient` can't ignore a `transport_socket`")
                    .hint("leave it out for cleartext");
            }
            return None;
        };
        if kind == 1 {
            return None;
        }
        self.pass(config, &["max_session_keys", "enforce_rsa_key_usage"]);
        self.warn_ineffective(config, &[("allow_renegotiation", "eddy never renegotiates TLS")]);
        let mut tls = ClusterTlsConfig::new(self.source_position(node.place));
        let written = self.word(config, "sni").map(str::to_ascii_lowercase);
        let is_of_host = self.is_true(config, "auto_host_sni");
        let checks_sent = self.is_true(config, "auto_sni_san_validation");
        let name = written.clone().filter(|_| !is_of_host);
        tls.sends_name = is_of_host || name.is_some();
        tls.server_name = name.as_deref().map(Shared::from);
        let common = self.get(config, "common_tls_context");
        let mut names = Vec::new();
        if let Some(common) = common {
            // The cluster's own settings decide which of these protocols are spoken.
            self.pass(common, &["alpn_protocols"]);
            tls.version_min = self.version_min(common);
            let mut certificates = self.certificates(common)?.into_iter();
            tls.identity = certificates.next().map(|own| IdentityFiles { chain: own.chain, key: own.key });
            if certificates.next().is_some() {
                self.report
                    .objection(common.place, "eddy sends endpoints only one client certificate")
                    .hint("keep one of `tls_certificates`");
            }
        }
        let context = match common {
            Some(common) => self.validation_context(common).ok()?,
            None => None,
        };
        let mut is_checked = false;
        if let Some(context) = context {
            tls.authorities = match self.source(context, "trusted_ca") {
                DataSource::Given(authorities) => Some(authorities),
                DataSource::Absent => None,
                DataSource::Refused => return None,
            };
            // The system's authorities are the default when no others are configured.
            let has_machine = self.get(context, "system_root_certs").is_some();
            let takes_all =
                matches!(self.text(context, "trust_chain_verification"), Some("ACCEPT_UNTRUSTED" | "1"));
            is_checked = (tls.authorities.is_some() || has_machine) && !takes_all;
            names = self.certificate_names(context);
        }
        let place = context.map_or(node.place, |context| context.place);
        tls.check = match (is_checked, checks_sent || !names.is_empty()) {
            (true, true) => ServerCheck::Full,
            (true, false) => {
                self.report
                    .warning(place, "the name in the endpoint's certificate is not checked")
                    .hint("name it with `match_typed_subject_alt_names`, or write `auto_sni_san_validation`");
                ServerCheck::Authority
            }
            (false, _) => {
                self.report
                    .warning(place, "endpoint certificates are not verified: an attacker in between can read and change everything")
                    .hint("name the certificate authorities: `validation_context: {trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}}`");
                ServerCheck::Nothing
            }
        };
        if tls.check == ServerCheck::Full && !checks_sent {
            self.take_name(&mut tls, &names, is_of_host, place);
        }
        self.check_endpoint_names(&mut tls, endpoints, place);
        Some(tls)
    }

    /// Returns the names of which a certificate must match one; unsupported matchers are reported.
    fn certificate_names(&mut self, context: &YamlNode<'_>) -> Vec<String> {
        let mut names = Vec::new();
        for matcher in self.list(context, "match_typed_subject_alt_names") {
            let kind = self.text(matcher, "san_type");
            if !matches!(kind, Some("DNS" | "2" | "IP_ADDRESS" | "4")) {
                self.report
                    .objection(matcher.place, "eddy checks only DNS names and IP addresses in certificates")
                    .hint("write `san_type: DNS`");
            }
            if let Some(test) = self.get(matcher, "matcher") {
                names.extend(self.exact_name(test));
            }
        }
        for test in self.list(context, "match_subject_alt_names") {
            names.extend(self.exact_name(test));
        }
        names
    }

    fn exact_name(&mut self, test: &YamlNode<'_>) -> Option<String> {
        self.pass(test, &["ignore_case"]);
        let name = self.word(test, "exact").map(str::to_ascii_lowercase);
        let name = name.filter(|name| is_server_name(name));
        if name.is_none() {
            self.report
                .objection(test.place, "eddy can only match a certificate against one exact name")
                .hint("write `exact` with a host or an address");
        }
        name
    }

    /// Makes the name to match the server name of the cluster, which endpoints are asked for and must show a
    /// certificate for.
    fn take_name(
        &mut self,
        tls: &mut ClusterTlsConfig,
        names: &[String],
        is_of_host: bool,
        place: SourceSpan,
    ) {
        let [name] = names else {
            self.report
                .objection(place, "eddy can match a certificate against only one name, not against several")
                .hint("keep one of them");
            return;
        };
        let is_other = tls.server_name.as_deref().is_some_and(|sent| sent != name);
        if is_other || is_of_host {
            self.report
                .objection(
                    place,
                    format!(
                        "eddy checks certificates for the SNI name that it sends, not for `{}`",
                        shown(name)
                    ),
                )
                .hint(format!("write `sni: {}`", shown(name)));
        }
        tls.server_name = Some(name.as_str().into());
    }

    /// Gives the cluster a placeholder server name when an endpoint has no name; that is an error when names are
    /// checked.
    fn check_endpoint_names(
        &mut self,
        tls: &mut ClusterTlsConfig,
        endpoints: &[EndpointConfig],
        place: SourceSpan,
    ) {
        let is_nameless = |endpoint: &EndpointConfig| match &endpoint.address {
            EndpointAddress::Unix(_) => true,
            EndpointAddress::Name { host, .. } => !is_server_name(host),
            EndpointAddress::Socket(_) => false,
        };
        if tls.server_name.is_some() || !endpoints.iter().any(is_nameless) {
            return;
        }
        if tls.check == ServerCheck::Full {
            self.report
                .error(place, "the certificate of an endpoint without a name can't be verified")
                .hint("write the certificate's name as `sni`");
        }
        tls.server_name = Some("localhost".into());
        tls.sends_name = false;
    }
}

const UPSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const CLEARTEXT: &str = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer";
