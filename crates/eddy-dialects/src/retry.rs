//! Retry conditions, as named by Envoy and Istio.

use eddy_config::RetryConfig;
use eddy_http::GrpcStatus;

/// Adds a retry condition; returns whether eddy supports it.
pub(super) fn add_reason(retry: &mut RetryConfig, reason: &str) -> bool {
    match reason {
        "5xx" => {
            retry.statuses.extend(500..600);
            add_no_response(retry);
        }
        "gateway-error" => {
            retry.statuses.extend([502, 503, 504]);
            add_no_response(retry);
        }
        "reset" => add_no_response(retry),
        "retriable-4xx" => retry.statuses.push(409),
        "cancelled" => retry.grpc_statuses.insert(GrpcStatus::Cancelled),
        "deadline-exceeded" => retry.grpc_statuses.insert(GrpcStatus::DeadlineExceeded),
        "internal" => retry.grpc_statuses.insert(GrpcStatus::Internal),
        "resource-exhausted" => retry.grpc_statuses.insert(GrpcStatus::ResourceExhausted),
        "unavailable" => retry.grpc_statuses.insert(GrpcStatus::Unavailable),
        // A request whose connection could not be established is always retried.
        "connect-failure" | "refused-stream" | "reset-before-request" | "http3-post-connect-failure" | "" => {
        }
        _ => return false,
    }
    true
}

/// Envoy counts an attempt that is reset and one that takes longer than `per_try_timeout` alike.
fn add_no_response(retry: &mut RetryConfig) {
    retry.on_reset = true;
    retry.on_timeout = true;
}

/// Sorts the status codes and removes duplicates.
pub(super) fn sort_statuses(retry: &mut RetryConfig) {
    retry.statuses.sort_unstable();
    retry.statuses.dedup();
}

/// Supported conditions, for messages.
pub(super) const KNOWN: &str = "5xx, gateway-error, reset, connect-failure, retriable-4xx, and for gRPC cancelled, deadline-exceeded, internal, resource-exhausted and unavailable";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_conditions_map_to_http_or_grpc_statuses() {
        let check = |reasons: &str, statuses: &[u16], codes: &[u32], on_reset| {
            let mut retry = RetryConfig::default();
            for reason in reasons.split(',') {
                assert!(add_reason(&mut retry, reason), "{reason}");
            }
            sort_statuses(&mut retry);
            let grpc: Vec<u32> = retry.grpc_statuses.iter().map(GrpcStatus::code).collect();
            assert_eq!(retry.on_timeout, retry.on_reset, "{reasons}");
            assert_eq!((&*retry.statuses, &*grpc, retry.on_reset), (statuses, codes, on_reset), "{reasons}");
        };
        check("gateway-error,retriable-4xx,gateway-error", &[409, 502, 503, 504], &[], true);
        check("unavailable,cancelled,connect-failure", &[], &[1, 14], false);
        check("deadline-exceeded,internal,resource-exhausted,reset", &[], &[4, 8, 13], true);
        for unknown in ["retriable-headers", "UNAVAILABLE", "503"] {
            assert!(!add_reason(&mut RetryConfig::default(), unknown), "{unknown}");
        }
    }
}
