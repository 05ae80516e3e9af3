//! The keys of session tickets, which outlive a reload.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::server::ProducesTickets;

/// The keys under which clients carry their sessions, by what they may be used for.
///
/// A ticket also says whom the client was shown to be. So it holds only where clients are checked in the same way as where
/// it was given out: each listener and each set of authorities has keys of its own (RFC 8446 §4.6.1). Keys change every
/// six hours and are forgotten after twelve.
#[derive(Debug, Default)]
pub struct TicketKeys {
    keys: HashMap<String, Arc<dyn ProducesTickets>>,
}

impl TicketKeys {
    /// The keys for this use: those that were used for it before, or new ones.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn take(&mut self, usage: &str) -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        if let Some(keys) = self.keys.get(usage) {
            return Ok(Arc::clone(keys));
        }
        let keys = Ticketer::new()?;
        self.keys.insert(usage.to_owned(), Arc::clone(&keys));
        Ok(keys)
    }

    /// Forgets the keys of all other uses.
    pub fn keep(&mut self, is_used: impl Fn(&str) -> bool) {
        self.keys.retain(|usage, _| is_used(usage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_as_long_as_their_use() {
        let mut keys = TicketKeys::default();
        let first = keys.take("a").unwrap();
        assert!(Arc::ptr_eq(&first, &keys.take("a").unwrap()));
        assert!(!Arc::ptr_eq(&first, &keys.take("b").unwrap()));
        keys.keep(|usage| usage == "b");
        assert!(!Arc::ptr_eq(&first, &keys.take("a").unwrap()));
    }
}
