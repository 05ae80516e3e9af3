//! Checks filters, and the settings of listeners and rules for them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use eddy_builtin::BuiltinConfig;
use eddy_config::{
    DynamicModuleConfig, DynamicModuleSource, FilterConfig, FilterKind, FilterSlots, GoSource,
    ListenerConfig, LuaConfig, LuaScriptText, RuleFilterConfig, Serve,
};
use eddy_filter::{CHAIN_FILTERS_MAX, FailurePolicy, FilterPolicy};
use eddy_ids::{BySlot, FilterId, Shared, TableId};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::read::{Any, Boxed, NamedMap, Spanned};
use eddy_spec::spec::{DynamicModuleSpec, FilterSpec, GoSpec, LuaRuleSpec, NativeSpec, RuleFilterSpec};
use eddy_spec::value::ConfigName;
use eddy_spec::yaml::YamlNode;

use super::builtin::{overlay, read_builtin};
use super::context::Surroundings;
use super::fields::{FilterMessageFields, FiltersDraft, Readers, check_fields, note_conflicts};
use super::json::json_of;
use super::lua::{check_lua, check_rule_script};
use super::names::{NameRegistry, free_name};
use super::setting::set;
use super::wasm::{check_wasm, plain_or_json};

/// Checked filters, with the facts that the checks of rules need.
#[derive(Debug)]
pub struct CheckedFilters<'l> {
    /// Names of the filters of eddy's own configuration.
    pub names: NameRegistry<FilterId>,
    /// Valid filters.
    slots: FiltersDraft<'l>,
    /// Filters of eddy's own configuration, valid or not.
    declared: BySlot<FilterId, DeclaredFilter>,
    /// Filters that other dialects have added, by the name that they use.
    of_dialects: HashMap<&'static str, FilterId>,
    /// Disabled filters that a rule enables.
    enabled: HashSet<FilterId>,
    /// References of rules to filters.
    named: Vec<NamedInRule>,
}

/// Facts about a filter, known even if it has errors.
#[derive(Debug)]
struct DeclaredFilter {
    place: SourceSpan,
    policy: FilterPolicy,
    /// Whether it receives its configuration as it is, rather than as JSON.
    takes_text: bool,
    /// Kind of a built-in filter, and its configuration as written.
    builtin: Option<(&'static str, YamlNode<'static>)>,
    /// Directory against which its relative paths are resolved.
    folder: PathBuf,
    lua: Option<KnownLua>,
    /// Filters that read messages for it.
    readers: Readers,
}

/// A Lua filter, with its configuration if that is valid.
#[derive(Debug)]
struct KnownLua {
    name: Shared<str>,
    config: Option<LuaConfig>,
}

#[derive(Debug)]
struct NamedInRule {
    table: TableId,
    name: Spanned<ConfigName>,
    filter: FilterId,
}

/// Checks the filters and registers their names.
pub fn check_filters(
    specs: Option<Spanned<NamedMap<ConfigName, FilterSpec>>>,
    sources: &[SourceText],
    filters: &mut CheckedFilters<'_>,
    report: &mut ProblemReport,
) {
    let mut readings = Vec::new();
    for entry in specs.into_iter().flat_map(|specs| specs.value.0) {
        let id = filters.slots.reserve(Shared::clone(&entry.name.value.0));
        filters.names.define(&entry.name, id);
        let place = entry.name.place;
        let spec = entry.value.map(|value| value.value).unwrap_or_default();
        let policy = check_policy(&spec);
        let (name, folder) = (&entry.name.value.0, folder_of(place, sources));
        let lua = spec
            .lua
            .as_ref()
            .map(|lua| KnownLua { name: Shared::clone(name), config: check_lua(&lua.value, name, &folder) });
        let known = DeclaredFilter {
            place,
            policy,
            takes_text: takes_text(&spec),
            builtin: builtin_of(&spec),
            folder,
            lua,
            readers: Readers::default(),
        };
        note_useless_keys(&spec, known.builtin.as_ref().map(|(kind, _)| *kind), report);
        let config = match (&spec.config, takes_text(&spec)) {
            (Some(config), true) => plain_or_json(&config.value.0, report),
            (Some(config), false) => json_of(&config.value.0, report),
            (None, true) => String::new(),
            (None, false) => "null".to_owned(),
        };
        let read = spec.fields.as_ref().and_then(|fields| {
            check_fields(&fields.value.0, (name, &known.folder), policy.body_bytes_max, report)
        });
        readings.extend(read.map(|read| (id, Shared::clone(name), read)));
        if let Some(kind) = check_kind(&spec, &known, report) {
            filters.add(FilterConfig { name: entry.name.value.0, kind, config: config.into(), policy });
        }
        filters.declared.insert(id, known);
    }
    for (id, name, read) in readings {
        filters.add_readers(id, &name, read);
    }
}

fn check_policy(spec: &FilterSpec) -> FilterPolicy {
    let mut policy = FilterPolicy::default();
    set(&mut policy.on_failure, spec.on_failure);
    set(&mut policy.pause_timeout, spec.timeout);
    set(&mut policy.body_bytes_max, spec.body_bytes_max);
    set(&mut policy.calls.per_exchange, spec.calls_per_exchange);
    set(&mut policy.calls.background, spec.background_calls);
    set(&mut policy.is_blocking, spec.blocking);
    set(&mut policy.is_disabled, spec.disabled);
    policy
}

/// Returns the kind of a built-in filter, and its configuration as written.
fn builtin_of(spec: &FilterSpec) -> Option<(&'static str, YamlNode<'static>)> {
    let nodes = [
        ("basic_auth", spec.basic_auth.as_ref().map(|at| &at.value.node)),
        ("headers", spec.headers.as_ref().map(|at| &at.value.node)),
        ("cors", spec.cors.as_ref().map(|at| &at.value.node)),
        ("ip_access", spec.ip_access.as_ref().map(|at| &at.value.node)),
        ("request_id", spec.request_id.as_ref().map(|at| &at.value.node)),
        ("rate_limit", spec.rate_limit.as_ref().map(|at| &at.value.node)),
        ("body_limit", spec.body_limit.as_ref().map(|at| &at.value.node)),
        ("fault", spec.fault.as_ref().map(|at| &at.value.node)),
        ("grpc_json", spec.grpc_json.as_ref().map(|at| &at.value.node)),
        ("grpc_web", spec.grpc_web.as_ref().map(|at| &at.value.node)),
        ("message_fields", spec.message_fields.as_ref().map(|at| &at.value.node)),
        ("redact", spec.redact.as_ref().map(|at| &at.value.node)),
    ];
    nodes.into_iter().find_map(|(kind, node)| node.map(|node| (kind, YamlNode::clone(node))))
}

fn check_kind(spec: &FilterSpec, known: &DeclaredFilter, report: &mut ProblemReport) -> Option<FilterKind> {
    let path = |path: &Path| known.folder.join(path);
    if let Some(Spanned { value: GoSpec { filter, package, library }, .. }) = &spec.go {
        let source = match (package, library) {
            (Some(package), _) => GoSource::Package(path(&package.value.0)),
            (None, library) => GoSource::Library(path(&library.as_ref()?.value.0)),
        };
        return Some(FilterKind::Go { source, filter: Shared::clone(&filter.as_ref()?.value.0) });
    }
    if let Some(Spanned { value: NativeSpec { filter, library }, .. }) = &spec.native {
        let library = path(&library.as_ref()?.value.0);
        return Some(FilterKind::Native { library, filter: Shared::clone(&filter.as_ref()?.value.0) });
    }
    if let Some(Spanned { value: Boxed(wasm), .. }) = &spec.wasm {
        return check_wasm(wasm, &known.folder, report).map(|wasm| FilterKind::Wasm(Shared::new(wasm)));
    }
    if let Some(Spanned { value: module, .. }) = &spec.dynamic_module {
        return check_dynamic_module(module, &known.folder).map(FilterKind::DynamicModule);
    }
    if let Some(lua) = &known.lua {
        return lua.config.clone().map(FilterKind::Lua);
    }
    let (kind, node) = known.builtin.as_ref()?;
    read_builtin(kind, node, known.surroundings(), report).map(FilterKind::Builtin)
}

/// Whether a filter receives its configuration as it is, rather than as JSON.
fn takes_text(spec: &FilterSpec) -> bool {
    spec.wasm.is_some() || spec.dynamic_module.is_some()
}

/// Checks a dynamic module; returns `None` if neither its name nor its file is given.
fn check_dynamic_module(spec: &DynamicModuleSpec, folder: &Path) -> Option<DynamicModuleConfig> {
    let module = match (&spec.path, &spec.name) {
        (Some(path), _) => DynamicModuleSource::File(folder.join(&path.value.0)),
        (None, name) => DynamicModuleSource::Name(name.as_ref()?.value.0.clone()),
    };
    Some(DynamicModuleConfig {
        module,
        filter: spec.filter.as_ref().map_or_else(String::new, |filter| filter.value.0.clone()),
        is_global: spec.load_globally.is_some_and(|global| global.value),
    })
}

/// Reports keys that have no effect for built-in, Lua and Wasm filters and dynamic modules.
fn note_useless_keys(spec: &FilterSpec, builtin: Option<&'static str>, report: &mut ProblemReport) {
    if let Some(blocking) = spec.blocking.filter(|blocking| blocking.value && spec.wasm.is_some()) {
        let message = "`blocking` has no effect with `wasm`: a module cannot block";
        report.error(blocking.place, message).hint("`wasm.cpu` limits the computing time of a call");
    }
    if let Some(blocking) = spec.blocking.filter(|blocking| blocking.value && spec.dynamic_module.is_some()) {
        let message =
            "`blocking` is not supported with `dynamic_module`: its hooks run on the worker's thread";
        report.error(blocking.place, message).hint("a module can use threads of its own, and a scheduler");
    }
    if let Some(policy) = spec.on_failure.filter(|policy| policy.value == FailurePolicy::Open)
        && builtin == Some("redact")
    {
        let message = "`redact` always fails closed: it is never skipped";
        report.error(policy.place, message).hint("leave `on_failure` out");
    }
    let Some(kind) = builtin.or_else(|| spec.lua.is_some().then_some("lua")) else { return };
    if let (Some(config), Some(_)) = (&spec.config, builtin) {
        let message = format!("`config` has no effect with `{kind}`");
        report.error(config.place, message).hint(format!("write the settings under `{kind}`"));
    }
    if let (Some(fields), Some(_)) = (&spec.fields, builtin) {
        let message = format!("`fields` has no effect with `{kind}`, which reads no fields");
        report.error(fields.place, message);
    }
    if let Some(blocking) = spec.blocking.filter(|blocking| blocking.value) {
        let message = format!("`blocking` has no effect with `{kind}`: it never blocks a worker");
        report.error(blocking.place, message);
    }
}

impl DeclaredFilter {
    fn rule_script(&self, spec: &Spanned<LuaRuleSpec>, report: &mut ProblemReport) -> Option<LuaScriptText> {
        let Some(KnownLua { name, config }) = &self.lua else {
            report.error(spec.place, "`lua` has no effect here: the filter is not a Lua filter");
            return None;
        };
        check_rule_script(&spec.value, config.as_ref(), name, &self.folder, report)
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { folder: &self.folder, policy: self.policy }
    }
}

impl<'l> CheckedFilters<'l> {
    /// Creates a set without filters; those with a name of the last configuration get the same identifier.
    pub fn new(last: &'l FilterSlots) -> Self {
        Self {
            names: NameRegistry::new("filter"),
            slots: last.draft(),
            declared: BySlot::default(),
            of_dialects: HashMap::new(),
            enabled: HashSet::new(),
            named: Vec::new(),
        }
    }

    /// Checks the settings of a rule of the table for filters.
    pub(crate) fn check_rule(
        &mut self,
        specs: Option<Spanned<Boxed<NamedMap<ConfigName, RuleFilterSpec>>>>,
        table: TableId,
        report: &mut ProblemReport,
    ) -> Vec<RuleFilterConfig> {
        let mut checked = Vec::new();
        for entry in specs.into_iter().flat_map(|specs| specs.value.0.0) {
            let named = self.names.resolve(&entry.name, report);
            let (Some(filter), Some(Spanned { value: spec, .. })) = (named, entry.value) else { continue };
            let known = self.declared.get(filter).expect("each name is that of a declared filter");
            let is_disabled = spec.disabled.map(|disabled| disabled.value);
            if is_disabled == Some(false) {
                self.enabled.insert(filter);
            }
            if let (Some(true), Some(config)) = (is_disabled, &spec.config) {
                report.warning(config.place, "the filter is disabled here, so its `config` has no effect");
            }
            self.named.push(NamedInRule { table, name: entry.name, filter });
            let mut rule = RuleFilterConfig { filter, is_disabled, config: None, builtin: None, lua: None };
            if let Some(lua) = &spec.lua {
                rule.lua = known.rule_script(lua, report);
            }
            if let Some(Spanned { value: Any(node), .. }) = &spec.config {
                match &known.builtin {
                    Some((kind, own)) => {
                        let node = overlay(own, node);
                        let config = read_builtin(kind, &node, known.surroundings(), report);
                        rule.builtin = config.map(Shared::new);
                    }
                    None if known.takes_text => rule.config = Some(plain_or_json(node, report).into()),
                    None => rule.config = Some(json_of(node, report).into()),
                }
            }
            if let Some(is_disabled) = is_disabled {
                // No message is read for a filter that is disabled.
                checked.extend(known.readers.all().map(|filter| RuleFilterConfig {
                    filter,
                    is_disabled: Some(is_disabled),
                    config: None,
                    builtin: None,
                    lua: None,
                }));
            }
            checked.push(rule);
        }
        checked
    }

    /// Returns the built-in filter that a dialect needs, which its first use adds.
    pub fn builtin(&mut self, name: &'static str, builtin: BuiltinConfig, policy: FilterPolicy) -> FilterId {
        if let Some(known) = self.of_dialects.get(name) {
            return *known;
        }
        let id = self.add_builtin(name, builtin, policy);
        self.of_dialects.insert(name, id);
        id
    }

    /// Adds a filter of a dynamic module, with the configuration that the module receives.
    pub fn dynamic_module(&mut self, name: &str, module: DynamicModuleConfig, config: &str) -> FilterId {
        let kind = FilterKind::DynamicModule(module);
        self.add(FilterConfig {
            name: name.into(),
            kind,
            config: config.into(),
            policy: FilterPolicy::default(),
        })
    }

    /// As [`Self::builtin`], disabled except under rules that enable it, each with its own configuration.
    pub fn dormant(&mut self, name: &'static str, builtin: BuiltinConfig) -> FilterId {
        self.builtin(name, builtin, FilterPolicy { is_disabled: true, ..FilterPolicy::default() })
    }

    /// Returns the filter that a dialect has added under this name.
    pub fn find_builtin(&self, name: &str) -> Option<FilterId> {
        self.of_dialects.get(name).copied()
    }

    /// Adds the filters that read messages for a filter.
    fn add_readers(&mut self, filter: FilterId, name: &str, read: FilterMessageFields) {
        let declared = self.declared.get(filter).expect("the filter was declared");
        let is_disabled = declared.policy.is_disabled;
        let mut add = |message: &str, config| {
            let name = format!("{name} (fields of {message})");
            let policy = FilterPolicy { is_disabled, ..FilterPolicy::default() };
            self.add_builtin(&name, BuiltinConfig::MessageFields(config), policy)
        };
        let request = read.request.map(|config| add("requests", config));
        let response = read.response.map(|config| add("responses", config));
        let known = self.declared.get_mut(filter).expect("the filter was declared");
        known.readers = Readers { request, response };
    }

    /// Adds a built-in filter.
    fn add_builtin(&mut self, name: &str, builtin: BuiltinConfig, policy: FilterPolicy) -> FilterId {
        let kind = FilterKind::Builtin(builtin);
        self.add(FilterConfig { name: name.into(), kind, config: "null".into(), policy })
    }

    /// Adds a filter under its name, with a number behind it if another filter has the name.
    fn add(&mut self, filter: FilterConfig) -> FilterId {
        let name = free_name(&filter.name, |name| self.slots.has_value(name));
        let filter = FilterConfig { name: Shared::clone(&name), ..filter };
        self.slots.define(name, filter).expect("the name is not taken")
    }

    /// Checks the filter list of a listener.
    pub(crate) fn check_listener(
        &mut self,
        specs: &[Spanned<ConfigName>],
        report: &mut ProblemReport,
    ) -> Vec<FilterId> {
        let mut list = Vec::with_capacity(specs.len());
        for name in specs {
            let Some(id) = self.names.resolve(name, report) else { continue };
            if list.contains(&id) {
                let message = format!("the filter `{}` is already in this list", name.value.0);
                report
                    .error(name.place, message)
                    .hint("define a second filter with its own name and configuration");
                continue;
            }
            let before = list.len();
            let readers = self.declared.get(id).expect("each name is that of a declared filter").readers;
            for id in readers.request.into_iter().chain([id]).chain(readers.response) {
                list.push(id);
                note_conflicts(&list, &self.slots, name.place, report);
            }
            if before <= CHAIN_FILTERS_MAX && list.len() > CHAIN_FILTERS_MAX {
                let message = format!("a listener has at most {CHAIN_FILTERS_MAX} filters");
                let problem = report.error(name.place, message);
                if list.len() - before > 1 {
                    problem.hint(
                        "a filter with `fields` counts once more for requests, and once more for responses",
                    );
                }
            }
        }
        list
    }

    /// Whether there are filters that can send requests of their own: all except built-in ones.
    pub(crate) fn may_send(&self) -> bool {
        self.slots.iter().any(|(_, filter)| !matches!(filter.kind, FilterKind::Builtin(_)))
    }

    /// Warns about settings of rules for filters that none of their requests pass, and about disabled filters that no
    /// rule enables.
    pub fn advise(&self, listeners: &[ListenerConfig], has_rules: bool, report: &mut ProblemReport) {
        for named in &self.named {
            let serves = |listener: &&ListenerConfig| matches!(&listener.serve, Serve::Routes(tables) if tables.contains(&named.table));
            let mut serving = listeners.iter().filter(serves).peekable();
            // A table without a listener has a warning of its own.
            if serving.peek().is_some() && !serving.any(|listener| listener.filters.contains(&named.filter)) {
                let name = &named.name.value.0;
                report
                    .warning(named.name.place, format!("no listener of this table has the filter `{name}`"))
                    .hint("add it to the `filters` of a listener");
            }
        }
        let is_passed = |id: FilterId| listeners.iter().any(|listener| listener.filters.contains(&id));
        for (id, known) in self.declared.iter() {
            if known.policy.is_disabled && is_passed(id) && !self.enabled.contains(&id) && has_rules {
                report
                    .warning(known.place, "the filter is disabled, and no rule enables it")
                    .hint("under a rule: `filters: {NAME: {disabled: false}}`");
            }
        }
    }

    /// Returns the filters, and the names of those of eddy's own configuration.
    pub fn finish(self) -> (FilterSlots, NameRegistry<FilterId>) {
        (self.slots.finish(), self.names)
    }
}

/// Returns the directory of the configuration file.
pub(crate) fn folder_of(place: SourceSpan, sources: &[SourceText]) -> PathBuf {
    let path = sources.get(place.source as usize).map_or("", |source| &source.path);
    Path::new(path).parent().map(Path::to_path_buf).unwrap_or_default()
}
