//! Outbound requests of filters: validation and bookkeeping until they are answered.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use eddy_filter::{CallBond, CallLimits, FilterOutboundRequest, Handle, HostError, StreamData};
use eddy_http::{FieldEdits, Method};
use eddy_ids::Millis;
use tokio::sync::Notify;

use crate::host::upload_queue::UploadQueue;

/// Maximum number of filter requests in progress in the whole gateway.
const ORDERS_MAX: usize = 4096;
/// Maximum number of them per filter, so that other filters get their share.
const FILTER_ORDERS_MAX: u32 = 2048;
/// Maximum size of a request in bytes.
const ORDER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Timeout of a response when the filter sets none.
const TIMEOUT_DEFAULT: Millis = Millis::new(5000);

/// An outbound request of a filter.
#[derive(Debug)]
pub(crate) struct OutboundOrder {
    pub(crate) filter: u32,
    pub(crate) token: u64,
    pub(crate) exchange: Option<Handle>,
    pub(crate) bond: CallBond,
    pub(crate) cluster: Box<str>,
    pub(crate) method: Method,
    pub(crate) method_name: Box<[u8]>,
    pub(crate) target: Box<[u8]>,
    pub(crate) authority: Box<[u8]>,
    pub(crate) edits: FieldEdits,
    pub(crate) body: Box<[u8]>,
    pub(crate) timeout: Millis,
    /// Rest of the body, if the request is streamed.
    pub(crate) upload: Option<Arc<UploadQueue>>,
    /// Notified when the filter cancels the request.
    pub(crate) given_up: Arc<Notify>,
}

/// Requests in progress.
///
/// The lock is held to insert, find or remove one entry.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    book: Mutex<OrderTable>,
}

/// Requests in progress, and their number per filter and exchange.
#[derive(Debug, Default)]
struct OrderTable {
    known: HashMap<(u32, u64), OrderState>,
    filters: HashMap<u32, u32>,
    background: HashMap<u32, u32>,
    exchanges: HashMap<(u32, Handle), u32>,
}

#[derive(Debug)]
struct OrderState {
    given_up: Arc<Notify>,
    upload: Option<Arc<UploadQueue>>,
    exchange: Option<Handle>,
    is_background: bool,
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderRefusal {
    /// The filter has a request with this token in progress.
    TokenInUse,
    /// The exchange has reached its `calls_per_exchange` limit.
    Exchange,
    /// The filter has reached its `background_calls` limit of requests that no exchange waits for.
    Background,
    /// The filter has reached the limit per filter.
    Filter,
    /// The gateway has reached its limit.
    Gateway,
}

impl OutboundOrder {
    /// Validates and copies a filter's request.
    ///
    /// # Errors
    /// [`HostError::Invalid`] or [`HostError::TooLarge`].
    pub(crate) fn check(request: &FilterOutboundRequest<'_>) -> Result<Self, HostError> {
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
            bond: request.bond,
            cluster: request.cluster.into(),
            method,
            method_name: request.method.into(),
            target: request.target.into(),
            authority: authority.into(),
            edits,
            body: request.body.into(),
            timeout: if request.timeout == Millis::ZERO { TIMEOUT_DEFAULT } else { request.timeout },
            upload: None,
            given_up: Arc::default(),
        })
    }

    /// Makes the request a streamed one, whose body begins with that of the request.
    ///
    /// # Errors
    /// [`HostError::Full`] if the body is too large.
    pub(crate) fn streamed(mut self, timeout: Millis) -> Result<Self, HostError> {
        let upload = UploadQueue::default();
        upload.push(StreamData { bytes: &std::mem::take(&mut self.body), is_end: false })?;
        Ok(Self { upload: Some(Arc::new(upload)), timeout, ..self })
    }

    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.target.len()
    }
}

impl Orders {
    /// Registers an order.
    pub(crate) fn begin(&self, order: &OutboundOrder, limits: CallLimits) -> Result<(), OrderRefusal> {
        let mut book = self.lock();
        if book.known.contains_key(&(order.filter, order.token)) {
            return Err(OrderRefusal::TokenInUse);
        }
        if book.known.len() >= ORDERS_MAX {
            return Err(OrderRefusal::Gateway);
        }
        let place = order.exchange.map(|exchange| (order.filter, exchange));
        if place.is_some_and(|place| of(&book.exchanges, place) >= limits.per_exchange) {
            return Err(OrderRefusal::Exchange);
        }
        let is_background = order.bond == CallBond::Background || order.exchange.is_none();
        if is_background && of(&book.background, order.filter) >= limits.background {
            return Err(OrderRefusal::Background);
        }
        if of(&book.filters, order.filter) >= FILTER_ORDERS_MAX {
            return Err(OrderRefusal::Filter);
        }
        let known = OrderState {
            given_up: Arc::clone(&order.given_up),
            upload: order.upload.clone(),
            exchange: order.exchange,
            is_background,
        };
        book.known.insert((order.filter, order.token), known);
        add(&mut book.filters, order.filter);
        if let Some(place) = place {
            add(&mut book.exchanges, place);
        }
        if is_background {
            add(&mut book.background, order.filter);
        }
        Ok(())
    }

    /// Makes an order a background call because its exchange is over; returns whether the limit allows it.
    pub(crate) fn outlive(&self, filter: u32, token: u64, limits: CallLimits) -> bool {
        let mut book = self.lock();
        let count = of(&book.background, filter);
        // An order that has ended needs no capacity.
        let Some(known) = book.known.get_mut(&(filter, token)) else { return true };
        if known.is_background {
            return true;
        }
        if count >= limits.background {
            return false;
        }
        known.is_background = true;
        add(&mut book.background, filter);
        true
    }

    /// Ends an order; returns true for the first call only. Only the caller that ended the order reports its end to the
    /// filter.
    pub(crate) fn end(&self, filter: u32, token: u64) -> bool {
        let mut book = self.lock();
        let Some(OrderState { given_up, exchange, is_background, .. }) = book.known.remove(&(filter, token))
        else {
            return false;
        };
        take(&mut book.filters, filter);
        if let Some(exchange) = exchange {
            take(&mut book.exchanges, (filter, exchange));
        }
        if is_background {
            take(&mut book.background, filter);
        }
        drop(book);
        given_up.notify_one();
        true
    }

    /// Returns the queue for the body of a streamed order.
    pub(crate) fn upload(&self, filter: u32, token: u64) -> Option<Arc<UploadQueue>> {
        self.lock().known.get(&(filter, token))?.upload.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, OrderTable> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderRefusal {
    /// Number of reasons.
    pub(crate) const COUNT: usize = 5;

    /// Returns the error for the filter.
    pub(crate) fn error(self) -> HostError {
        match self {
            Self::TokenInUse => HostError::Invalid,
            Self::Exchange | Self::Background | Self::Filter | Self::Gateway => HostError::Full,
        }
    }
}

fn of<K: Eq + Hash>(counts: &HashMap<K, u32>, key: K) -> u32 {
    counts.get(&key).copied().unwrap_or(0)
}

fn add<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K) {
    *counts.entry(key).or_insert(0) += 1;
}

/// Decrements a count; counts of zero have no entry.
fn take<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K) {
    let Entry::Occupied(mut entry) = counts.entry(key) else { return };
    if *entry.get() > 1 {
        *entry.get_mut() -= 1;
    } else {
        entry.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound<'a>(target: &'a [u8], fields: Vec<(&'a [u8], &'a [u8])>) -> FilterOutboundRequest<'a> {
        FilterOutboundRequest {
            filter: 1,
            token: 2,
            exchange: None,
            bond: CallBond::Awaited,
            cluster: "c",
            method: b"GET",
            target,
            authority: b"",
            fields,
            body: b"",
            timeout: Millis::ZERO,
        }
    }

    #[test]
    fn ambiguous_outbound_requests_are_refused() {
        for target in [&b""[..], b"a", b"/ a", b"/\r\nHost: b"] {
            assert_eq!(OutboundOrder::check(&outbound(target, Vec::new())).err(), Some(HostError::Invalid));
        }
        for (name, value) in
            [(&b"a"[..], &b"b\r\nc"[..]), (b"host", b"a"), (b"content-length", b"1"), (b"", b"")]
        {
            assert_eq!(
                OutboundOrder::check(&outbound(b"/", vec![(name, value)])).err(),
                Some(HostError::Invalid)
            );
        }
        let mut connect = outbound(b"/", Vec::new());
        connect.method = b"CONNECT";
        assert_eq!(OutboundOrder::check(&connect).err(), Some(HostError::Invalid));
        let large = vec![0; ORDER_BYTES_MAX + 1];
        let mut post = outbound(b"/", Vec::new());
        post.body = &large;
        assert_eq!(OutboundOrder::check(&post).err(), Some(HostError::TooLarge));
        let order = OutboundOrder::check(&outbound(b"/a?b", vec![(b"x-a", b"1")])).unwrap();
        assert_eq!((&*order.authority, order.timeout), (&b"c"[..], TIMEOUT_DEFAULT));
    }

    #[test]
    fn an_outbound_request_ends_once() {
        let orders = Orders::default();
        let order = OutboundOrder::check(&outbound(b"/", Vec::new())).unwrap();
        orders.begin(&order, CallLimits::default()).unwrap();
        assert_eq!(orders.begin(&order, CallLimits::default()), Err(OrderRefusal::TokenInUse));
        assert!(orders.end(1, 2));
        assert!(!orders.end(1, 2));
        orders.begin(&order, CallLimits::default()).unwrap();
    }

    fn order(filter: u32, token: u64, exchange: Option<u64>, bond: CallBond) -> OutboundOrder {
        let exchange = exchange.map(Handle::from_number);
        OutboundOrder::check(&FilterOutboundRequest {
            filter,
            token,
            exchange,
            bond,
            ..outbound(b"/", Vec::new())
        })
        .unwrap()
    }

    #[test]
    fn calls_are_bounded_by_exchange_and_by_filter() {
        let (orders, limits) = (Orders::default(), CallLimits { per_exchange: 2, background: 3 });
        let begin =
            |filter, token, exchange, bond| orders.begin(&order(filter, token, exchange, bond), limits);
        assert_eq!(begin(1, 1, Some(7), CallBond::Awaited), Ok(()));
        assert_eq!(begin(1, 1, Some(7), CallBond::Awaited), Err(OrderRefusal::TokenInUse));
        assert_eq!(begin(1, 2, Some(7), CallBond::Background), Ok(()));
        assert_eq!(begin(1, 3, Some(7), CallBond::Awaited), Err(OrderRefusal::Exchange));
        // Another filter in the same exchange has its own limit.
        assert_eq!(begin(2, 1, Some(7), CallBond::Awaited), Ok(()));
        assert_eq!(begin(1, 3, Some(8), CallBond::Background), Ok(()));
        assert_eq!(begin(1, 4, None, CallBond::Awaited), Ok(()));
        assert_eq!(begin(1, 5, Some(9), CallBond::Background), Err(OrderRefusal::Background));
        assert_eq!(begin(1, 5, Some(9), CallBond::Lasting), Ok(()));
        // Its exchange is over, and the background limit is reached.
        assert!(!orders.outlive(1, 5, limits));
        assert!(orders.end(1, 2) && !orders.end(1, 2));
        assert!(orders.outlive(1, 5, limits) && orders.outlive(1, 5, limits));
        assert_eq!(begin(1, 6, None, CallBond::Awaited), Err(OrderRefusal::Background));
        assert_eq!(begin(1, 6, Some(7), CallBond::Awaited), Ok(()));
        for (filter, token) in [(1, 1), (2, 1), (1, 3), (1, 4), (1, 5), (1, 6)] {
            assert!(orders.end(filter, token), "{filter}/{token}");
        }
        let book = orders.lock();
        assert!(book.known.is_empty() && book.filters.is_empty(), "{book:?}");
        assert!(book.background.is_empty() && book.exchanges.is_empty(), "{book:?}");
    }

    #[test]
    fn one_filter_leaves_capacity_for_others() {
        let (orders, limits) = (Orders::default(), CallLimits { per_exchange: 16, background: 4096 });
        let begun = (0..u64::from(FILTER_ORDERS_MAX))
            .filter(|token| orders.begin(&order(1, *token, None, CallBond::Awaited), limits).is_ok());
        assert_eq!(begun.count(), FILTER_ORDERS_MAX as usize);
        assert_eq!(orders.begin(&order(1, 9999, None, CallBond::Awaited), limits), Err(OrderRefusal::Filter));
        assert_eq!(orders.begin(&order(2, 9999, None, CallBond::Awaited), limits), Ok(()));
    }
}
