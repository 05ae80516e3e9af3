//! Tests that the documented defaults are the effective ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use eddy_config::{CertificateFiles, ClusterSlots, GatewayConfig, ListenerTlsConfig};
use eddy_dialects::check;
use eddy_ids::TableId;
use eddy_model::{ClusterConfig, ClusterTlsConfig};
use eddy_spec::problem::SourceText;
use eddy_spec::read::{FromNode, KeyGroup, KeyGroupCount, KeyInfo, MappingInfo, ValueSchema};
use eddy_spec::spec::GatewaySpec;

/// Whether defaults are written out.
#[derive(Clone, Copy, PartialEq)]
enum Defaults {
    Written,
    Left,
}

/// Writes a value of `shape` with all required keys, and with defaults if chosen; `None` when there is nothing to
/// write.
fn write(shape: &ValueSchema, key: &KeyInfo, defaults: Defaults) -> Option<String> {
    match shape {
        ValueSchema::Word(_) | ValueSchema::Any => None,
        ValueSchema::List(element) => {
            if let ValueSchema::Mapping(info) = &**element
                && info.name == "a rule"
            {
                let rules = info.groups[0].keys.iter().map(|choice| write_mapping(info, choice, defaults));
                return Some(format!("[{}]", rules.collect::<Vec<_>>().join(", ")));
            }
            write(element, key, defaults).map(|element| format!("[{element}]"))
        }
        ValueSchema::Named { value, .. } if matches!(&**value, ValueSchema::Mapping(info) if info.name == "a filter") =>
        {
            let ValueSchema::Mapping(info) = &**value else { return None };
            let filters = info.groups[0]
                .keys
                .iter()
                .enumerate()
                .map(|(number, choice)| format!("f{number}: {}", write_mapping(info, choice, defaults)));
            Some(format!("{{{}}}", filters.collect::<Vec<_>>().join(", ")))
        }
        ValueSchema::Named { value, .. } => {
            let name = match key.name {
                "routes" => "site",
                "filters" => "f0",
                // Fields of requests and of responses share one namespace.
                "response" => "answers",
                _ => "users",
            };
            write(value, key, defaults).map(|value| format!("{{{name}: {value}}}"))
        }
        ValueSchema::Either(one, other) => write(other, key, defaults).or_else(|| write(one, key, defaults)),
        ValueSchema::Mapping(info) => {
            let first = first_choice(info);
            Some(write_mapping(info, first, defaults)).filter(|text| text != "{}")
        }
    }
}

fn choices(info: &MappingInfo) -> impl Iterator<Item = &KeyGroup> {
    info.groups.iter().filter(|group| group.count == KeyGroupCount::One)
}

fn first_choice(info: &MappingInfo) -> &'static str {
    choices(info).next().map_or("", |group| group.keys[0])
}

fn write_mapping(info: &MappingInfo, choice: &str, defaults: Defaults) -> String {
    let first = first_choice(info);
    let mut parts = Vec::new();
    // A rewrite may be left out, and its path may use only names that the rule's path captures.
    let is_needed = |group: &&KeyGroup| group.count == KeyGroupCount::OneOrMore && info.name != "a rewrite";
    let needed = info.groups.iter().filter(is_needed);
    // A certificate chain needs the key that belongs to it.
    let key_of_chain = (info.name == "a certificate").then_some("key");
    let needed: Vec<&str> = needed.map(|group| group.keys[0]).chain(key_of_chain).collect();
    for key in &info.keys {
        let is_choice = choices(info).any(|group| group.keys.contains(&key.name));
        let is_wanted = if is_choice { key.name == choice } else { choice == first };
        let nested = write(&key.shape, key, defaults);
        let text = match (nested, key.default) {
            _ if !is_wanted => continue,
            // The rule's settings are for the first filter, which is not a Lua filter.
            _ if info.name == "a filter under a rule" && key.name == "lua" => continue,
            (Some(nested), _) => nested,
            (None, Some(default)) if defaults == Defaults::Written => default.to_owned(),
            (None, _) if key.is_required || is_choice || needed.contains(&key.name) => key.example.to_owned(),
            (None, _) => continue,
        };
        parts.push(format!("{}: {text}", key.name));
    }
    format!("{{{}}}", parts.join(", "))
}

fn config(defaults: Defaults) -> (String, GatewayConfig) {
    let ValueSchema::Mapping(info) = GatewaySpec::shape() else { panic!("a mapping") };
    // The examples refer to two further clusters.
    let others = "clusters: {logs: {endpoints: ['127.0.0.1:1'], protocol: http2}, users-west: {endpoints: ['127.0.0.1:2']}, users: {";
    let text = write_mapping(&info, "", defaults).replace("clusters: {users: {", others);
    match check(&[SourceText::new("all.yaml", &text)]) {
        Ok(checked) => (text, checked.config),
        Err(problems) => panic!("{text}\n{problems:?}"),
    }
}

#[test]
fn documented_defaults_are_in_effect() {
    let (written_text, mut written) = config(Defaults::Written);
    let (left_text, mut left) = config(Defaults::Left);
    for part in ["queue_delay: 500ms", "head_bytes: 64KiB", "attempts: 1", "status: 302", "refresh_min: 1s"] {
        assert!(
            written_text.contains(part) && !left_text.contains(part),
            "{part}: {written_text}\n{left_text}"
        );
    }
    written.shown = left.shown.clone();
    written.version = left.version.clone();
    // The column of a file name depends on whether defaults are written.
    for tls in
        written.listeners.iter_mut().chain(&mut left.listeners).filter_map(|listener| listener.tls.as_mut())
    {
        clear_listener_positions(tls);
    }
    written.clusters = without_columns(&written.clusters);
    left.clusters = without_columns(&left.clusters);
    // A rank is optional; no rank and rank 0 are equivalent.
    let tables: Vec<TableId> = written.tables.iter().map(|(id, _)| id).collect();
    for id in tables {
        written.tables.update(id, |table| {
            table.routes.rules.iter_mut().for_each(|rule| rule.rank = rule.rank.filter(|rank| *rank != 0));
            // Written protocols are explicit, also if they are the default.
            table.actions.iter_mut().for_each(|action| action.make_mut().upgrades.is_explicit = false);
        });
    }
    assert_eq!(format!("{written:#?}"), format!("{left:#?}"));
}

/// Returns the clusters without the columns of file names.
fn without_columns(clusters: &ClusterSlots) -> ClusterSlots {
    let last = ClusterSlots::default();
    let mut draft = last.draft();
    for cluster in clusters.values() {
        let mut cluster = ClusterConfig::clone(cluster);
        cluster.tls.iter_mut().for_each(clear_cluster_positions);
        draft.define(cluster.name.clone(), cluster).unwrap();
    }
    draft.finish()
}

fn clear_cluster_positions(tls: &mut ClusterTlsConfig) {
    tls.place.column = 0;
    tls.authorities.iter_mut().for_each(|file| file.place.column = 0);
    if let Some(own) = &mut tls.identity {
        [&mut own.chain, &mut own.key].into_iter().for_each(|file| file.place.column = 0);
    }
}

fn clear_listener_positions(tls: &mut ListenerTlsConfig) {
    let of_certificate = |files: &mut CertificateFiles| {
        let files = [&mut files.chain, &mut files.key].into_iter().chain(&mut files.ocsp);
        files.for_each(|file| file.place.column = 0);
    };
    tls.certificates.iter_mut().for_each(of_certificate);
    if let Some(clients) = &mut tls.clients {
        clients.authorities.place.column = 0;
    }
}
