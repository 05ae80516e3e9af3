//! Parses a text into a tree of nodes with source positions; JSON is accepted as a part of YAML.

mod build;
mod node;
mod peek;
mod syntax;

pub use build::{Documents, YamlTree, parse, parse_documents};
pub use node::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};
pub use peek::decide_by_outer_key;
