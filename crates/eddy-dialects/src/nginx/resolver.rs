//! `resolver`: its name servers and their settings.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use eddy_model::AddressFamilies;
use eddy_spec::problem::shown;

use super::name_servers::NameServers;
use super::reader::NginxReader;
use super::tree::NginxWord;
use super::value::parse_time;

impl NginxReader<'_, '_> {
    /// Reads a `resolver`.
    pub(super) fn name_servers(&mut self, words: &[NginxWord]) -> Option<NameServers> {
        let mut servers = Vec::new();
        let (mut valid, mut has_v4, mut has_v6) = (None, true, true);
        for word in words {
            match word.text.split_once('=') {
                None => servers.extend(self.name_server(word)),
                Some(("valid", time)) => {
                    valid = parse_time(time).filter(|time| !time.is_zero());
                    if valid.is_none() {
                        self.misfit::<()>(word, "a time such as `valid=30s`");
                    }
                }
                Some(("ipv4", "off")) => has_v4 = false,
                Some(("ipv6", "off")) => has_v6 = false,
                Some(("ipv4" | "ipv6", "on")) | Some(("status_zone", _)) => {}
                Some(_) => {
                    self.misfit::<()>(word, "a parameter of `resolver` such as `valid=30s` or `ipv6=off`");
                }
            }
        }
        let families = match (has_v4, has_v6) {
            (true, true) => AddressFamilies::Both,
            (true, false) => AddressFamilies::V4,
            (false, true) => AddressFamilies::V6,
            (false, false) => return self.misfit(words.first()?, "valid: both address families are off"),
        };
        let timeout = Duration::from_secs(30);
        (!servers.is_empty()).then_some(NameServers { servers, valid, families, timeout })
    }

    fn name_server(&mut self, word: &NginxWord) -> Option<SocketAddr> {
        let text = word.text.as_str();
        let address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let address =
            text.parse().ok().or_else(|| Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, 53)));
        if address.is_none() {
            let message = format!("the name server `{}` is not an IP address", shown(text));
            self.refuse(word.place, message, "write its address, as in `resolver 10.96.0.10;`");
        }
        address
    }
}
