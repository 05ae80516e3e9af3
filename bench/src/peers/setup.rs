//! Configuration of the targets while a group of scenarios runs.

/// A configuration that is rendered for each target in its own format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setup {
    /// Number of routes, `/route-0/` to `/route-N-1/`; 0 for a single catch-all route.
    pub routes: usize,
    /// Whether an access log is written.
    pub has_log: bool,
    /// Whether metrics are collected and served.
    pub has_metrics: bool,
    /// Whether there are a TCP proxy listener and WebSockets at `/websocket`, both to the far end of tunnels, and
    /// listeners for cleartext HTTP/2 (with gRPC calls) and for TLS.
    pub has_transports: bool,
    /// Whether JSON requests are transcoded to gRPC calls, which only some targets support.
    pub is_transcoding: bool,
    /// Whether `/generation` responds with the number of configuration loads.
    pub has_generation: bool,
    /// Listeners of one process, where filters are measured; the first is probed for readiness.
    pub listeners: &'static [BenchListener],
    /// Filter language, a flag of the templates.
    pub tongue: Option<&'static str>,
}

/// One of several listeners of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BenchListener {
    /// Listener name.
    pub name: &'static str,
    /// Template flags inside `each listener`: the filters of the listener.
    pub flags: &'static [&'static str],
}

impl Setup {
    /// Returns a short name for folders and messages.
    pub fn name(self) -> String {
        let mut words = match self.routes {
            0 => "plain".to_owned(),
            count => format!("routes-{count}"),
        };
        let is_on = |is_on: bool, word| is_on.then_some(word);
        let others = [
            is_on(self.has_log, "log"),
            is_on(self.has_metrics, "metrics"),
            is_on(self.has_transports, "transports"),
            is_on(self.is_transcoding, "transcode"),
            is_on(self.has_generation, "reload"),
            is_on(!self.listeners.is_empty(), "filters"),
            self.tongue,
        ];
        for word in others.into_iter().flatten() {
            words.push('-');
            words.push_str(word);
        }
        words
    }

    /// Returns the template flags.
    pub fn flags(self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.routes > 0, "routes"),
            (self.has_log, "log"),
            (self.has_metrics, "metrics"),
            (self.has_transports, "transports"),
            (self.is_transcoding, "transcode"),
            (self.has_generation, "generation"),
        ];
        flags.into_iter().filter_map(|(is_on, flag)| is_on.then_some(flag)).chain(self.tongue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_names_are_distinct() {
        let plain = Setup::default();
        assert_eq!(plain.name(), "plain");
        assert_eq!(Setup { routes: 10, has_metrics: true, ..plain }.name(), "routes-10-metrics");
        assert_eq!(Setup { has_log: true, ..plain }.name(), "plain-log");
        let listeners = &[BenchListener { name: "bare", flags: &["bare"] }];
        assert_eq!(Setup { listeners, tongue: Some("lua"), ..plain }.name(), "plain-filters-lua");
    }
}
