//! Session ticket keys, which are kept across reloads.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::server::ProducesTickets;

/// Session ticket keys by their use.
///
/// A ticket also contains the client's verified identity, so it must only be accepted where clients are verified in the
/// same way: each listener and each set of authorities has its own keys (RFC 8446 §4.6.1). Keys change every six hours
/// and are dropped after twelve.
#[derive(Debug, Default)]
pub struct TicketKeys {
    keys: HashMap<String, Arc<dyn ProducesTickets>>,
}

impl TicketKeys {
    /// Returns the keys for this use; creates them at first.
    ///
    /// # Errors
    /// When the system provides no random numbers.
    pub fn take(&mut self, usage: &str) -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        if let Some(keys) = self.keys.get(usage) {
            return Ok(Arc::clone(keys));
        }
        let keys = Ticketer::new()?;
        self.keys.insert(usage.to_owned(), Arc::clone(&keys));
        Ok(keys)
    }

    /// Drops the keys of all other uses.
    pub fn keep(&mut self, is_used: impl Fn(&str) -> bool) {
        self.keys.retain(|usage, _| is_used(usage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_keys_are_kept_while_they_are_used() {
        let mut keys = TicketKeys::default();
        let first = keys.take("a").unwrap();
        assert!(Arc::ptr_eq(&first, &keys.take("a").unwrap()));
        assert!(!Arc::ptr_eq(&first, &keys.take("b").unwrap()));
        keys.keep(|usage| usage == "b");
        assert!(!Arc::ptr_eq(&first, &keys.take("a").unwrap()));
    }
}
