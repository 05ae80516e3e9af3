//! Reports the state of this process to the service manager (systemd).
//!
//! # Spec
//! sd_notify(3): datagrams of `NAME=value` lines to the socket named by `NOTIFY_SOCKET`.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Connection to the service manager, if there is one.
#[derive(Debug)]
pub(crate) struct Notifier {
    manager: Option<(UnixDatagram, SocketAddr)>,
}

impl Notifier {
    /// Connects to the address in `NOTIFY_SOCKET`; without a reachable manager all reports are skipped.
    pub(crate) fn new(socket: Option<OsString>) -> Self {
        Self { manager: socket.as_deref().and_then(connect) }
    }

    /// Reports that the gateway serves, and that this process is the main process.
    pub(crate) fn ready(&self) {
        self.tell(&format!("READY=1\nMAINPID={}\nSTATUS=serving\n", std::process::id()));
    }

    /// Reports that the configuration is being reloaded.
    pub(crate) fn reloading(&self) {
        let now_us = eddy_io::monotonic_ms() * 1000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={now_us}\nSTATUS=reloading\n"));
    }

    /// Reports that the gateway drains.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=draining\n");
    }

    fn tell(&self, text: &str) {
        if let Some((socket, address)) = &self.manager {
            // A manager that does not listen must not impair the service.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }
}

fn connect(name: &OsStr) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(abstract_name) => SocketAddr::from_abstract_name(abstract_name).ok()?,
        None => SocketAddr::from_pathname(name).ok()?,
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_manager_is_notified_of_readiness() {
        let path = std::env::temp_dir().join(format!("eddy-notify-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let manager = UnixDatagram::bind(&path).unwrap();
        Notifier::new(Some(path.clone().into())).ready();
        let mut text = [0; 256];
        let length = manager.recv(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text[..length]);
        assert!(text.starts_with(&format!("READY=1\nMAINPID={}\n", std::process::id())), "{text}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_missing_service_manager_is_not_an_error() {
        Notifier::new(None).ready();
        Notifier::new(Some("/nonexistent/socket".into())).stopping();
    }
}
