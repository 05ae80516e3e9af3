//! `upstream`: endpoints and balancing.

use std::time::Duration;

use eddy_model::{Balance, EjectionConfig, EndpointConfig};
use eddy_route::nginx::UpstreamScheme;
use eddy_spec::problem::shown;
use eddy_spec::read::FromScalar as _;
use eddy_spec::value::EndpointAddressText;

use super::block;
use super::name_servers::NameServers;
use super::reader::NginxReader;
use super::tree::{Directive, NginxWord};
use super::upstream_group::{BackupSupport, UpstreamGroup};
use super::value::parse_time;

impl NginxReader<'_, '_> {
    /// Reads a group and keeps it.
    pub(super) fn upstream(&mut self, directive: &Directive) {
        let [name] = directive.arguments.as_slice() else { return };
        let mut group = UpstreamGroup::new(&name.text);
        let block = directive.block.as_deref().unwrap_or_default();
        for directive in block {
            if !self.accepts(directive, block::UPSTREAM) {
                continue;
            }
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("server", [address, parameters @ ..]) => self.endpoint(address, parameters, &mut group),
                ("least_conn", []) => {
                    group.set_method(Balance::LeastRequest, directive, BackupSupport::Allowed)
                }
                ("random", how) => group.set_method(self.random(how), directive, BackupSupport::Refused),
                ("ip_hash", []) => {
                    group.set_method(Balance::ClientAddress, directive, BackupSupport::Refused)
                }
                ("hash", [key, how @ ..]) => self.hash(key, how, directive, &mut group),
                ("keepalive", [number, ..]) => {
                    let idle = self.number(number, 1, 1_000_000).and_then(|idle| u32::try_from(idle).ok());
                    group.pool.idle_max = idle.unwrap_or(group.pool.idle_max);
                }
                ("keepalive_requests", [number]) => {
                    let requests = self.number(number, 1, 1_000_000_000);
                    group.pool.requests_max = requests.unwrap_or_default();
                }
                ("keepalive_timeout", [time]) => {
                    group.pool.idle_timeout = self.time(time).unwrap_or(group.pool.idle_timeout);
                }
                _ => {}
            }
        }
        let is_resolved =
            |directive: &Directive| directive.arguments.iter().any(|word| word.text == "resolve");
        if block.iter().any(is_resolved) {
            group.resolver = self.group_resolver(block);
        }
        // Without a `zone`, each worker of NGINX counts for itself; there is one worker unless more are configured.
        let is_shared = !self.has_workers || block.iter().any(|directive| directive.name.text == "zone");
        for endpoint in group.endpoints.iter_mut().filter(|endpoint| endpoint.terms.active_max.is_some()) {
            endpoint.terms.is_active_max_shared = is_shared;
        }
        self.check_group(name, &group);
        if self.groups.insert(name.text.to_ascii_lowercase(), group).is_some() {
            self.report.error(name.place, format!("the upstream `{}` is already defined", shown(&name.text)));
        }
    }

    /// Returns the name servers that the directives of a group name, or those of `http`.
    pub(super) fn group_resolver(&mut self, block: &[Directive]) -> Option<NameServers> {
        let find = |name: &str| block.iter().find(|directive| directive.name.text == name);
        let own = find("resolver").and_then(|directive| self.name_servers(&directive.arguments));
        let timeout = find("resolver_timeout").and_then(|directive| directive.arguments.first());
        let timeout = timeout.and_then(|word| self.time(word));
        let servers = own.or_else(|| self.resolver.clone())?;
        Some(match timeout {
            Some(timeout) => servers.within(timeout),
            None => servers,
        })
    }

    /// Reports groups with which NGINX would not start.
    fn check_group(&mut self, name: &NginxWord, group: &UpstreamGroup) {
        if self.report.has_errors() {
            return;
        }
        let has_first = group.endpoints.iter().any(|endpoint| endpoint.terms.tier == 0);
        if !has_first {
            let message = format!("the upstream `{}` has only backup servers", shown(&name.text));
            self.report.error(name.place, message).hint("add `server host:port;`");
        }
        let is_without_backup = group.method.filter(|(_, backup)| *backup == BackupSupport::Refused);
        if let Some((place, _)) = is_without_backup
            && group.endpoints.iter().any(|endpoint| endpoint.terms.tier > 0)
        {
            self.report
                .error(place, "`backup` can't be combined with this balancing method")
                .hint("use `least_conn`, or leave `backup` out");
        }
    }

    fn endpoint(&mut self, address: &NginxWord, parameters: &[NginxWord], group: &mut UpstreamGroup) {
        let Ok(EndpointAddressText(parsed)) =
            EndpointAddressText::parse(&with_port(&address.text, UpstreamScheme::Http.port()))
        else {
            self.misfit::<()>(address, "an endpoint such as `10.0.0.1:8080` or `unix:/run/app.sock`");
            return;
        };
        let mut endpoint = EndpointConfig::new(parsed);
        let mut ejection = group.ejection;
        for parameter in parameters {
            let (name, value) = parameter.text.split_once('=').unwrap_or((&parameter.text, ""));
            let value = NginxWord { text: value.to_owned(), place: parameter.place };
            match name {
                "weight" => endpoint.weight = self.count(&value, 1, 1000).unwrap_or(1),
                "max_fails" => ejection.failures = self.count(&value, 0, 1000).unwrap_or(1),
                "fail_timeout" => {
                    if let Some(time) = parse_time(&value.text) {
                        // NGINX counts in seconds, including the one that has begun.
                        let time = time.max(Duration::from_secs(1));
                        ejection =
                            EjectionConfig { base_time: time, time_max: time, memory: time, ..ejection };
                    } else {
                        self.misfit::<()>(&value, "a time such as `10s`");
                    }
                }
                "max_conns" => {
                    endpoint.terms.active_max = self.count(&value, 0, 1_000_000).filter(|most| *most > 0);
                }
                "down" => endpoint.terms.is_down = true,
                "backup" => endpoint.terms.tier = 1,
                // Names are always resolved again when their records expire.
                "resolve" => {}
                "route" | "service" | "slow_start" | "drain" => {
                    let message = format!("eddy does not support `{name}` for an endpoint");
                    self.refuse(parameter.place, message, "leave it out");
                }
                _ => {
                    self.misfit::<()>(parameter, "a parameter such as `weight=2`, `max_fails=3` or `down`");
                }
            }
        }
        endpoint.terms.ejection = (ejection != group.ejection).then_some(ejection);
        endpoint.terms.label = Some(address.text.as_str().into());
        group.endpoints.push(endpoint);
    }

    fn count(&mut self, word: &NginxWord, least: u64, most: u64) -> Option<u32> {
        self.number(word, least, most).and_then(|number| u32::try_from(number).ok())
    }

    fn hash(&mut self, key: &NginxWord, how: &[NginxWord], directive: &Directive, group: &mut UpstreamGroup) {
        let balance = match how {
            [] => Balance::Hash,
            [word] if word.text == "consistent" => Balance::Ring,
            [word, ..] => self.misfit(word, "`consistent`").unwrap_or(Balance::Hash),
        };
        group.key = self.text(key);
        group.set_method(balance, directive, BackupSupport::Refused);
    }

    fn random(&mut self, how: &[NginxWord]) -> Balance {
        match how {
            [two, rest @ ..] if two.text == "two" => {
                if let Some(method) = rest.first().filter(|method| method.text != "least_conn") {
                    self.refuse(
                        method.place,
                        format!("eddy does not support `{}`", shown(&method.text)),
                        "write `random two least_conn`",
                    );
                }
                Balance::LeastRequest
            }
            [other, ..] => self.misfit(other, "`two`").unwrap_or(Balance::Random),
            [] => Balance::Random,
        }
    }
}

/// Returns an address with this port if it has none.
pub(super) fn with_port(address: &str, port: &str) -> String {
    let has_port = address.starts_with("unix:")
        || match address.rsplit_once(':') {
            Some((host, port)) => !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()),
            None => false,
        };
    if has_port { address.to_owned() } else { format!("{address}:{port}") }
}
