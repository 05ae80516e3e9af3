//! One DNS lookup of a name: both address families, and the reason of a failure.

use std::net::IpAddr;
use std::time::Duration;

use eddy_model::DnsConfig;
use hickory_resolver::TokioResolver;
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RecordType;

/// Result of a lookup, by address family.
#[derive(Clone, Debug)]
pub(crate) struct AddressLookup {
    pub(crate) v4: Result<AddressRecords, LookupFault>,
    pub(crate) v6: Result<AddressRecords, LookupFault>,
}

/// Addresses of one family; empty when the name exists without any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AddressRecords {
    pub(crate) addresses: Vec<IpAddr>,
    /// Minimum TTL of the records, CNAME records included.
    pub(crate) ttl: Duration,
}

/// Reason of a failed lookup.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum LookupFault {
    /// NXDOMAIN.
    #[error("the name does not exist (NXDOMAIN)")]
    NoName,
    /// The name exists, but has no address of either family.
    #[error("the name has no addresses")]
    NoAddress,
    /// No response in time.
    #[error("no response within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// SERVFAIL, REFUSED and the like.
    #[error("the name server responded with {0}")]
    Refused(ResponseCode),
    /// The name server is unreachable, or its response is invalid.
    #[error("the lookup failed: {0}")]
    Broken(NetError),
}

/// Looks up the wanted families concurrently, within the configured timeout.
pub(crate) async fn look_up(client: &TokioResolver, host: &str, dns: &DnsConfig) -> AddressLookup {
    let timeout = dns.timeout;
    let family = |kind, is_wanted: bool| async move {
        if !is_wanted {
            return Ok(AddressRecords::default());
        }
        match tokio::time::timeout(timeout, client.lookup(host, kind)).await {
            Ok(Ok(lookup)) => Ok(records(&lookup)),
            Ok(Err(error)) => fault(error, timeout),
            Err(_elapsed) => Err(LookupFault::Timeout(timeout)),
        }
    };
    let wanted = dns.families;
    let (v4, v6) =
        tokio::join!(family(RecordType::A, wanted.has_v4()), family(RecordType::AAAA, wanted.has_v6()));
    AddressLookup { v4, v6 }
}

fn records(lookup: &Lookup) -> AddressRecords {
    let ttl = lookup.answers().iter().map(|record| record.ttl).min().unwrap_or(0);
    AddressRecords {
        addresses: lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect(),
        ttl: Duration::from_secs(ttl.into()),
    }
}

fn fault(error: NetError, timeout: Duration) -> Result<AddressRecords, LookupFault> {
    if matches!(error, NetError::Timeout) {
        return Err(LookupFault::Timeout(timeout));
    }
    let (code, ttl) = if let NetError::Dns(DnsError::NoRecordsFound(nothing)) = &error {
        (nothing.response_code, nothing.negative_ttl.unwrap_or(0))
    } else if let NetError::Dns(DnsError::ResponseCode(code)) = &error {
        (*code, 0)
    } else {
        return Err(LookupFault::Broken(error));
    };
    if code == ResponseCode::NoError {
        return Ok(AddressRecords { addresses: Vec::new(), ttl: Duration::from_secs(ttl.into()) });
    }
    Err(if code == ResponseCode::NXDomain { LookupFault::NoName } else { LookupFault::Refused(code) })
}
