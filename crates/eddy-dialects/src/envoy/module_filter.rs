//! HTTP filters of dynamic modules, and their settings for routes.

use base64ct::{Base64, Encoding};
use eddy_check::json_of;
use eddy_config::{DynamicModuleConfig, DynamicModuleSource, RuleFilterConfig};
use eddy_ids::FilterId;
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::reader::{EnvoyReader, entry, text};
use super::shape::type_of;

/// HTTP filter of a connection manager that eddy runs.
#[derive(Debug)]
pub(super) enum HttpFilter {
    /// Translation of gRPC-Web calls.
    GrpcWeb,
    /// Filter of a dynamic module.
    Module(ModuleFilter),
}

/// Filter of a dynamic module.
#[derive(Debug)]
pub(super) struct ModuleFilter {
    /// Name of its entry among the HTTP filters.
    pub(super) entry: String,
    pub(super) module: DynamicModuleConfig,
    /// Configuration that the module receives.
    pub(super) config: String,
}

/// Filter of a dynamic module that the requests of a route configuration pass.
#[derive(Clone, Debug)]
pub(super) struct ModuleInChain {
    /// Name of its entry among the HTTP filters.
    pub(super) entry: String,
    pub(super) filter: FilterId,
    pub(super) module: DynamicModuleConfig,
}

impl EnvoyReader<'_> {
    /// Reads a filter of a dynamic module.
    pub(super) fn module_filter(&mut self, node: &YamlNode<'_>, name: &str) -> Option<ModuleFilter> {
        if self.is_true(node, "terminal_filter") {
            let place = self.get(node, "terminal_filter").map_or(node.place, |node| node.place);
            self.report
                .error(place, "eddy does not support dynamic modules as terminal filters")
                .hint("a filter before the router can send a response of its own");
        }
        let filter = self.text(node, "filter_name").unwrap_or_default().to_owned();
        let Some(config) = self.get(node, "dynamic_module_config") else {
            self.report.error(node.place, "the filter has no `dynamic_module_config`");
            return None;
        };
        let module = self.module(config, filter)?;
        let config = self.module_config(node)?;
        Some(ModuleFilter { entry: name.to_owned(), module, config })
    }

    /// Reads the place of a module. A library is never closed, and a filter's metrics have no other namespace.
    fn module(&mut self, node: &YamlNode<'_>, filter: String) -> Option<DynamicModuleConfig> {
        self.pass(node, &["do_not_close", "metrics_namespace", "nack_on_cache_miss"]);
        let is_global = self.is_true(node, "load_globally");
        let name = self.text(node, "name").filter(|name| !name.is_empty()).map(str::to_owned);
        let local = self.get(node, "module").and_then(|module| self.get(module, "local"));
        let file = local.and_then(|local| self.text(local, "filename")).map(str::to_owned);
        let source = match (file, name) {
            (Some(file), _) => DynamicModuleSource::File(file.into()),
            (None, Some(name)) => DynamicModuleSource::Name(name),
            (None, None) => {
                self.report
                    .error(node.place, "the dynamic module has neither a `name` nor a local file")
                    .hint("write `name: NAME` for the library libNAME.so, or `module: {local: {filename: FILE}}`");
                return None;
            }
        };
        Some(DynamicModuleConfig { module: source, filter, is_global })
    }

    /// Reads the configuration that a module receives: a text, bytes that are a text, or JSON.
    fn module_config(&mut self, node: &YamlNode<'_>) -> Option<String> {
        let Some(config) = self.get(node, "filter_config") else { return Some(String::new()) };
        let kind = type_of(config);
        self.mark_all_read(config);
        let value = entry(config, "value").map(|entry| &entry.value);
        let plain = value.and_then(text).unwrap_or_default();
        match kind {
            Some("google.protobuf.StringValue") => Some(plain.to_owned()),
            Some("google.protobuf.Struct") => {
                Some(value.map_or_else(|| "{}".to_owned(), |value| json_of(value, self.report)))
            }
            Some("google.protobuf.BytesValue") => {
                let bytes = Base64::decode_vec(plain).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                if bytes.is_none() {
                    let message = "the `BytesValue` is not UTF-8 text in base64, which eddy needs";
                    self.report.error(config.place, message);
                }
                bytes
            }
            kind => {
                let message = format!(
                    "`{}` is not supported as the configuration of a dynamic module",
                    shown(kind.unwrap_or("a configuration without `@type`"))
                );
                self.report
                    .error(config.place, message)
                    .hint("write a google.protobuf.StringValue, BytesValue or Struct");
                None
            }
        }
    }

    /// Reads the settings of a route, or of what surrounds it, for filters of dynamic modules.
    pub(super) fn module_settings(
        &mut self,
        node: &YamlNode<'_>,
        modules: &[ModuleInChain],
    ) -> Vec<RuleFilterConfig> {
        let Some(found) = entry(node, PER_ROUTE) else { return Vec::new() };
        let YamlNodeKind::Mapping { entries, .. } = &found.value.form else { return Vec::new() };
        let mut settings = Vec::new();
        for entry in entries {
            let module = modules.iter().find(|module| module.entry == entry.key.text);
            let Some(module) = module else { continue };
            settings.extend(self.module_setting(&entry.value, module));
            self.pass(&found.value, &[&entry.key.text]);
            self.mark_all_read(&entry.value);
        }
        settings
    }

    fn module_setting(&mut self, node: &YamlNode<'_>, module: &ModuleInChain) -> Option<RuleFilterConfig> {
        let setting = RuleFilterConfig {
            filter: module.filter,
            is_disabled: None,
            config: None,
            builtin: None,
            lua: None,
        };
        match type_of(node) {
            Some(FILTER_CONFIG) if self.is_true(node, "disabled") => {
                Some(RuleFilterConfig { is_disabled: Some(true), ..setting })
            }
            Some(FILTER_CONFIG) => {
                let config = self.get(node, "config")?;
                self.module_setting(config, module)
            }
            Some(PER_ROUTE_MODULE) => {
                self.check_same_module(node, module);
                let config = self.module_config(node)?;
                Some(RuleFilterConfig { config: Some(config.into()), ..setting })
            }
            kind => {
                self.refuse_setting(node.place, kind.unwrap_or("settings without `@type`"), &module.entry);
                None
            }
        }
    }

    /// Reports settings that belong to another module or filter: eddy passes them to the filter of the listener.
    fn check_same_module(&mut self, node: &YamlNode<'_>, module: &ModuleInChain) {
        let filter = self.text(node, "filter_name").or_else(|| self.text(node, "per_route_config_name"));
        let filter = filter.filter(|name| !name.is_empty()).unwrap_or(&module.module.filter).to_owned();
        let own = self.get(node, "dynamic_module_config").and_then(|own| self.module(own, filter.clone()));
        let is_same = own.is_none_or(|own| own.module == module.module.module);
        if !is_same || filter != module.module.filter {
            let message = format!(
                "the settings are for another filter than that of `{}` in the listener",
                shown(&module.entry)
            );
            self.report.error(node.place, message).hint("name the same module and the same filter");
        }
    }

    fn refuse_setting(&mut self, place: SourceSpan, kind: &str, name: &str) {
        let message = format!("`{}` is not supported for the dynamic module `{}`", shown(kind), shown(name));
        self.report.error(place, message).hint(format!("write a {PER_ROUTE_MODULE}"));
    }
}

/// Message of a filter of a dynamic module.
pub(super) const MODULE_FILTER: &str = "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter";
/// Message of its settings for a route.
const PER_ROUTE_MODULE: &str = "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute";
/// Wrapper of the settings of a filter for a route.
pub(super) const FILTER_CONFIG: &str = "envoy.config.route.v3.FilterConfig";
/// Field with the settings of filters for a route.
pub(super) const PER_ROUTE: &str = "typed_per_filter_config";
