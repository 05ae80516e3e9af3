//! Builder of test configurations: one listener, one table and the cluster `origin`, plus what a test adds.

use crate::gateway::{Launch, TestGateway};
use crate::origin::TapOrigin;
use anyhow::Result;

/// Configuration of the quick start: everything is forwarded to `ORIGIN`.
pub const QUICK_START: &str = "\
listeners: [{address: LISTEN, routes: site}]
admin: {address: ADMIN}
routes: {site: [{match: {path: {prefix: /}}, cluster: origin}]}
clusters: {origin: {endpoints: [ORIGIN]}}
";

/// Builder of a configuration; one worker by default, so that link reuse is deterministic.
#[derive(Clone, Debug)]
pub struct GatewayConfigBuilder {
    top: Vec<String>,
    listener: Vec<String>,
    rules: Vec<String>,
    cluster: Vec<String>,
    clusters: Vec<String>,
    substitutes: Vec<(String, String)>,
    has_default_rule: bool,
}

impl Default for GatewayConfigBuilder {
    fn default() -> Self {
        Self {
            // The queue delay is off, because a busy machine must not make the gateway refuse requests. The drain
            // timeout is short: a stop waits for clients that the test has not dropped yet, and most tests need not
            // wait for that.
            top: vec!["workers: 1".into(), "limits: {queue_delay: 0s}".into(), "drain_timeout: 300ms".into()],
            listener: Vec::new(),
            rules: Vec::new(),
            cluster: Vec::new(),
            clusters: Vec::new(),
            substitutes: Vec::new(),
            has_default_rule: true,
        }
    }
}

impl GatewayConfigBuilder {
    /// Creates a site whose only rule forwards everything to `origin`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line at the top level; a line with the same key is replaced, such as the default of one worker.
    #[must_use]
    pub fn top(mut self, line: &str) -> Self {
        let key = line.split(':').next();
        self.top.retain(|other| other.split(':').next() != key);
        self.top.push(line.into());
        self
    }

    /// Adds a key to the listener, as in `timeouts: {head: 1s}`.
    #[must_use]
    pub fn listener(mut self, key: &str) -> Self {
        self.listener.push(key.into());
        self
    }

    /// Adds a rule in flow style.
    #[must_use]
    pub fn rule(mut self, rule: &str) -> Self {
        self.rules.push(rule.into());
        self
    }

    /// Omits the rule that forwards everything else to `origin`.
    #[must_use]
    pub fn without_default_rule(mut self) -> Self {
        self.has_default_rule = false;
        self
    }

    /// Adds a key to the cluster `origin`, as in `connect_timeout: 1s`.
    #[must_use]
    pub fn cluster(mut self, key: &str) -> Self {
        self.cluster.push(key.into());
        self
    }

    /// Adds another cluster, as in `other: {endpoints: [OTHER]}`.
    #[must_use]
    pub fn another_cluster(mut self, cluster: &str) -> Self {
        self.clusters.push(cluster.into());
        self
    }

    /// Replaces the placeholder `word` by `value` in all of the above.
    #[must_use]
    pub fn with(mut self, word: &str, value: impl ToString) -> Self {
        self.substitutes.push((word.into(), value.to_string()));
        self
    }

    /// Returns the configuration as text; it still contains `LISTEN`, `ADMIN`, `DIR` and the placeholders of
    /// [`GatewayConfigBuilder::with`].
    pub fn text(&self) -> String {
        let mut text = self.top.join("\n");
        text += "\nadmin: {address: ADMIN}\nlisteners:\n  - address: LISTEN\n    routes: site\n";
        for key in &self.listener {
            text += &format!("    {key}\n");
        }
        text += "routes:\n  site:\n";
        let default = self.has_default_rule.then_some("{cluster: origin}");
        for rule in self.rules.iter().map(String::as_str).chain(default) {
            text += &format!("    - {rule}\n");
        }
        text += "clusters:\n  origin:\n    endpoints: [ORIGIN]\n";
        for key in &self.cluster {
            text += &format!("    {key}\n");
        }
        for cluster in &self.clusters {
            text += &format!("  {cluster}\n");
        }
        text
    }

    /// Starts a gateway with this configuration in front of `origin`.
    ///
    /// # Errors
    /// As [`TestGateway::launch`].
    pub async fn before(self, origin: &TapOrigin) -> Result<TestGateway> {
        let site = self.with("ORIGIN", origin.address());
        let substitutes = site.substitutes.clone();
        TestGateway::launch(&site.text(), Launch { substitutes, ..Launch::default() }).await
    }

    /// Starts a gateway with this configuration in front of `origin`, with the options in `launch`.
    ///
    /// # Errors
    /// As [`TestGateway::launch`].
    pub async fn launch(self, origin: &TapOrigin, mut launch: Launch) -> Result<TestGateway> {
        let site = self.with("ORIGIN", origin.address());
        launch.substitutes.extend(site.substitutes.iter().cloned());
        TestGateway::launch(&site.text(), launch).await
    }
}
