//! Configuration keys of a cluster.

use eddy_model::{Balance, LinkProtocol};

use super::tls::ClusterTlsSpec;
use crate::read::{Either, Spanned};
use crate::value::{
    BoundedText, ByteSize, ConfigName, EndpointAddressText, FieldName, HostAndPort, Number, ParameterName,
    PathText, Time,
};

mapping! {
    /// A cluster: endpoints that serve the same thing, and how requests are balanced over them.
    ClusterSpec as "a cluster" {
        /// Endpoints of the cluster; at least one. A host name stands for all of its addresses and is resolved again
        /// when its DNS records expire.
        required endpoints: Vec<Spanned<Either<EndpointAddressText, EndpointSpec>>>, example "[127.0.0.1:9000, 'users.internal:80']";
        /// Protocol of upstream connections. Over TLS, `http2` and `auto` are negotiated in the handshake (ALPN). In
        /// cleartext, endpoints must support HTTP/2 with prior knowledge.
        optional protocol: LinkProtocol, default "http1", example "http2";
        /// Load balancing algorithm.
        optional balance: Balance, default "round_robin", example "least_request";
        /// Request key for `hash`, `ring` and `maglev`. Requests without the key go to the endpoints in turn.
        optional key: BalanceKeySpec, otherwise "no key", example "{header: x-user}";
        /// Over-provisioning factor, with priorities or zones: the endpoints of one priority, or of eddy's own zone in
        /// it, take all requests as long as their available fraction times this percentage is at least 100. With 140,
        /// other endpoints get requests when less than 71 % are available; with 100, as soon as one is missing.
        optional overprovision_percent: Number<100, 100_000>, default "140", example "100";
        /// Slow start: period in which an endpoint that was added or became healthy again gets less than its share, a
        /// tenth at first and then increasingly more. Balancing by a key ignores it.
        optional slow_start: Time<1, 3_600_000>, otherwise "an endpoint gets its full share at once", example "30s";
        /// Maximum time to establish an upstream connection.
        optional connect_timeout: Time<1, 600_000>, default "5s", example "1s";
        /// Maximum wait for the first byte of a response after the request was sent. Beyond it the response is 504.
        optional first_byte_timeout: Time<1, 86_400_000>, default "60s", example "10s";
        /// Maximum time without data from the endpoint during a response.
        optional read_idle_timeout: Time<1, 86_400_000>, default "60s", example "30s";
        /// Limits of the pool of idle upstream connections.
        optional pool: PoolSpec, otherwise "its defaults", example "{idle: 32}";
        /// Limits of HTTP/2 connections to endpoints.
        optional http2: UpstreamHttp2Spec, otherwise "its defaults", example "{streams: 200}";
        /// Maximum upstream connections from one worker to one endpoint, idle and active. An HTTP/2 connection carries
        /// up to `http2.streams` concurrent requests. Beyond the limit, a request waits for an HTTP/1.1 connection for
        /// at most `connect_timeout`.
        optional connections_per_endpoint: Number<1, 1_000_000>, default "1024", example "256";
        /// When failing endpoints are ejected.
        optional ejection: EjectionSpec, otherwise "its defaults", example "{failures: 3}";
        /// Retry budget: limits retries in relation to requests.
        optional retry_budget: RetryBudgetSpec, otherwise "its defaults", example "{percent: 10}";
        /// Limits of concurrent use of the cluster, by all workers together. Requests beyond them are answered 503;
        /// they are not queued.
        optional limits: LimitsSpec, otherwise "no limit", example "{requests: 1000}";
        /// DNS resolution of endpoint names.
        optional dns: DnsSpec, otherwise "its defaults", example "{refresh_max: 1m}";
        /// Active health checks, with or without traffic; `{}` only connects to the endpoints.
        optional health: HealthSpec, otherwise "only failed requests count, see `ejection`", example "{http: {path: /healthz}}";
        /// TLS to the endpoints; `{}` uses the defaults.
        optional tls: ClusterTlsSpec, otherwise "cleartext", example "{authorities: internal.pem}";
    }
}

mapping! {
    /// Request key for load balancing.
    BalanceKeySpec as "a balancing key" {
        /// First value of this request header.
        optional header: FieldName, example "x-user";
        /// Value of this cookie.
        optional cookie: ParameterName, example "session";
        /// Client address: `true`.
        optional address: bool, example "true";
        /// Path as it is sent to the endpoint, without the query: `true`.
        optional path: bool, example "true";
        group One of header cookie address path;
    }
}

mapping! {
    /// An endpoint with a weight.
    EndpointSpec as "an endpoint" {
        /// Address of the endpoint: an IP address and port, a host name and port, or a Unix socket.
        required address: EndpointAddressText, example "127.0.0.1:9000";
        /// Share of the requests relative to the other endpoints.
        optional weight: Number<1, 1000>, default "1", example "3";
        /// Priority group. Endpoints of priority 0 are used first; those of the next priority take over as earlier ones
        /// fail, see `overprovision_percent`.
        optional priority: Number<0, 15>, default "0", example "1";
        /// Zone of the endpoint.
        optional zone: ConfigName, otherwise "the endpoint counts as local", example "eu-1b";
    }
}

mapping! {
    /// Limits of the pool of idle upstream connections that a worker keeps for an endpoint.
    PoolSpec as "pool" {
        /// Maximum idle connections that one worker keeps for an endpoint; `0` for none. A connection above the limit
        /// is closed when it has not been used for a second, so that the next burst can reuse the connections of the
        /// previous one.
        optional idle: Number<0, 1_000_000>, default "128", example "32";
        /// Maximum time for which an idle connection is kept. It should be less than the endpoint's own keep-alive
        /// timeout.
        optional idle_timeout: Time<1, 86_400_000>, default "50s", example "20s";
        /// Maximum requests on one connection before it is closed; `0` for no limit.
        optional requests: Number<0, 1_000_000_000>, default "0", example "10000";
    }
}

mapping! {
    /// Limits of HTTP/2 connections to endpoints.
    UpstreamHttp2Spec as "http2 of a cluster" {
        /// Maximum concurrent requests per connection, if the endpoint allows as many.
        optional streams: Number<1, 1000>, default "100", example "200";
        /// Initial flow-control window of a response body: so much of it may arrive before the client takes it.
        optional stream_window: ByteSize<16_384, 16_777_216>, default "64KiB", example "256KiB";
        /// Limit to which the window of a response grows while a faster path to the endpoint is measured (its
        /// bandwidth-delay product). The windows of a connection grow by at most twice this together. With the value of
        /// `stream_window` they do not grow.
        optional stream_window_max: ByteSize<16_384, 67_108_864>, default "16MiB", example "4MiB";
    }
}

mapping! {
    /// Ejection (outlier detection): an endpoint that fails several times in a row is left out for a while.
    EjectionSpec as "ejection" {
        /// Consecutive failures (connect errors, resets, 502, 503 and 504) after which an endpoint is ejected; `0`
        /// turns ejection off.
        optional failures: Number<0, 1000>, default "5", example "3";
        /// Duration of the first ejection. Each further ejection lasts one `base_time` longer.
        optional base_time: Time<1, 3_600_000>, default "10s", example "5s";
        /// Maximum duration of an ejection.
        optional time_max: Time<1, 86_400_000>, default "300s", example "1m";
        /// Maximum percentage of endpoints that are ejected at once. One endpoint always stays.
        optional percent_max: Number<0, 100>, default "50", example "30";
    }
}

mapping! {
    /// Active health checks: endpoints are probed, and unhealthy ones are left out until they are healthy again.
    ///
    /// The first response of an endpoint decides by itself. Each endpoint is probed once for the whole process, not by
    /// each worker.
    HealthSpec as "health" {
        /// HTTP probe.
        optional http: HttpProbeSpec, otherwise "an endpoint that accepts connections is healthy", example "{path: /healthz}";
        /// gRPC probe: calls the standard gRPC health service (`grpc.health.v1.Health`) over HTTP/2. An endpoint that
        /// responds `SERVING` is healthy. The cluster must have `protocol: http2` or `auto`.
        optional grpc: GrpcProbeSpec, otherwise "an endpoint that accepts connections is healthy", example "{service: library.v1.Library}";
        /// Time from a response to the next probe, with a jitter of a tenth.
        optional interval: Time<100, 3_600_000>, default "10s", example "5s";
        /// Maximum wait for a response, including the time to connect.
        optional timeout: Time<1, 600_000>, default "2s", example "500ms";
        /// Consecutive good responses after which an endpoint gets requests again.
        optional healthy: Number<1, 1000>, default "2", example "1";
        /// Consecutive failed probes after which an endpoint is left out.
        optional unhealthy: Number<1, 1000>, default "3", example "2";
        /// Panic threshold: if fewer than this percentage of the endpoints are healthy, all of them are used, because
        /// the checks are then more likely to be wrong.
        optional panic_percent: Number<0, 100>, default "50", example "30";
        group NoneOrOne of http grpc;
    }
}

mapping! {
    /// HTTP probe: a GET request whose response status decides whether the endpoint is healthy.
    HttpProbeSpec as "an HTTP probe" {
        /// Path of the GET request.
        required path: PathText, example "/healthz";
        /// Value of the `Host` header.
        optional host: HostAndPort, otherwise "the name or address of the endpoint", example "users.internal";
        /// Response statuses of a healthy endpoint.
        optional statuses: Vec<Spanned<Number<200, 599>>>, default "[200]", example "[200, 204]";
    }
}

mapping! {
    /// gRPC probe: a call of the standard gRPC health service.
    GrpcProbeSpec as "a gRPC probe" {
        /// Service whose health is queried.
        optional service: BoundedText<256>, otherwise "the server as a whole", example "library.v1.Library";
        /// Host of the call (`:authority`).
        optional host: HostAndPort, otherwise "the name or address of the endpoint", example "users.internal";
    }
}

mapping! {
    /// Retry budget: limits retries in relation to first attempts, so that retries never multiply the load.
    RetryBudgetSpec as "retry_budget" {
        /// Retries in percent of the requests of the last ten seconds.
        optional percent: Number<0, 100>, default "20", example "10";
        /// Retries per second that are allowed however few requests there are.
        optional floor: Number<0, 1_000_000>, default "10", example "1";
    }
}

mapping! {
    /// Limits of concurrent use of a cluster, counted for all workers together.
    LimitsSpec as "limits of a cluster" {
        /// Maximum connections to all endpoints: idle, active and being established. When the limit is reached, idle
        /// connections are closed to make room for new ones.
        optional connections: Number<1, 1_000_000>, otherwise "no limit", example "200";
        /// Maximum concurrent requests at endpoints, including tunnels and forwarded TCP connections.
        optional requests: Number<1, 1_000_000>, otherwise "no limit", example "1000";
        /// Maximum requests that wait for a connection to be established.
        optional pending: Number<1, 1_000_000>, otherwise "no limit", example "100";
        /// Maximum concurrent retries. Beyond it, the first response or failure is final.
        optional retries: Number<0, 1_000_000>, otherwise "as many as `retry_budget` allows", example "10";
        group OneOrMore of connections requests pending retries;
    }
}

mapping! {
    /// DNS resolution of endpoint names.
    DnsSpec as "dns" {
        /// Minimum time between two lookups of a name, regardless of the TTL of its records.
        optional refresh_min: Time<100, 3_600_000>, default "1s", example "5s";
        /// Maximum time between two lookups of a name.
        optional refresh_max: Time<100, 86_400_000>, default "300s", example "1m";
        /// Maximum time of a lookup.
        optional timeout: Time<10, 60_000>, default "5s", example "2s";
        /// Time for which the last good answer is used while lookups fail.
        optional stale_max: Time<0, 604_800_000>, default "1h", example "10m";
    }
}
