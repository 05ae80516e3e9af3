//! Stand-in for quarantined filters.

use std::path::Path;
use std::sync::Arc;

use eddy_builtin::{Builtin, BuiltinLibrary, PhaseContext};
use eddy_config::{FilterConfig, FilterKind, GatewayConfig, LuaScriptText};
use eddy_filter::{FailurePolicy, Filter, FilterInfo, Interest, LibraryKeepAlive, Phase, Verdict};
use eddy_guest::FileIdentity;
use eddy_http::GrpcStatus;
use eddy_ids::{BySlot, FilterId, Shared};

use super::bundle::library_of;
use super::dynamic_module::file_of;
use crate::bundle::{BundleManifest, hashed};
use crate::control::Quarantined;

/// Returns the quarantined filters of a configuration.
pub(crate) fn held<'q>(
    config: &GatewayConfig,
    quarantined: &'q [Quarantined],
) -> BySlot<FilterId, &'q Quarantined> {
    let find = |(id, filter): (FilterId, &Shared<FilterConfig>)| {
        let held = quarantined.iter().find(|held| *held.name == *filter.name)?;
        (version(config, id, filter).as_deref() == Some(&*held.version)).then_some((id, held))
    };
    config.filters.iter().filter_map(find).collect()
}

/// Returns a hash of a filter's configuration, of rules for it, and of its library; `None` for a built-in filter, which
/// is never quarantined.
pub(crate) fn version(config: &GatewayConfig, id: FilterId, filter: &FilterConfig) -> Option<String> {
    let library = match &filter.kind {
        FilterKind::Builtin(_) => return None,
        FilterKind::Native { library, .. } => library_version(library),
        FilterKind::Wasm(wasm) => library_version(&wasm.module),
        FilterKind::DynamicModule(module) => library_version(&file_of(module).ok()?),
        FilterKind::Lua(lua) => match &lua.script {
            LuaScriptText::File(path) => library_version(path),
            LuaScriptText::Inline { .. } => String::new(),
        },
        FilterKind::Go { source, .. } => library_version(&library_of(source).ok()?),
    };
    let rules = config.rule_filters().filter(|rule| rule.filter == id);
    let rules: Vec<_> = rules.map(|rule| &rule.config).collect();
    Some(hashed([format!("{filter:?} {rules:?} {library}").as_bytes()].into_iter()))
}

/// Returns a text that changes with a library. For a library linked from packages it is the key in its manifest,
/// because the file itself is touched whenever the library is found again.
fn library_version(library: &Path) -> String {
    match BundleManifest::beside(library) {
        Some(record) => record.key,
        None => {
            FileIdentity::of(library).map_or_else(|error| error.to_string(), |known| format!("{known:?}"))
        }
    }
}

/// Creates the stand-in for a quarantined filter: it refuses requests, or does nothing.
pub(super) fn build_placeholder(filter: &FilterConfig, id: u32) -> Arc<Filter> {
    let refuses = filter.policy.on_failure == FailurePolicy::Closed;
    let build_placeholder = PlaceholderFilter { refuses };
    let info =
        FilterInfo { interest: build_placeholder.interest(), keeps_length: true, expects_tunnels: false };
    Arc::new(Filter {
        name: filter.name.clone().into(),
        id,
        library: Arc::new(BuiltinLibrary::new("quarantine", Box::new(build_placeholder))),
        number: 1,
        info,
        policy: filter.policy,
        owner: LibraryKeepAlive::default(),
    })
}

#[derive(Debug)]
struct PlaceholderFilter {
    refuses: bool,
}

impl Builtin for PlaceholderFilter {
    fn interest(&self) -> Interest {
        if self.refuses { Interest::of(&[Phase::RequestHead]) } else { Interest::default() }
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let verdict = answer.reply(503, "a filter is out of service\n", "filter_quarantined");
        answer.reply_grpc(GrpcStatus::Unavailable);
        verdict
    }
}
