//! `upstream`: endpoints and how one is chosen.

use std::time::Duration;

use eddy_upstream::{Balance, EjectionConfig, EndpointConfig, PoolConfig};

use super::block;
use super::reader::Reader;
use super::tree::{Directive, Word};
use super::value::parse_time;
use crate::problem::shown;
use crate::read::Word as _;
use crate::value::Endpoint;

/// A group of endpoints.
#[derive(Clone, Debug)]
pub(super) struct UpstreamGroup {
    pub(super) name: String,
    pub(super) endpoints: Vec<EndpointConfig>,
    pub(super) balance: Balance,
    pub(super) pool: PoolConfig,
    pub(super) ejection: EjectionConfig,
    pub(super) links_max: Option<u32>,
}

impl UpstreamGroup {
    /// A group without endpoints, with the defaults of NGINX.
    pub(super) fn new(name: &str) -> Self {
        let base_time = Duration::from_secs(10);
        Self {
            name: name.to_owned(),
            endpoints: Vec::new(),
            balance: Balance::RoundRobin,
            pool: PoolConfig { idle_timeout: Duration::from_secs(60), ..PoolConfig::default() },
            ejection: EjectionConfig { failures: 1, base_time, time_max: base_time, percent_max: 100 },
            links_max: None,
        }
    }
}

impl Reader<'_> {
    /// Reads a group and keeps it.
    pub(super) fn upstream(&mut self, directive: &Directive) {
        let [name] = directive.arguments.as_slice() else { return };
        let mut group = UpstreamGroup::new(&name.text);
        for directive in directive.block.as_deref().unwrap_or_default() {
            if !self.accepts(directive, block::UPSTREAM) {
                continue;
            }
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("server", [address, parameters @ ..]) => self.endpoint(address, parameters, &mut group),
                ("least_conn", []) => group.balance = Balance::LeastRequest,
                ("random", how) => group.balance = self.random(how),
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
        if group.endpoints.is_empty() && !self.report.has_errors() {
            let message = format!("the upstream `{}` has no server that is up", shown(&name.text));
            self.report.error(name.place, message).hint("add `server host:port;`");
        }
        if self.groups.insert(name.text.to_ascii_lowercase(), group).is_some() {
            self.report.error(name.place, format!("there is an upstream `{}` already", shown(&name.text)));
        }
    }

    fn endpoint(&mut self, address: &Word, parameters: &[Word], group: &mut UpstreamGroup) {
        let mut endpoint = match Endpoint::parse(&with_port(&address.text)) {
            Ok(Endpoint(endpoint)) => EndpointConfig { address: endpoint, weight: 1 },
            Err(_) => {
                self.misfit::<()>(address, "an endpoint such as `10.0.0.1:8080` or `unix:/run/app.sock`");
                return;
            }
        };
        let mut is_down = false;
        for parameter in parameters {
            let (name, value) = parameter.text.split_once('=').unwrap_or((&parameter.text, ""));
            let value = Word { text: value.to_owned(), place: parameter.place };
            match name {
                "weight" => {
                    let weight = self.number(&value, 1, 1000).and_then(|weight| u32::try_from(weight).ok());
                    endpoint.weight = weight.unwrap_or(1);
                }
                "max_fails" => {
                    let fails = self.number(&value, 0, 1000).and_then(|fails| u32::try_from(fails).ok());
                    group.ejection.failures = fails.unwrap_or(1);
                }
                "fail_timeout" => {
                    if let Some(time) = parse_time(&value.text).filter(|time| !time.is_zero()) {
                        group.ejection.base_time = time;
                        group.ejection.time_max = time;
                    } else {
                        self.misfit::<()>(&value, "a time such as `10s`");
                    }
                }
                "max_conns" => {
                    let links = self.number(&value, 0, 1_000_000).and_then(|links| u32::try_from(links).ok());
                    group.links_max = links.filter(|links| *links > 0);
                }
                "down" => is_down = true,
                "backup" | "resolve" | "route" | "service" | "slow_start" | "drain" => {
                    let message = format!("eddy does not have `{name}` for an endpoint");
                    self.refuse(parameter.place, message, "leave it out".to_owned());
                    // An endpoint that was not to be asked at first is better not asked at all.
                    is_down |= name == "backup";
                }
                _ => {
                    self.misfit::<()>(parameter, "a parameter such as `weight=2`, `max_fails=3` or `down`");
                }
            }
        }
        if !is_down {
            group.endpoints.push(endpoint);
        }
    }

    fn random(&mut self, how: &[Word]) -> Balance {
        match how {
            [two, rest @ ..] if two.text == "two" => {
                if let Some(method) = rest.first().filter(|method| method.text != "least_conn") {
                    self.refuse(
                        method.place,
                        format!("eddy does not have `{}`", shown(&method.text)),
                        "write `random two least_conn`".to_owned(),
                    );
                }
                Balance::LeastRequest
            }
            [other, ..] => self.misfit(other, "`two`").unwrap_or(Balance::Random),
            [] => Balance::Random,
        }
    }
}

/// An address with the port 80 where it names none.
pub(super) fn with_port(address: &str) -> String {
    let has_port = address.starts_with("unix:")
        || match address.rsplit_once(':') {
            Some((host, port)) => !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()),
            None => false,
        };
    if has_port { address.to_owned() } else { format!("{address}:80") }
}
