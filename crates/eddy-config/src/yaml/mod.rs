//! Text to a tree of nodes that know where they are written; JSON is YAML too.

mod build;
mod node;
mod syntax;

pub(crate) use build::{Tree, parse};
pub(crate) use node::{Entry, Form, Node};
