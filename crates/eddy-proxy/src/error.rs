//! Errors of starting the gateway or reloading its configuration.

use std::io;

use eddy_config::ListenAddress;
use eddy_filter::ChainTooLong;
use eddy_ids::Shared;
use eddy_route::RouteError;

/// Error that keeps a listener's filters from forming a chain.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadChain {
    /// The chain has too many filters.
    #[error(transparent)]
    TooLong(#[from] ChainTooLong),
    /// A configured filter was not prepared.
    #[error("a configured filter was not loaded")]
    Missing,
}

/// Error that kept a gateway from starting, or made it keep its old plan.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The rules of a listener cannot be compiled.
    #[error("the routes of listener \"{listener}\" do not compile: {}", first_of(errors))]
    Routes {
        /// The listener.
        listener: Shared<str>,
        /// Every problem found.
        errors: Vec<RouteError>,
    },
    /// The filters of a listener cannot form a chain.
    #[error("the filters of listener \"{listener}\" cannot form a chain")]
    Filters {
        /// The listener.
        listener: Shared<str>,
        /// The cause.
        #[source]
        source: BadChain,
    },
    /// A listener uses TLS, but no TLS settings were prepared for it.
    #[error("no TLS certificates were loaded for listener \"{listener}\"")]
    TlsMissing {
        /// The listener.
        listener: Shared<str>,
    },
    /// The endpoints of a cluster are reached over TLS, but no TLS settings were prepared for it.
    #[error("no TLS settings for cluster \"{cluster}\"")]
    ClusterTlsMissing {
        /// The cluster.
        cluster: Shared<str>,
    },
    /// No listening socket was given for an address.
    #[error("no listening socket was given for \"{address}\"")]
    SocketMissing {
        /// The address.
        address: ListenAddress,
    },
    /// A socket could not be duplicated or registered.
    #[error("the listening socket of \"{address}\" cannot be used")]
    Socket {
        /// The address.
        address: ListenAddress,
        /// Error from the kernel.
        #[source]
        source: io::Error,
    },
    /// A worker's thread or event loop could not be started.
    #[error("worker {index} cannot be started")]
    Worker {
        /// The worker.
        index: usize,
        /// Error from the kernel.
        #[source]
        source: io::Error,
    },
    /// The control thread or its event loop could not be started.
    #[error("the control thread cannot be started")]
    Control(#[source] io::Error),
    /// Name resolution is not available.
    #[error(transparent)]
    Resolver(#[from] eddy_upstream::resolve::ResolveError),
    /// A worker did not take over the plan in time; it may be stuck.
    #[error("worker {index} does not respond; it keeps the old configuration until it does")]
    WorkerSilent {
        /// The worker.
        index: usize,
    },
}

fn first_of(errors: &[RouteError]) -> String {
    errors.first().map(ToString::to_string).unwrap_or_default()
}
