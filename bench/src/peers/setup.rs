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
    /// `/generation` answers with the number of times the configuration was loaded.
    pub has_generation: bool,
}

impl Setup {
    /// A few words for folders and messages.
    pub fn name(self) -> String {
        let mut words = match self.routes {
            0 => "plain".to_owned(),
            count => format!("routes-{count}"),
        };
        for (is_on, word) in
            [(self.has_log, "log"), (self.has_metrics, "metrics"), (self.has_generation, "reload")]
        {
            if is_on {
                words.push('-');
                words.push_str(word);
            }
        }
        words
    }

    /// The flags of the templates.
    pub fn flags(self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.routes > 0, "routes"),
            (self.has_log, "log"),
            (self.has_metrics, "metrics"),
            (self.has_generation, "generation"),
        ];
        flags.into_iter().filter_map(|(is_on, flag)| is_on.then_some(flag))
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
    }
}
