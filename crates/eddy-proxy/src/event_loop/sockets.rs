//! Assignment of listening sockets to workers.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use eddy_config::{ListenAddress, ListenerConfig};
use eddy_io::{DatagramListener, StreamListener, duplicate};

use crate::error::ProxyError;

/// Listening sockets by address; each has its own accept queue.
///
/// Worker `i` of `n` accepts from the sockets `i`, `i + n`, `i + 2n` and so on, so that every socket is served for any
/// number of workers. When there are fewer sockets than workers, workers share sockets.
#[derive(Debug, Default)]
pub struct Sockets {
    /// At least one socket for each address that has any.
    pub by_address: HashMap<ListenAddress, Vec<OwnedFd>>,
}

impl Sockets {
    /// Returns the sockets for `listeners`, with sockets from `new` and, where `new` has none, from `self`.
    ///
    /// # Errors
    /// When a required listener has no socket or a descriptor cannot be duplicated.
    pub(crate) fn succeed(&self, listeners: &[ListenerConfig], mut new: Self) -> Result<Self, ProxyError> {
        let mut sockets = Self::default();
        for ListenerConfig { address, is_required, .. } in listeners {
            let own = match new.by_address.remove(address) {
                Some(own) => own,
                None if !is_required && !self.by_address.contains_key(address) => continue,
                None => self.copies(address)?,
            };
            if own.is_empty() {
                return Err(ProxyError::SocketMissing { address: address.clone() });
            }
            sockets.by_address.insert(address.clone(), own);
        }
        Ok(sockets)
    }

    /// Returns the sockets of `address` that are assigned to worker `index` of `workers`, registered with the current
    /// event loop.
    ///
    /// # Errors
    /// When a descriptor cannot be duplicated or registered.
    pub(crate) fn listeners(
        &self,
        address: &ListenAddress,
        index: usize,
        workers: usize,
    ) -> Result<Vec<StreamListener>, ProxyError> {
        self.registered(address, index, workers, |socket| match address {
            ListenAddress::Unix(_) => StreamListener::unix(socket),
            ListenAddress::Tcp(_) | ListenAddress::Udp(_) => StreamListener::tcp(socket),
        })
    }

    /// As [`Self::listeners`], for an address that receives datagrams.
    pub(crate) fn datagram_listeners(
        &self,
        address: &ListenAddress,
        index: usize,
        workers: usize,
    ) -> Result<Vec<Rc<DatagramListener>>, ProxyError> {
        self.registered(address, index, workers, |socket| DatagramListener::new(socket).map(Rc::new))
    }

    fn registered<T>(
        &self,
        address: &ListenAddress,
        index: usize,
        workers: usize,
        register: impl Fn(OwnedFd) -> io::Result<T>,
    ) -> Result<Vec<T>, ProxyError> {
        let sockets = self.by_address.get(address).map(Vec::as_slice).unwrap_or_default();
        let own = sockets.iter().enumerate().filter(|(at, _)| {
            if sockets.len() < workers { index % sockets.len() == *at } else { at % workers == index }
        });
        own.map(|(_, socket)| register(duplicate(socket)?))
            .collect::<Result<_, _>>()
            .map_err(|source| ProxyError::Socket { address: address.clone(), source })
    }

    /// Returns duplicates of the sockets of `address`.
    ///
    /// # Errors
    /// When the address has no socket or a descriptor cannot be duplicated.
    pub(crate) fn copies(&self, address: &ListenAddress) -> Result<Vec<OwnedFd>, ProxyError> {
        let known = self.by_address.get(address);
        let known = known.ok_or_else(|| ProxyError::SocketMissing { address: address.clone() })?;
        known
            .iter()
            .map(duplicate)
            .collect::<Result<_, _>>()
            .map_err(|source| ProxyError::Socket { address: address.clone(), source })
    }
}
