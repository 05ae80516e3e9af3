//! Collects descriptor files and writes a `FileDescriptorSet`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use eddy_protobuf::{FieldWriter, Items, WireValue};

/// Descriptor files by name.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    files: BTreeMap<String, File>,
}

#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

impl Gathered {
    /// Adds a `FileDescriptorProto`; a file of the same name is kept.
    ///
    /// # Errors
    /// When the file can't be parsed, or there are too many files.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let mut name = None;
        let mut imports = Vec::new();
        let mut items = Items::new(bytes, DEPTH_MAX);
        while let Some((number, item)) = items.next().context("a descriptor file is malformed")? {
            let WireValue::Bytes(text) = item else { continue };
            match number {
                1 => name = Some(text_of(text)?),
                3 => imports.push(text_of(text)?),
                _ => {}
            }
        }
        let name = name.context("a descriptor file has no name")?;
        self.files.entry(name).or_insert_with(|| File { bytes: bytes.to_vec(), imports });
        ensure!(self.files.len() <= FILES_MAX, "there are more than {FILES_MAX} descriptor files");
        Ok(())
    }

    /// Returns an imported file that is missing.
    pub(super) fn missing(&self) -> Option<&str> {
        let mut imports = self.files.values().flat_map(|file| &file.imports);
        imports.find(|import| !self.files.contains_key(*import)).map(String::as_str)
    }

    /// Returns the `FileDescriptorSet`, with each file after its imports.
    pub(super) fn into_set(self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut written = BTreeSet::new();
        // The stack grows with the depth of imports. No file is written twice, so import cycles end.
        let mut open: Vec<(&str, usize)> = Vec::new();
        for name in self.files.keys() {
            open.push((name, 0));
            while let Some((name, next)) = open.pop() {
                let Some(file) = self.files.get(name).filter(|_| !written.contains(name)) else {
                    continue;
                };
                let mut imports = file.imports.iter().enumerate().skip(next);
                let is_open = |import: &str| open.iter().any(|(name, _)| *name == import);
                let wanted =
                    imports.find(|(_, import)| !written.contains(import.as_str()) && !is_open(import));
                if let Some((at, import)) = wanted {
                    open.push((name, at + 1));
                    open.push((import, 0));
                } else {
                    FieldWriter::new(&mut out).bytes(1, &file.bytes);
                    written.insert(name);
                }
            }
        }
        out
    }
}

fn text_of(bytes: &[u8]) -> Result<String> {
    Ok(std::str::from_utf8(bytes).context("the name of a descriptor file is not UTF-8")?.to_owned())
}

/// Maximum files of a server.
const FILES_MAX: usize = 10_000;
/// Depth limit for groups, which descriptor files don't use.
const DEPTH_MAX: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, imports: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut fields = FieldWriter::new(&mut bytes);
        fields.bytes(1, name.as_bytes());
        imports.iter().for_each(|import| fields.bytes(3, import.as_bytes()));
        bytes
    }

    fn names(set: &[u8]) -> Vec<String> {
        let mut items = Items::new(set, DEPTH_MAX);
        std::iter::from_fn(|| items.next().unwrap())
            .map(|(_, item)| {
                let WireValue::Bytes(file) = item else { panic!("{item:?}") };
                let mut items = Items::new(file, DEPTH_MAX);
                let Some((1, WireValue::Bytes(name))) = items.next().unwrap() else { panic!("{file:?}") };
                text_of(name).unwrap()
            })
            .collect()
    }

    #[test]
    fn files_come_after_their_imports() {
        let mut gathered = Gathered::default();
        for (name, imports) in [("a", &["c", "b"][..]), ("b", &["d"]), ("c", &["d", "b"])] {
            gathered.add(&file(name, imports)).unwrap();
        }
        assert_eq!(gathered.missing(), Some("d"));
        gathered.add(&file("d", &[])).unwrap();
        assert_eq!(gathered.missing(), None);
        assert_eq!(names(&gathered.into_set()), ["d", "b", "c", "a"]);
    }

    #[test]
    fn import_cycles_terminate() {
        let mut gathered = Gathered::default();
        gathered.add(&file("a", &["b"])).unwrap();
        gathered.add(&file("b", &["a"])).unwrap();
        gathered.add(&file("b", &[])).unwrap();
        assert_eq!(names(&gathered.into_set()), ["b", "a"]);
        assert!(Gathered::default().add(b"\x12\x01a").is_err());
        assert!(Gathered::default().add(b"\x0a\x05a").is_err());
    }
}
