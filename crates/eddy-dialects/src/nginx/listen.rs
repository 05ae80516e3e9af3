//! `listen`: addresses, and the default server of each.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use eddy_config::ListenAddress;

use super::reader::NginxReader;
use super::tree::NginxWord;

/// One `listen` of a server.
#[derive(Clone, Debug)]
pub(super) struct Listen {
    pub(super) address: ListenAddress,
    pub(super) is_default: bool,
    /// Whether the address uses TLS; one `listen` with that parameter is enough.
    pub(super) is_tls: bool,
    /// Whether clients may use HTTP/2 at the address; one `listen` with that parameter is enough.
    pub(super) has_http2: bool,
}

impl NginxReader<'_, '_> {
    /// Reads a `listen`: an address, or one for each port of a range.
    pub(super) fn listen(&mut self, arguments: &[NginxWord]) -> Vec<Listen> {
        let [address, parameters @ ..] = arguments else { return Vec::new() };
        let Some(addresses) = parse_ports(&address.text) else {
            let wanted = format!(
                "an address such as `8080`, `127.0.0.1:8080`, `[::]:80`, `8000-8010` (at most {PORTS_MAX} ports) or \
                 `unix:/run/eddy.sock`"
            );
            self.misfit::<()>(address, &wanted);
            return Vec::new();
        };
        let (mut is_default, mut is_tls, mut has_http2) = (false, false, false);
        for parameter in parameters {
            let name = parameter.text.split('=').next().unwrap_or_default();
            match name {
                "default_server" | "default" => is_default = true,
                "ssl" => is_tls = true,
                "quic" => {
                    let message = "eddy does not support `quic` for a listener";
                    let hint = "leave it out: clients then use HTTP/2 or HTTP/1.1 over TLS";
                    self.refuse(parameter.place, message, hint);
                }
                "proxy_protocol" => {
                    let message = "eddy does not support `proxy_protocol` for a listener of an nginx.conf";
                    let hint =
                        "use this file as a table of an eddy.yaml, whose listeners support `proxy_protocol`";
                    self.refuse(parameter.place, message, hint);
                }
                "http3" | "spdy" => {
                    self.report.warning(parameter.place, "eddy supports HTTP/1.1 and HTTP/2 for clients");
                }
                "http2" => has_http2 = true,
                "reuseport" | "backlog" | "rcvbuf" | "sndbuf" | "deferred" | "bind" | "ipv6only"
                | "so_keepalive" | "fastopen" | "accept_filter" | "setfib" | "multipath" => {}
                _ => {
                    self.misfit::<()>(parameter, "a parameter of `listen` such as `default_server`");
                }
            }
        }
        let listen = |address| Listen { address, is_default, is_tls, has_http2 };
        addresses.into_iter().map(listen).collect()
    }
}

/// Parses the addresses of a `listen`, whose port may be a range such as `8000-8010`.
fn parse_ports(text: &str) -> Option<Vec<ListenAddress>> {
    if let Some(address) = parse_listen(text) {
        return Some(vec![address]);
    }
    let (host, ports) = match text.rsplit_once(':') {
        Some((host, ports)) => (Some(host), ports),
        None => (None, text),
    };
    let (first, last) = ports.split_once('-')?;
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    if last < first || last - first >= PORTS_MAX {
        return None;
    }
    let one = |port: u16| {
        let text = host.map_or_else(|| port.to_string(), |host| format!("{host}:{port}"));
        // What looks like a port may be the end of an IPv6 address.
        parse_listen(&text)
            .filter(|listen| matches!(listen, ListenAddress::Tcp(address) if address.port() == port))
    };
    (first..=last).map(one).collect()
}

/// Maximum number of ports in a range: each is a listener of every worker.
const PORTS_MAX: u16 = 256;

/// Parses an address: a port, an IP address, or both; `*` is any address.
fn parse_listen(text: &str) -> Option<ListenAddress> {
    if let Some(path) = text.strip_prefix("unix:") {
        return (!path.is_empty()).then(|| ListenAddress::Unix(path.into()));
    }
    let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let tcp = |ip: IpAddr, port: u16| (port > 0).then(|| ListenAddress::Tcp(SocketAddr::new(ip, port)));
    if let Ok(port) = text.parse::<u16>() {
        return tcp(any, port);
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return tcp(address.ip(), address.port());
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return tcp(ip, 80);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "80"));
    let ip = match host {
        "*" => any,
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => return None,
    };
    tcp(ip, port.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{parse_listen, parse_ports};

    #[test]
    fn ports_may_be_a_range() {
        let shown = |text: &str| {
            let addresses = parse_ports(text)?;
            Some(addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        for (text, expected) in [
            ("8000-8002", "0.0.0.0:8000 0.0.0.0:8001 0.0.0.0:8002"),
            ("127.0.0.1:81-82", "127.0.0.1:81 127.0.0.1:82"),
            ("[::1]:81-81", "[::1]:81"),
            ("*:65535-65535", "0.0.0.0:65535"),
            ("8080", "0.0.0.0:8080"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(parse_ports("1-256").map(|ports| ports.len()), Some(256));
        for text in ["8002-8001", "0-2", "1-257", "1-65535", "65535-65536", "a-b", "1-", "-1", "::1-2"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn parts_of_an_address_are_optional() {
        let shown = |text: &str| parse_listen(text).map(|address| address.to_string());
        for (text, expected) in [
            ("8080", "0.0.0.0:8080"),
            ("*:81", "0.0.0.0:81"),
            ("127.0.0.1", "127.0.0.1:80"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::]:80", "[::]:80"),
            ("[::1]", "[::1]:80"),
            ("localhost:1", "127.0.0.1:1"),
            ("unix:/run/x", "unix:/run/x"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["0", "www.example.com", "1.2.3.4:x", "unix:", "70000"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
