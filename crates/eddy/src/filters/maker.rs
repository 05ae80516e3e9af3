//! Creates all filters of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use eddy_builtin::{BuiltinConfig, BuiltinContext};
use eddy_config::{
    DynamicModuleConfig, FilterConfig, FilterKind, GatewayConfig, LuaConfig, LuaScriptText, RuleFilterConfig,
    Serve, WasmConfig,
};
use eddy_filter::{Filter, HostApi, LibraryKeepAlive};
use eddy_guest::{CreatedFilter, DynamicModule, Guest, NativeLibrary, ReclaimQueue};
use eddy_ids::{ActionId, BySlot, FilterId, TableId};
use eddy_proxy::{FilterSet, RuleFilter, RuleFilterKey};

use super::bundle::{library_of, name_in};
use super::dynamic_module::{file_of, scope_of};
use super::lua::Scripts;
use super::problem::{FilterProblem, RefusedConfig};
use super::quarantine::{build_placeholder, held};
use super::services::{self, ProcessServices};
use super::unbuilt::FilterFileKind;
use super::wasm::Modules;
use crate::control::Quarantined;

/// Creates filters. Used on one thread, which is not a worker and lasts as long as the process.
pub(crate) struct FilterMaker {
    /// Host that filters call.
    pub(crate) host: Arc<dyn HostApi>,
    /// Assigns a filter of this name a number that was never used before.
    pub(crate) number: Box<dyn Fn(&str) -> u32 + Send>,
    /// Queue of filter objects that no plan uses any more.
    pub(crate) reclaim_queue: ReclaimQueue,
    /// Called for each filter before it is created.
    pub(crate) observe: Box<dyn Fn(&str) + Send>,
    /// Called for each filter before its module is compiled; `observe` is called again afterwards.
    pub(crate) observe_compiling: Box<dyn Fn(&str) + Send>,
    /// Called for each problem that does not keep a filter from working.
    pub(crate) warn: Box<dyn Fn(FilterProblem) + Send>,
    /// Whether filters are created only to check that they can be.
    pub(crate) is_trial: bool,
    /// Quarantined filters, which are not created.
    pub(crate) quarantined: Vec<Quarantined>,
}

/// Filter that is ready to be used in chains.
#[derive(Clone)]
enum PreparedFilter {
    Builtin(Arc<Filter>),
    Quarantined(Arc<Filter>),
    Guest(Arc<Filter>, Arc<dyn Guest>),
}

impl PreparedFilter {
    fn filter(&self) -> &Arc<Filter> {
        match self {
            Self::Builtin(filter) | Self::Quarantined(filter) | Self::Guest(filter, _) => filter,
        }
    }

    /// Wraps a filter created by a guest.
    fn by_guest<G: Guest + 'static>(
        config: &FilterConfig,
        id: u32,
        made: CreatedFilter,
        library: Arc<G>,
    ) -> Self {
        let filter = Filter {
            name: config.name.clone().into(),
            id,
            library: library.clone(),
            number: made.number,
            info: made.info,
            policy: config.policy,
            owner: made.owner,
        };
        Self::Guest(Arc::new(filter), library)
    }
}

impl FilterMaker {
    /// Creates the filters of a configuration, all of them or none.
    ///
    /// # Errors
    /// Every filter that cannot be created.
    pub(crate) fn make(&self, config: &GatewayConfig) -> Result<FilterSet, Vec<FilterProblem>> {
        let (mut problems, mut scripts) = (Vec::new(), Scripts::default());
        let mut made = BySlot::default();
        let mut modules = Modules::new(self.is_trial);
        let held = held(config, &self.quarantined);
        for (id, filter) in config.filters.iter() {
            if held.get(id).is_some() {
                made.insert(
                    id,
                    PreparedFilter::Quarantined(build_placeholder(filter, (self.number)(&filter.name))),
                );
                continue;
            }
            (self.observe)(&filter.name);
            match self.make_one(filter, &mut scripts, &mut modules) {
                Ok(one) => {
                    made.insert(id, one);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut rules = BTreeMap::new();
        let mut with_config: BTreeMap<(TableId, FilterId), usize> = BTreeMap::new();
        for (key, rule) in rules_of(config) {
            let one = made.get(rule.filter).expect("all filters were created");
            match self.make_rule(rule, &config.filters[rule.filter], one, &mut scripts) {
                Ok(made) => rules.extend(made.map(|made| (key, made))),
                Err(mut problem) => {
                    let index = with_config.get(&(key.table, key.filter)).copied().unwrap_or(0);
                    let table = Box::from(&*config.tables[key.table].routes.name);
                    problem.config = problem.config.map(|_| Box::new(RefusedConfig::Rule { table, index }));
                    problems.push(problem);
                }
            }
            if rule.config.is_some() {
                *with_config.entry((key.table, key.filter)).or_default() += 1;
            }
        }
        problems.extend(unseen_tunnels(config, &made));
        if problems.is_empty() {
            let filters = made.iter().map(|(id, one)| (id, Arc::clone(one.filter()))).collect();
            Ok(FilterSet { filters, rules })
        } else {
            Err(problems)
        }
    }

    fn make_one(
        &self,
        filter: &FilterConfig,
        scripts: &mut Scripts,
        modules: &mut Modules,
    ) -> Result<PreparedFilter, FilterProblem> {
        let (path, name, source) = match &filter.kind {
            FilterKind::Builtin(builtin) => {
                return self.make_builtin(filter, builtin).map(PreparedFilter::Builtin);
            }
            FilterKind::Lua(lua) => {
                return self.make_lua(filter, lua, &lua.script, &filter.config, scripts);
            }
            FilterKind::Wasm(wasm) => return self.make_wasm(filter, wasm, modules),
            FilterKind::DynamicModule(module) => return self.make_dynamic(filter, module),
            FilterKind::Native { filter, library } => (library.clone(), filter, None),
            FilterKind::Go { filter: name, source } => {
                let path = library_of(source).map_err(|why| FilterProblem::new(&filter.name, why, None))?;
                (path, name, Some(source))
            }
        };
        let kind = if source.is_some() { FilterFileKind::Go } else { FilterFileKind::Native };
        let library = NativeLibrary::open(&path, &self.host)
            .map_err(|error| FilterProblem::of_file(&filter.name, &error, &path, kind))?;
        let name = match source {
            Some(source) => name_in(source, name, library.filters())
                .map_err(|why| FilterProblem::new(&filter.name, why, None))?,
            None => name.to_string(),
        };
        self.make_guest(filter, &name, &filter.config, library)
    }

    fn make_lua(
        &self,
        filter: &FilterConfig,
        config: &LuaConfig,
        script: &LuaScriptText,
        context: &str,
        scripts: &mut Scripts,
    ) -> Result<PreparedFilter, FilterProblem> {
        let script = scripts.load(&filter.name, config, script, &self.host, &self.warn)?;
        self.make_guest(filter, "", context, script)
    }

    /// Creates the filter of this name in a library.
    fn make_guest<G: Guest + 'static>(
        &self,
        filter: &FilterConfig,
        name: &str,
        config: &str,
        library: Arc<G>,
    ) -> Result<PreparedFilter, FilterProblem> {
        let id = (self.number)(&filter.name);
        let made = library
            .filter(name, config, id, &self.reclaim_queue)
            .map_err(|error| FilterProblem::of_load(&filter.name, &error))?;
        Ok(PreparedFilter::by_guest(filter, id, made, library))
    }

    fn make_dynamic(
        &self,
        filter: &FilterConfig,
        config: &DynamicModuleConfig,
    ) -> Result<PreparedFilter, FilterProblem> {
        let path = file_of(config).map_err(|why| FilterProblem::new(&filter.name, why, None))?;
        let module = DynamicModule::open(&path, scope_of(config), &self.host, self.is_trial)
            .map_err(|error| FilterProblem::of_load(&filter.name, &error))?;
        self.make_guest(filter, &config.filter, &filter.config, module)
    }

    fn make_wasm(
        &self,
        filter: &FilterConfig,
        config: &WasmConfig,
        modules: &mut Modules,
    ) -> Result<PreparedFilter, FilterProblem> {
        let failed =
            |error| FilterProblem::of_file(&filter.name, &error, &config.module, FilterFileKind::Wasm);
        (self.observe_compiling)(&filter.name);
        if let Some(library) = modules.linear(config, &self.host).map_err(failed)? {
            (self.observe)(&filter.name);
            // The module uses eddy's own ABI; the filter's name is optional if it has only one.
            let name = match &library.names()[..] {
                [only] if config.root_id.is_empty() => (*only).to_owned(),
                _ => config.root_id.clone(),
            };
            let config = if filter.config.is_empty() { "null" } else { &filter.config };
            return self.make_guest(filter, &name, config, library);
        }
        let library = modules.library(config, &self.host).map_err(failed)?;
        (self.observe)(&filter.name);
        if let Some(warning) = FilterProblem::of_imports(&filter.name, &library.unsupported_imports()) {
            (self.warn)(warning);
        }
        let id = (self.number)(&filter.name);
        let made = library
            .filter_of(&filter.name, &config.root_id, &filter.config, id, &self.reclaim_queue)
            .map_err(failed)?;
        Ok(PreparedFilter::by_guest(filter, id, made, library))
    }

    fn make_builtin(
        &self,
        filter: &FilterConfig,
        config: &BuiltinConfig,
    ) -> Result<Arc<Filter>, FilterProblem> {
        let seed = services::seed().map_err(|why| FilterProblem::new(&filter.name, why, None))?;
        let id = (self.number)(&filter.name);
        let context =
            BuiltinContext { id, host: Arc::clone(&self.host), services: Arc::new(ProcessServices), seed };
        let (library, info) = eddy_builtin::make(config, &context)
            .map_err(|error| FilterProblem::of_builtin(config.reader().unwrap_or(&filter.name), &error))?;
        Ok(Arc::new(Filter {
            name: filter.name.clone().into(),
            id,
            library,
            number: 1,
            info,
            policy: filter.policy,
            owner: LibraryKeepAlive::default(),
        }))
    }

    /// Returns the filter instance for a rule with its own configuration; `None` if the rule only enables it.
    fn make_rule(
        &self,
        rule: &RuleFilterConfig,
        config: &FilterConfig,
        made: &PreparedFilter,
        scripts: &mut Scripts,
    ) -> Result<Option<RuleFilter>, FilterProblem> {
        if let (Some(script), FilterKind::Lua(lua)) = (&rule.lua, &config.kind) {
            let context = rule.config.as_ref().unwrap_or(&config.config);
            let made = self.make_lua(config, lua, script, context, scripts)?;
            let filter = Arc::clone(made.filter());
            return Ok(Some(RuleFilter { filter, config: 0, owner: LibraryKeepAlive::default() }));
        }
        match made {
            // The filter stays quarantined, whatever its configuration in a rule.
            PreparedFilter::Quarantined(_) => Ok(None),
            PreparedFilter::Builtin(_) => {
                let Some(own) = &rule.builtin else { return Ok(None) };
                let filter = self.make_builtin(config, own)?;
                Ok(Some(RuleFilter { filter, config: 0, owner: LibraryKeepAlive::default() }))
            }
            PreparedFilter::Guest(filter, library) => {
                let Some(own) = &rule.config else { return Ok(None) };
                let (number, owner) = library
                    .rule_config(filter.number, &filter.owner, own, &self.reclaim_queue)
                    .map_err(|error| {
                        let message = format!("its configuration in a rule: {error}");
                        FilterProblem { message, hint: None, ..FilterProblem::of_load(&config.name, &error) }
                    })?;
                Ok(Some(RuleFilter { filter: Arc::clone(filter), config: number, owner }))
            }
        }
    }
}

/// Returns the filters that are meant to see the data of tunnels, of which filters see none, under rules that allow
/// tunnels expressly. Where tunnels are allowed by default only, there are none in front of these filters.
fn unseen_tunnels(config: &GatewayConfig, made: &BySlot<FilterId, PreparedFilter>) -> Vec<FilterProblem> {
    let mut problems = Vec::new();
    for listener in &config.listeners {
        let tables = if let Serve::Routes(tables) = &listener.serve { tables.as_slice() } else { &[] };
        let actions = tables.iter().flat_map(|table| {
            let table = &config.tables[*table];
            table.actions.iter().map(move |action| (&table.routes.name, action))
        });
        for (table, action) in actions {
            let Some(what) = action.upgrades.express() else { continue };
            for id in &listener.filters {
                let Some(filter) = made.get(*id).map(PreparedFilter::filter) else { continue };
                let rule = action.filters.iter().find(|rule| rule.filter == *id);
                let is_disabled = rule.and_then(|rule| rule.is_disabled).unwrap_or(filter.policy.is_disabled);
                if !filter.info.expects_tunnels || is_disabled {
                    continue;
                }
                let message = format!(
                    "a rule of the table \"{table}\" allows upgrades (`{what}`), but the filter's DecodeData and EncodeData would not be called for the data behind a 101"
                );
                let problem = FilterProblem::new(&config.filters[*id].name, message, Some(UNSEEN));
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
    }
    problems
}

/// Returns the filter settings of all rules.
fn rules_of(config: &GatewayConfig) -> impl Iterator<Item = (RuleFilterKey, &RuleFilterConfig)> {
    let tables = config.tables.iter();
    let actions = tables.flat_map(|(table, config)| {
        config.actions.iter().enumerate().map(move |(at, action)| (table, ActionId::at(at), action))
    });
    actions.flat_map(|(table, action, config)| {
        let key = move |rule: &RuleFilterConfig| RuleFilterKey { table, action, filter: rule.filter };
        config.filters.iter().map(move |rule| (key(rule), rule))
    })
}

/// Whether this process cannot load the current libraries of a configuration: it has loaded other versions of the same
/// files, or another Go runtime.
pub(crate) fn needs_new_process(config: &GatewayConfig) -> bool {
    libraries(config).iter().any(|path| eddy_guest::needs_new_process(path))
}

/// Returns the files of all libraries of a configuration, except those that cannot be determined.
pub(super) fn libraries(config: &GatewayConfig) -> BTreeSet<PathBuf> {
    config
        .filters
        .values()
        .filter_map(|filter| match &filter.kind {
            FilterKind::Builtin(_) | FilterKind::Lua(_) | FilterKind::Wasm(_) => None,
            FilterKind::Native { library, .. } => Some(library.clone()),
            FilterKind::DynamicModule(module) => file_of(module).ok(),
            FilterKind::Go { source, .. } => library_of(source).ok(),
        })
        .collect()
}

const UNSEEN: &str = "disable the filter in that rule (`filters: {NAME: {disabled: true}}`), set `upgrades: []` there, or accept that it does not see this data with \"@tunnels\": \"unseen\" in its `config`";
