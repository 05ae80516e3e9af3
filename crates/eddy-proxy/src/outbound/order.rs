//! A filter's request, checked and kept until it is answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use eddy_filter::{Handle, HostError, Outbound};
use eddy_http::{FieldEdits, Method};
use tokio::sync::Notify;

/// Most requests of filters under way in the whole gateway.
const ORDERS_MAX: usize = 4096;
/// Most bytes of a request.
const ORDER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Time until an answer must be there where the filter does not say, milliseconds.
const TIMEOUT_DEFAULT_MS: u32 = 5000;

/// A request of a filter, on its way.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) filter: u32,
    pub(crate) token: u64,
    pub(crate) exchange: Option<Handle>,
    pub(crate) cluster: Box<str>,
    pub(crate) method: Method,
    pub(crate) method_name: Box<[u8]>,
    pub(crate) target: Box<[u8]>,
    pub(crate) authority: Box<[u8]>,
    pub(crate) edits: FieldEdits,
    pub(crate) body: Box<[u8]>,
    pub(crate) timeout_ms: u32,
    /// Woken when the filter gives it up.
    pub(crate) given_up: Arc<Notify>,
}

/// The requests that are under way.
///
/// Its lock is held to insert, find or remove one entry.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    known: Mutex<HashMap<(u32, u64), Arc<Notify>>>,
}

impl Order {
    /// Checks and copies what a filter asks for.
    ///
    /// # Errors
    /// [`HostError::Invalid`] or [`HostError::TooLarge`].
    pub(crate) fn check(request: &Outbound<'_>) -> Result<Self, HostError> {
        let mut edits = FieldEdits::new();
        let mut bytes = request.body.len() + request.target.len() + request.authority.len();
        for (name, value) in &request.fields {
            bytes += name.len() + value.len();
            let text = |bytes| std::str::from_utf8(bytes).map_err(|_| HostError::Invalid);
            edits.add(text(name)?, text(value)?).map_err(|_| HostError::Invalid)?;
        }
        if bytes > ORDER_BYTES_MAX {
            return Err(HostError::TooLarge);
        }
        let method = Method::from_bytes(request.method);
        let is_visible = |text: &[u8]| text.iter().all(|byte| (0x21..0x7f).contains(byte));
        let is_sane = !matches!(method, Method::Connect | Method::Trace)
            && !request.method.is_empty()
            && is_visible(request.method)
            && request.target.starts_with(b"/")
            && is_visible(request.target)
            && is_visible(request.authority);
        if !is_sane {
            return Err(HostError::Invalid);
        }
        let authority =
            if request.authority.is_empty() { request.cluster.as_bytes() } else { request.authority };
        Ok(Self {
            filter: request.filter,
            token: request.token,
            exchange: request.exchange,
            cluster: request.cluster.into(),
            method,
            method_name: request.method.into(),
            target: request.target.into(),
            authority: authority.into(),
            edits,
            body: request.body.into(),
            timeout_ms: if request.timeout_ms == 0 { TIMEOUT_DEFAULT_MS } else { request.timeout_ms },
            given_up: Arc::default(),
        })
    }

    /// How many bytes it holds.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.target.len()
    }
}

impl Orders {
    /// Takes an order on.
    ///
    /// # Errors
    /// [`HostError::Full`]; [`HostError::Invalid`] when the filter has one with this token under way.
    pub(crate) fn begin(&self, order: &Order) -> Result<(), HostError> {
        let mut known = self.lock();
        if known.len() >= ORDERS_MAX {
            return Err(HostError::Full);
        }
        if known.contains_key(&(order.filter, order.token)) {
            return Err(HostError::Invalid);
        }
        known.insert((order.filter, order.token), Arc::clone(&order.given_up));
        Ok(())
    }

    /// Ends an order; whether nobody has ended it before. Who ends it tells of the end, and nobody else does.
    pub(crate) fn end(&self, filter: u32, token: u64) -> bool {
        let ended = self.lock().remove(&(filter, token));
        if let Some(given_up) = &ended {
            given_up.notify_one();
        }
        ended.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u32, u64), Arc<Notify>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound<'a>(target: &'a [u8], fields: Vec<(&'a [u8], &'a [u8])>) -> Outbound<'a> {
        Outbound {
            filter: 1,
            token: 2,
            exchange: None,
            cluster: "c",
            method: b"GET",
            target,
            authority: b"",
            fields,
            body: b"",
            timeout_ms: 0,
        }
    }

    #[test]
    fn what_could_be_read_otherwise_is_refused() {
        for target in [&b""[..], b"a", b"/ a", b"/\r\nHost: b"] {
            assert_eq!(Order::check(&outbound(target, Vec::new())).err(), Some(HostError::Invalid));
        }
        for (name, value) in
            [(&b"a"[..], &b"b\r\nc"[..]), (b"host", b"a"), (b"content-length", b"1"), (b"", b"")]
        {
            assert_eq!(Order::check(&outbound(b"/", vec![(name, value)])).err(), Some(HostError::Invalid));
        }
        let mut connect = outbound(b"/", Vec::new());
        connect.method = b"CONNECT";
        assert_eq!(Order::check(&connect).err(), Some(HostError::Invalid));
        let large = vec![0; ORDER_BYTES_MAX + 1];
        let mut post = outbound(b"/", Vec::new());
        post.body = &large;
        assert_eq!(Order::check(&post).err(), Some(HostError::TooLarge));
        let order = Order::check(&outbound(b"/a?b", vec![(b"x-a", b"1")])).unwrap();
        assert_eq!((&*order.authority, order.timeout_ms), (&b"c"[..], 5000));
    }

    #[test]
    fn an_order_ends_once() {
        let orders = Orders::default();
        let order = Order::check(&outbound(b"/", Vec::new())).unwrap();
        orders.begin(&order).unwrap();
        assert_eq!(orders.begin(&order), Err(HostError::Invalid));
        assert!(orders.end(1, 2));
        assert!(!orders.end(1, 2));
        orders.begin(&order).unwrap();
    }
}
