//! Filter benchmarks: languages, scenarios, and the one process with many listeners in which each gateway is
//! measured.
//!
//! To add a language, add an entry to [`FilterLanguage`], a line to [`TARGETS`], and its part of the template in
//! `peers/filters`.

use anyhow::{Context, Result};

use crate::load::{ResponseOrigin, ScenarioRequest};
use crate::peers::{BenchListener, GatewayKind, Setup};

/// A gateway with filters in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterTarget {
    /// Name in tables and in `TARGETS`.
    pub name: &'static str,
    /// The gateway.
    pub kind: GatewayKind,
    /// Language of its filters.
    pub tongue: FilterLanguage,
}

/// Language of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterLanguage {
    /// No filters.
    None,
    /// Filters built into the gateway, by configuration alone.
    Builtin,
    /// Go, with the gateway's own SDK.
    Go,
    /// Go filters written for Envoy, run by eddy.
    GoEnvoy,
    /// Native library, here written in Rust.
    Native,
    /// Lua as commonly written.
    Lua,
    /// Lua written so that LuaJIT compiles it well.
    LuaJit,
    /// proxy-wasm module written in Rust.
    Wasm,
    /// proxy-wasm module written in Go.
    WasmGo,
}

/// A task of filters that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterScenario {
    /// Name in tables and in `SCENARIOS`.
    pub name: &'static str,
    /// One-line description.
    pub title: &'static str,
    /// Listener that performs the task.
    pub listener: BenchListener,
    /// Bytes of the response body.
    bytes: usize,
    /// Further header lines of its requests, used in turn.
    fields: &'static [&'static str],
    /// The side that responds.
    answer: ResponseOrigin,
    /// Whether it is also measured at the fixed rates.
    pub is_paced: bool,
}

/// All targets, in the order of tables.
pub const TARGETS: &[FilterTarget] = &[
    FilterTarget { name: "eddy", kind: GatewayKind::Eddy, tongue: FilterLanguage::None },
    FilterTarget { name: "eddy-builtin", kind: GatewayKind::Eddy, tongue: FilterLanguage::Builtin },
    FilterTarget { name: "eddy-go", kind: GatewayKind::Eddy, tongue: FilterLanguage::Go },
    FilterTarget { name: "eddy-go-envoy", kind: GatewayKind::Eddy, tongue: FilterLanguage::GoEnvoy },
    FilterTarget { name: "eddy-native", kind: GatewayKind::Eddy, tongue: FilterLanguage::Native },
    FilterTarget { name: "eddy-lua", kind: GatewayKind::Eddy, tongue: FilterLanguage::Lua },
    FilterTarget { name: "eddy-lua-jit", kind: GatewayKind::Eddy, tongue: FilterLanguage::LuaJit },
    FilterTarget { name: "eddy-wasm", kind: GatewayKind::Eddy, tongue: FilterLanguage::Wasm },
    FilterTarget { name: "eddy-wasm-go", kind: GatewayKind::Eddy, tongue: FilterLanguage::WasmGo },
    FilterTarget { name: "envoy", kind: GatewayKind::Envoy, tongue: FilterLanguage::None },
    FilterTarget { name: "envoy-builtin", kind: GatewayKind::Envoy, tongue: FilterLanguage::Builtin },
    FilterTarget { name: "envoy-go", kind: GatewayKind::Envoy, tongue: FilterLanguage::Go },
    FilterTarget { name: "envoy-lua", kind: GatewayKind::Envoy, tongue: FilterLanguage::Lua },
    FilterTarget { name: "envoy-lua-jit", kind: GatewayKind::Envoy, tongue: FilterLanguage::LuaJit },
    FilterTarget { name: "envoy-wasm", kind: GatewayKind::Envoy, tongue: FilterLanguage::Wasm },
    FilterTarget { name: "envoy-wasm-go", kind: GatewayKind::Envoy, tongue: FilterLanguage::WasmGo },
    FilterTarget { name: "nginx", kind: GatewayKind::Nginx, tongue: FilterLanguage::None },
    FilterTarget { name: "nginx-builtin", kind: GatewayKind::Nginx, tongue: FilterLanguage::Builtin },
    FilterTarget { name: "nginx-lua", kind: GatewayKind::Nginx, tongue: FilterLanguage::Lua },
    FilterTarget { name: "haproxy", kind: GatewayKind::Haproxy, tongue: FilterLanguage::None },
    FilterTarget { name: "haproxy-builtin", kind: GatewayKind::Haproxy, tongue: FilterLanguage::Builtin },
    FilterTarget { name: "haproxy-lua", kind: GatewayKind::Haproxy, tongue: FilterLanguage::Lua },
];

/// All scenarios, in the order of tables.
pub const SCENARIOS: &[FilterScenario] = &[
    FilterScenario {
        name: "bare",
        title: "no filter, compared with another listener without one: the noise of the method",
        // The last listener, not the one that all others are compared with.
        listener: AGAIN,
        ..PLAIN
    },
    FilterScenario {
        name: "passthrough",
        title: "enters request head and response head and does nothing",
        listener: PASSTHROUGH,
        is_paced: true,
        ..PLAIN
    },
    FilterScenario {
        name: "basic-auth",
        title: "decodes and compares valid credentials",
        listener: AUTH,
        fields: GOOD,
        is_paced: true,
        ..PLAIN
    },
    FilterScenario {
        name: "header-get-set",
        title: "sets a header from another in each direction",
        listener: HEADERS,
        is_paced: true,
        ..PLAIN
    },
    FilterScenario {
        name: "chain-3",
        title: "the three above, one after another",
        listener: CHAIN,
        fields: GOOD,
        is_paced: true,
        ..PLAIN
    },
    FilterScenario {
        name: "reject",
        title: "wrong and missing credentials in turn, answered with 401",
        listener: AUTH,
        fields: BAD,
        answer: ResponseOrigin::Target(401),
        ..PLAIN
    },
    FilterScenario {
        name: "body-10k",
        title: "reads every byte of a 10 KiB response as it passes",
        listener: BODY,
        bytes: 10 << 10,
        ..PLAIN
    },
];

/// The listener without filters that every other is compared with.
pub const BARE: BenchListener = BenchListener { name: "bare", flags: &["bare"] };

impl FilterLanguage {
    /// Returns the name shown in charts.
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Builtin => "built-in",
            Self::Go => "Go",
            Self::GoEnvoy => "Go, Envoy API",
            Self::Native => "Rust",
            Self::Lua => "Lua",
            Self::LuaJit => "Lua, tuned for LuaJIT",
            Self::Wasm => "Wasm from Rust",
            Self::WasmGo => "Wasm from Go",
        }
    }

    /// Returns its flag in templates; languages that differ in files alone share one.
    pub fn flag(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Builtin => Some("builtin"),
            Self::Go => Some("go"),
            Self::GoEnvoy => Some("go-envoy"),
            Self::Native => Some("native"),
            Self::Lua | Self::LuaJit => Some("lua"),
            Self::Wasm | Self::WasmGo => Some("wasm"),
        }
    }

    /// Whether the language has a filter for a listener with these flags.
    fn has(self, listener: BenchListener) -> bool {
        match self {
            Self::None => listener.flags.contains(&"bare"),
            // No gateway has a built-in filter that does nothing, or that only reads bodies.
            Self::Builtin => {
                !listener.flags.iter().any(|flag| matches!(*flag, "passthrough" | "body" | "bare"))
            }
            Self::Go
            | Self::GoEnvoy
            | Self::Native
            | Self::Lua
            | Self::LuaJit
            | Self::Wasm
            | Self::WasmGo => !listener.flags.contains(&"bare"),
        }
    }
}

impl FilterTarget {
    /// Whether the target supports the scenario.
    pub fn has(&self, scenario: &FilterScenario) -> bool {
        self.tongue.has(scenario.listener)
    }

    /// Whether its filters log what they find in bodies. The examples that eddy runs in Go and Rust count instead.
    pub fn logs_findings(&self) -> bool {
        !matches!(
            (self.kind, self.tongue),
            (
                GatewayKind::Eddy,
                FilterLanguage::None
                    | FilterLanguage::Builtin
                    | FilterLanguage::Go
                    | FilterLanguage::GoEnvoy
                    | FilterLanguage::Native
            )
        )
    }

    /// Whether responses keep the `Content-Length` of the origin. eddy sends chunks behind a filter that is called
    /// for bodies and does not promise to keep their length: every module of the proxy-wasm SDKs is called, and a
    /// filter written for Envoy's Go API cannot promise it.
    pub fn keeps_length(&self, is_body_entered: bool) -> bool {
        match (self.kind, self.tongue) {
            (GatewayKind::Eddy, FilterLanguage::Wasm | FilterLanguage::WasmGo) => false,
            (GatewayKind::Eddy, FilterLanguage::GoEnvoy) => !is_body_entered,
            _ => true,
        }
    }

    /// Returns the configuration of its one process.
    pub fn setup(&self) -> Setup {
        let listeners = match self.tongue {
            FilterLanguage::None => &[BARE, AGAIN],
            FilterLanguage::Builtin => LISTENERS_OF_HEADS,
            FilterLanguage::Go
            | FilterLanguage::GoEnvoy
            | FilterLanguage::Native
            | FilterLanguage::Lua
            | FilterLanguage::LuaJit
            | FilterLanguage::Wasm
            | FilterLanguage::WasmGo => LISTENERS,
        };
        Setup { listeners, tongue: self.tongue.flag(), ..Setup::default() }
    }

    /// Returns the target of that name.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn named(name: &str) -> Result<Self> {
        let known = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        let found = TARGETS.iter().find(|target| target.name == name).copied();
        found.with_context(|| format!("unknown target `{name}`; known targets: {}", known()))
    }
}

impl FilterScenario {
    /// Returns the request for its listener.
    pub fn request(&self) -> ScenarioRequest {
        ScenarioRequest::Varied { bytes: self.bytes, fields: self.fields, answer: self.answer }
    }

    /// Returns the same request for the bare listener beside it, where the origin responds.
    pub fn baseline_request(&self) -> ScenarioRequest {
        ScenarioRequest::Varied { bytes: self.bytes, fields: self.fields, answer: ResponseOrigin::Origin }
    }

    /// Returns the scenarios of these names, in the order of tables; all of them if `names` is empty.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(names: &[String]) -> Result<Vec<Self>> {
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        for name in &names {
            SCENARIOS.iter().find(|scenario| scenario.name == *name).with_context(|| {
                let known: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
                format!("unknown scenario `{name}`; known scenarios: {}", known.join(", "))
            })?;
        }
        let is_wanted = |scenario: &&Self| names.is_empty() || names.contains(&scenario.name);
        Ok(SCENARIOS.iter().filter(is_wanted).copied().collect())
    }
}

/// `fooname:validpassword`, as in the best known filter benchmark.
pub const GOOD: &[&str] = &["Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n"];
/// A wrong password of the same length, and no credentials.
pub const BAD: &[&str] = &["Authorization: Basic Zm9vbmFtZTppbnZhbGlkcGFzc3dk\r\n", ""];

const AGAIN: BenchListener = BenchListener { name: "again", flags: &["bare"] };
const PASSTHROUGH: BenchListener = BenchListener { name: "passthrough", flags: &["passthrough", "response"] };
const AUTH: BenchListener = BenchListener { name: "basic-auth", flags: &["auth"] };
/// The listener whose filter has a visible effect in both directions.
pub const HEADERS: BenchListener = BenchListener { name: "header-get-set", flags: &["headers", "response"] };
const CHAIN: BenchListener =
    BenchListener { name: "chain-3", flags: &["passthrough", "auth", "headers", "response"] };
const BODY: BenchListener = BenchListener { name: "body-10k", flags: &["body"] };
const LISTENERS_OF_HEADS: &[BenchListener] = &[BARE, AUTH, HEADERS];
const LISTENERS: &[BenchListener] = &[BARE, PASSTHROUGH, AUTH, HEADERS, CHAIN, BODY];
const PLAIN: FilterScenario = FilterScenario {
    name: "",
    title: "",
    listener: BARE,
    bytes: 128,
    fields: &[""],
    answer: ResponseOrigin::Origin,
    is_paced: false,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_a_target_has_its_listener() {
        for target in TARGETS {
            let listeners = target.setup().listeners;
            assert_eq!(listeners[0], BARE);
            for scenario in SCENARIOS {
                let is_there = listeners[1..].contains(&scenario.listener);
                assert_eq!(target.has(scenario), is_there, "{} {}", target.name, scenario.name);
            }
        }
    }

    #[test]
    fn targets_and_scenarios_are_found_by_name() {
        assert_eq!(FilterTarget::named("envoy-lua").unwrap().kind, GatewayKind::Envoy);
        let failure = FilterTarget::named("caddy").unwrap_err().to_string();
        assert!(
            failure.starts_with("unknown target `caddy`; known targets: eddy, eddy-builtin, "),
            "{failure}"
        );
        let names = ["reject".to_owned(), "bare".to_owned(), String::new()];
        let found: Vec<&str> = FilterScenario::named(&names).unwrap().iter().map(|one| one.name).collect();
        assert_eq!(found, ["bare", "reject"]);
        assert_eq!(FilterScenario::named(&[]).unwrap().len(), SCENARIOS.len());
        assert!(FilterScenario::named(&["get".to_owned()]).is_err());
    }

    #[test]
    fn the_bare_listener_accepts_requests_that_a_filter_rejects() {
        let reject = SCENARIOS.iter().find(|scenario| scenario.name == "reject").unwrap();
        let address = ([127, 0, 0, 1], 80).into();
        let (refused, passed) =
            (reject.request().exchange(address), reject.baseline_request().exchange(address));
        assert_eq!((refused.expected.status, passed.expected.status), (401, 200));
        assert_eq!(refused.requests, passed.requests);
        assert_eq!(refused.requests.len(), 2);
    }
}
