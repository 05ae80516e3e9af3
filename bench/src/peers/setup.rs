//! What the targets are configured to do while a group of scenarios runs.

/// A configuration that each target gets in its own tongue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setup {
    /// Routes `/route-0/` to `/route-N-1/`; 0 for a single route of everything.
    pub routes: usize,
    /// An access log is written.
    pub has_log: bool,
    /// Metrics are collected and served.
    pub has_metrics: bool,
    /// Connections are passed on at a listener of their own, and WebSockets at `/websocket`, to the far end of tunnels; others
    /// speak HTTP/2 in cleartext, with calls of gRPC, and over TLS.
    pub has_transports: bool,
    /// Requests with JSON become calls of gRPC; only some targets can do that.
    pub is_transcoding: bool,
    /// `/generation` answers with the number of times the configuration was loaded.
    pub has_generation: bool,
    /// The listeners of one process, where filters are measured; the first is where it is asked whether it is ready.
    pub listeners: &'static [BenchListener],
    /// What the filters are written in, a flag of the templates.
    pub tongue: Option<&'static str>,
}

/// One of several listeners of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BenchListener {
    /// Its name.
    pub name: &'static str,
    /// Flags of the templates inside `each listener`: which filters it has.
    pub flags: &'static [&'static str],
}

impl Setup {
    /// A few words for folders and messages.
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

    /// The flags of the templates.
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
    fn names_tell_setups_apart() {
        let plain = Setup::default();
        assert_eq!(plain.name(), "plain");
        assert_eq!(Setup { routes: 10, has_metrics: true, ..plain }.name(), "routes-10-metrics");
        assert_eq!(Setup { has_log: true, ..plain }.name(), "plain-log");
        let listeners = &[BenchListener { name: "bare", flags: &["bare"] }];
        assert_eq!(Setup { listeners, tongue: Some("lua"), ..plain }.name(), "plain-filters-lua");
    }
}
