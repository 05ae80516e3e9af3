//! Parses a text into a tree of nodes with source positions; JSON is accepted as a part of YAML.

mod build;
mod node;
mod peek;
mod syntax;

pub(crate) use build::{YamlTree, parse, parse_documents};
pub(crate) use node::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};
pub(crate) use peek::has_outer_key;
