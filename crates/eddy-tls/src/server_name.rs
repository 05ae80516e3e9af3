//! Server names as rustls wants them.

use rustls::pki_types::ServerName;

/// Whether a certificate can be issued for a name: a host or an address.
pub fn is_server_name(name: &str) -> bool {
    server_name(name).is_some()
}

pub(crate) fn server_name(name: &str) -> Option<ServerName<'static>> {
    let name = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    ServerName::try_from(name.to_owned()).ok()
}
