//! NGINX's configuration language.
//!
//! A text becomes words (`word`), words become directives (`tree`), and files are inserted in place of their `include`
//! (`include`). `catalogue` lists the support of every directive in eddy; the module of its block interprets it.

mod block;
mod catalogue;
mod constants;
mod declare;
mod denial;
mod guard;
mod harmless;
mod include;
mod listen;
mod listener_tls;
mod location;
mod map;
mod name_servers;
mod page;
mod program;
mod proxy;
mod reader;
mod resolver;
mod scope;
mod server;
mod server_tls;
mod tree;
mod upstream;
mod upstream_group;
mod upstream_tls;
mod value;
mod whole;
mod word;

pub(crate) use catalogue::Use;
pub(crate) use include::{includes, is_nginx};
pub use include::{is_pattern, matches_pattern};
pub use page::directives_page;
pub(crate) use reader::{NginxOutput, Targets};
pub(crate) use tree::{Directive, NginxWord};
pub(crate) use whole::read_generated;
pub(crate) use whole::{Nginx, included, read_nginx};
