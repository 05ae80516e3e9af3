//! Documents to objects: expands lists, identifies kinds, rejects duplicates.

use std::collections::{BTreeMap, HashMap};

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::{Spanned, ValueSchema, unknown_key};
use eddy_spec::value::ObjectName;
use eddy_spec::yaml::{YamlEntry, YamlNode, YamlNodeKind};

use super::metadata::{MetadataSpec, ObjectMetadata};
use super::object::{KINDS, Object, ObjectKind, Objects};
use super::value::ApiText;

/// Reads objects from the root values of documents; other kinds are skipped, with one warning per kind.
pub(crate) fn read_objects<'t>(roots: Vec<YamlNode<'t>>, report: &mut ProblemReport) -> Objects<'t> {
    let mut reader = ManifestReader {
        objects: Objects::default(),
        known: HashMap::new(),
        others: BTreeMap::new(),
        report,
    };
    for root in roots {
        if !root.is_nothing() {
            reader.document(root, 0);
        }
    }
    reader.note_others();
    reader.objects
}

struct ManifestReader<'t, 'r> {
    objects: Objects<'t>,
    /// Source position of each object, by kind, namespace and name.
    known: HashMap<ObjectIdentity, SourceSpan>,
    /// Kinds that are not read: position of the first object, and number of objects.
    others: BTreeMap<String, (SourceSpan, usize)>,
    report: &'r mut ProblemReport,
}

/// Key that identifies an object.
#[derive(PartialEq, Eq, Hash)]
struct ObjectIdentity {
    group: &'static str,
    kind: &'static str,
    name: ObjectName,
}

impl<'t> ManifestReader<'t, '_> {
    fn document(&mut self, node: YamlNode<'t>, depth: usize) {
        let YamlNodeKind::Mapping { is_whole, .. } = &node.form else {
            if !matches!(node.form, YamlNodeKind::Refused) {
                self.report.error(node.place, "expected an object with `apiVersion` and `kind`");
            }
            return;
        };
        let is_whole = *is_whole;
        let (version, kind) = (self.word(&node, "apiVersion"), self.word(&node, "kind"));
        let (Some(version), Some(kind)) = (version, kind) else {
            for key in ["apiVersion", "kind"] {
                if is_whole && node.entry(key).is_none_or(|entry| entry.value.is_nothing()) {
                    self.report.error(node.place, format!("an object needs the key `{key}`"));
                }
            }
            return;
        };
        if kind.value.ends_with("List") && node.entry("items").is_some() {
            self.list(node, depth);
            return;
        }
        let (group, version_name) = version.value.rsplit_once('/').unwrap_or(("", &version.value));
        match KINDS.iter().find(|known| known.group == group && known.name == &*kind.value) {
            Some(known) if known.versions.contains(&version_name) => self.object(node, known),
            Some(known) => self.note_version(known, &version),
            None => self.note_kind(group, &version, &kind),
        }
    }

    /// Reads the elements of a list, which may be lists themselves.
    fn list(&mut self, node: YamlNode<'t>, depth: usize) {
        let place = node.place;
        let YamlNodeKind::Mapping { entries, .. } = node.form else { return };
        let items = entries.into_iter().find(|entry| entry.key.text == "items").map(|entry| entry.value);
        match items.map(|items| items.form) {
            Some(YamlNodeKind::List(_)) if depth >= LIST_DEPTH_MAX => {
                self.report.error(
                    place,
                    format!("lists are nested too deeply: at most {LIST_DEPTH_MAX} levels are read"),
                );
            }
            Some(YamlNodeKind::List(items)) => {
                items.into_iter().for_each(|item| self.document(item, depth + 1))
            }
            Some(YamlNodeKind::Text { .. } | YamlNodeKind::Mapping { .. }) => {
                self.report.error(place, "expected a list under `items`");
            }
            Some(YamlNodeKind::Refused) | None => {}
        }
    }

    fn object(&mut self, node: YamlNode<'t>, kind: &'static ObjectKind) {
        let place = node.place;
        self.check_keys(&node, kind);
        let Some(entry) = node.entry("metadata") else {
            self.report.error(place, format!("{} needs the key `metadata`", kind.article()));
            return;
        };
        let Some(Spanned { value: spec, .. }) = Spanned::<MetadataSpec>::read(&entry.value, self.report)
        else {
            return;
        };
        let Some(metadata) = ObjectMetadata::of(spec, kind.is_namespaced, self.report) else { return };
        let key = ObjectIdentity { group: kind.group, kind: kind.name, name: metadata.full_name() };
        let object = Object { kind, metadata, node, place };
        if let Some(first) = self.known.get(&key) {
            let message = format!("{object} is already defined in line {}", first.line);
            self.report
                .objection(object.metadata.place, message)
                .hint("keep one of them: in a cluster, the later one would replace the earlier one");
            return;
        }
        if self.objects.list.len() >= OBJECTS_MAX {
            if self.objects.list.len() == OBJECTS_MAX {
                self.report.error(place, format!("too many objects: at most {OBJECTS_MAX} are read"));
            }
            return;
        }
        self.known.insert(key, object.metadata.place);
        self.objects.list.push(object);
    }

    fn check_keys(&mut self, node: &YamlNode<'t>, kind: &ObjectKind) {
        let YamlNodeKind::Mapping { entries, .. } = &node.form else { return };
        let keys: Vec<&'static str> = COMMON_KEYS.iter().chain(kind.keys).copied().collect();
        for entry in entries {
            if !keys.contains(&&*entry.key.text) {
                unknown_key(entry, &kind.article(), &keys, || &ValueSchema::Any, self.report);
            }
        }
    }

    fn note_version(&mut self, kind: &ObjectKind, written: &Spanned<Shared<str>>) {
        let version = kind.versions.first().expect("a kind has a version");
        let whole =
            if kind.group.is_empty() { (*version).to_owned() } else { format!("{}/{version}", kind.group) };
        let message = format!("the version `{}` of {} is not supported", shown(&written.value), kind.name);
        self.report.error(written.place, message).hint(format!("write `apiVersion: {whole}`"));
    }

    /// Records a kind that is not read; an error where a known kind was probably meant.
    fn note_kind(&mut self, group: &str, version: &Spanned<Shared<str>>, kind: &Spanned<Shared<str>>) {
        let of_group = |known: &&ObjectKind| known.group == group;
        let is_slip = |known: &&ObjectKind| known.name.eq_ignore_ascii_case(&kind.value);
        if let Some(meant) = KINDS.iter().filter(of_group).find(is_slip) {
            let message = format!("there is no kind `{}` in `{}`", shown(&kind.value), shown(&version.value));
            self.report.error(kind.place, message).hint(format!("did you mean `{}`?", meant.name));
            return;
        }
        let name = format!("{} ({})", shown(&kind.value), shown(&version.value));
        self.others.entry(name).or_insert((kind.place, 0)).1 += 1;
    }

    fn note_others(&mut self) {
        for (kind, (place, count)) in std::mem::take(&mut self.others) {
            let objects = if count == 1 { "object" } else { "objects" };
            let message = format!("eddy does not read {kind}: {count} {objects} ignored");
            self.report.warning(place, message);
        }
    }

    fn word(&mut self, node: &YamlNode<'t>, key: &str) -> Option<Spanned<Shared<str>>> {
        let entry: &YamlEntry<'t> = node.entry(key)?;
        if entry.value.is_nothing() {
            return None;
        }
        let Spanned { value: ApiText(value), place } = Spanned::<ApiText>::read(&entry.value, self.report)?;
        Some(Spanned { value, place })
    }
}

/// Keys that every object may have.
const COMMON_KEYS: &[&str] = &["apiVersion", "kind", "metadata", "status"];
/// Maximum nesting of lists.
const LIST_DEPTH_MAX: usize = 4;
/// Maximum number of objects in a configuration.
const OBJECTS_MAX: usize = 200_000;
