//! Text to a tree of nodes that know where they are written; JSON is YAML too.

mod build;
mod node;
mod peek;
mod syntax;

pub(crate) use build::{YamlTree, parse, parse_documents};
pub(crate) use node::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};
pub(crate) use peek::has_outer_key;
