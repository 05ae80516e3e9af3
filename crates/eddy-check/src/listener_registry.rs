//! Names and addresses of listeners.

use std::collections::HashMap;

use eddy_config::ListenAddress;
use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};

use super::acme::Orders;
use super::names::format_position;

/// Names and addresses in use, and certificates that are ordered.
#[derive(Debug)]
pub struct ListenerRegistry<'s> {
    sources: &'s [SourceText],
    /// Certificates that are ordered.
    pub orders: Orders,
    names: HashMap<Shared<str>, SourceSpan>,
    addresses: HashMap<ListenAddress, SourceSpan>,
}

impl<'s> ListenerRegistry<'s> {
    /// Creates an empty registry.
    pub fn new(sources: &'s [SourceText]) -> Self {
        Self { sources, orders: Orders::default(), names: HashMap::new(), addresses: HashMap::new() }
    }

    /// Registers an address; reports an error if another listener already has it.
    pub fn take_address(&mut self, address: &ListenAddress, place: SourceSpan, report: &mut ProblemReport) {
        let is_free = matches!(address, ListenAddress::Tcp(address) | ListenAddress::Udp(address) if address.port() == 0);
        if is_free {
            return;
        }
        if let Some(first) = self.addresses.insert(address.clone(), place) {
            let first = format_position(first, place, self.sources);
            report.error(place, format!("another listener already has the address `{address}`, in {first}"));
        }
    }

    /// Registers a name; reports an error if another listener already has it.
    pub(super) fn take_name(&mut self, name: &Shared<str>, place: SourceSpan, report: &mut ProblemReport) {
        if let Some(first) = self.names.insert(Shared::clone(name), place) {
            let first = format_position(first, place, self.sources);
            report.error(place, format!("another listener already has the name `{name}`, in {first}"));
        }
    }
}
