//! The keys of a cluster.

use eddy_upstream::{Balance, LinkProtocol};

use super::tls::ClusterTlsSpec;
use crate::read::{Either, Spanned};
use crate::value::{
    BoundedText, ConfigName, EndpointAddressText, FieldName, HostAndPort, Number, ParameterName, PathText,
    Time,
};

mapping! {
    /// A cluster: endpoints that answer alike, and how requests are spread over them.
    ClusterSpec as "a cluster" {
        /// Where requests go; at least one. A name may stand for several addresses and is resolved again when its
        /// records expire.
        required endpoints: Vec<Spanned<Either<EndpointAddressText, EndpointSpec>>>, example "[127.0.0.1:9000, 'users.internal:80']";
        /// What endpoints are spoken to in. Over TLS `http2` and `auto` are agreed on in the handshake (ALPN); in the clear
        /// endpoints have to know it ("prior knowledge").
        optional protocol: LinkProtocol, default "http1", example "http2";
        /// How an endpoint is chosen.
        optional balance: Balance, default "round_robin", example "least_request";
        /// What of a request the balancing goes by, for `hash`, `ring` and `maglev`. A request without it goes to endpoints in turn.
        optional key: BalanceKeySpec, otherwise "there is none", example "{header: x-user}";
        /// How much endpoints can bear beside their share, where there are priorities or zones: as long as of those of one
        /// priority, and of eddy's zone, this part of the available ones is the whole, no others are asked. With 140, others get
        /// requests when less than 71 % are available; with 100, when one is not.
        optional overprovision_percent: Number<100, 100_000>, default "140", example "100";
        /// For how long an endpoint that was added, or is well again, gets less than its share: a tenth at first, and more as
        /// time goes on. Balancing by a key does without.
        optional slow_start: Time<1, 3_600_000>, otherwise "it has its whole share at once", example "30s";
        /// Longest time to establish a link.
        optional connect_timeout: Time<1, 600_000>, default "5s", example "1s";
        /// Longest wait for the first byte of a response after the request was sent. Beyond it the answer is 504.
        optional first_byte_timeout: Time<1, 86_400_000>, default "60s", example "10s";
        /// Longest silence of the endpoint in the middle of a response.
        optional read_idle_timeout: Time<1, 86_400_000>, default "60s", example "30s";
        /// Limits of the pool of idle links.
        optional pool: PoolSpec, otherwise "its defaults", example "{idle: 32}";
        /// Most links to one endpoint from one worker, idle and busy. One of HTTP/2 carries up to 100 requests at once.
        /// A request beyond it waits for a link of HTTP/1.1 for at most `connect_timeout`.
        optional links: Number<1, 1_000_000>, default "1024", example "256";
        /// When an endpoint is left out for a while because it fails.
        optional ejection: EjectionSpec, otherwise "its defaults", example "{failures: 3}";
        /// How many retries are allowed beside first attempts.
        optional retry_budget: RetryBudgetSpec, otherwise "its defaults", example "{percent: 10}";
        /// How much of the cluster may be in use at once, by all workers together. Beyond it requests are answered 503; nothing
        /// queues.
        optional limits: LimitsSpec, otherwise "any number", example "{requests: 1000}";
        /// How names of endpoints are resolved.
        optional dns: DnsSpec, otherwise "its defaults", example "{refresh_max: 1m}";
        /// Ask endpoints how they are, whether requests go there or not; `{}` only connects to them.
        optional health: HealthSpec, otherwise "eddy learns from requests alone", example "{http: {path: /healthz}}";
        /// Speak to the endpoints over TLS; `{}` does so with every default.
        optional tls: ClusterTlsSpec, otherwise "endpoints are spoken to in the clear", example "{authorities: internal.pem}";
    }
}

mapping! {
    /// What of a request the balancing goes by.
    BalanceKeySpec as "a key" {
        /// The first value of this field.
        optional header: FieldName, example "x-user";
        /// The value of this cookie.
        optional cookie: ParameterName, example "session";
        /// The client's address: `true`.
        optional address: bool, example "true";
        /// The path as the endpoint is sent it, without the query: `true`.
        optional path: bool, example "true";
        group One of header cookie address path;
    }
}

mapping! {
    /// An endpoint with a weight.
    EndpointSpec as "an endpoint" {
        /// Where it is: an address and port, a name and port, or a Unix socket.
        required address: EndpointAddressText, example "127.0.0.1:9000";
        /// Its share of the requests relative to the other endpoints.
        optional weight: Number<1, 1000>, default "1", example "3";
        /// Endpoints of priority 0 are asked first; those of the next one as the ones before fail, see `overprovision_percent`.
        optional priority: Number<0, 15>, default "0", example "1";
        /// The zone that it stands in.
        optional zone: ConfigName, otherwise "it is asked like those of eddy's own zone", example "eu-1b";
    }
}

mapping! {
    /// Limits of the pool of idle links that a worker keeps for an endpoint.
    PoolSpec as "pool" {
        /// Most idle links kept for an endpoint by one worker; `0` for none. One above is closed once nobody has
        /// taken it for a second, so that bursts find the links of the burst before.
        optional idle: Number<0, 1_000_000>, default "128", example "32";
        /// How long an idle link is kept; less than the endpoint's own limit is best.
        optional idle_timeout: Time<1, 86_400_000>, default "50s", example "20s";
        /// Most requests on one link before it is closed; `0` for no limit.
        optional requests: Number<0, 1_000_000_000>, default "0", example "10000";
    }
}

mapping! {
    /// An endpoint that fails several times in a row is left out for a while.
    EjectionSpec as "ejection" {
        /// Failures in a row (connect errors, resets, 502, 503 and 504) after which an endpoint is left out; `0`
        /// turns this off.
        optional failures: Number<0, 1000>, default "5", example "3";
        /// How long the first time lasts; each further one lasts one base time longer.
        optional base_time: Time<1, 3_600_000>, default "10s", example "5s";
        /// The longest time.
        optional time_max: Time<1, 86_400_000>, default "300s", example "1m";
        /// Most endpoints left out at once, percent; one endpoint always stays.
        optional percent_max: Number<0, 100>, default "50", example "30";
    }
}

mapping! {
    /// Endpoints are asked how they are; those that are not well are left out until they are well again.
    ///
    /// The first answer of an endpoint decides by itself. Each endpoint is asked once for the whole process, not by each worker.
    HealthSpec as "health" {
        /// The request that endpoints are asked by.
        optional http: HttpProbeSpec, otherwise "an endpoint that can be connected to is well", example "{path: /healthz}";
        /// Asks gRPC's own health service (`grpc.health.v1.Health`), over a connection of HTTP/2: an endpoint is well that says
        /// `SERVING`. The cluster has to have `protocol: http2` or `auto`.
        optional grpc: GrpcProbeSpec, otherwise "an endpoint that can be connected to is well", example "{service: library.v1.Library}";
        /// From an answer to the next question, a tenth more or less.
        optional interval: Time<100, 3_600_000>, default "10s", example "5s";
        /// Longest wait for an answer, connecting and all.
        optional timeout: Time<1, 600_000>, default "2s", example "500ms";
        /// Good answers in a row after which requests go to an endpoint again.
        optional healthy: Number<1, 1000>, default "2", example "1";
        /// Bad answers in a row after which they don't.
        optional unhealthy: Number<1, 1000>, default "3", example "2";
        /// When fewer endpoints than this are well, percent, all of them are used: more likely the checks are wrong.
        optional panic_percent: Number<0, 100>, default "50", example "30";
        group NoneOrOne of http grpc;
    }
}

mapping! {
    /// A request whose answer tells how an endpoint is.
    HttpProbeSpec as "http of health" {
        /// The path of the GET.
        required path: PathText, example "/healthz";
        /// The host that is asked for.
        optional host: HostAndPort, otherwise "the name or address of the endpoint", example "users.internal";
        /// The statuses of an endpoint that is well.
        optional statuses: Vec<Spanned<Number<200, 599>>>, default "[200]", example "[200, 204]";
    }
}

mapping! {
    /// A question to gRPC's own health service.
    GrpcProbeSpec as "grpc of health" {
        /// The service that is asked for.
        optional service: BoundedText<256>, otherwise "the server as a whole", example "library.v1.Library";
        /// The host that is asked for.
        optional host: HostAndPort, otherwise "the name or address of the endpoint", example "users.internal";
    }
}

mapping! {
    /// How many retries are allowed beside first attempts, so that retries never become a storm.
    RetryBudgetSpec as "retry_budget" {
        /// Retries in percent of the requests of the last ten seconds.
        optional percent: Number<0, 100>, default "20", example "10";
        /// Retries a second that are allowed however few the requests are.
        optional floor: Number<0, 1_000_000>, default "10", example "1";
    }
}

mapping! {
    /// The most of a cluster that may be in use at once, counted for all workers together.
    LimitsSpec as "limits of a cluster" {
        /// Links to all endpoints, idle, busy and being established. Where they are used up, idle ones are closed for new ones.
        optional connections: Number<1, 1_000_000>, otherwise "any number", example "200";
        /// Requests at endpoints, tunnels and connections that are passed on included.
        optional requests: Number<1, 1_000_000>, otherwise "any number", example "1000";
        /// Requests that wait for a link to be established.
        optional pending: Number<1, 1_000_000>, otherwise "any number", example "100";
        /// Requests that are being tried again. Beyond it the first answer, or failure, is the last.
        optional retries: Number<0, 1_000_000>, otherwise "as many as `retry_budget` allows", example "10";
        group OneOrMore of connections requests pending retries;
    }
}

mapping! {
    /// How names of endpoints are resolved.
    DnsSpec as "dns" {
        /// Shortest time between two look-ups of a name, whatever its records say.
        optional refresh_min: Time<100, 3_600_000>, default "1s", example "5s";
        /// Longest time between two look-ups of a name.
        optional refresh_max: Time<100, 86_400_000>, default "300s", example "1m";
        /// Longest a look-up may take.
        optional timeout: Time<10, 60_000>, default "5s", example "2s";
        /// How long the last good answer is used when look-ups fail.
        optional stale_max: Time<0, 604_800_000>, default "1h", example "10m";
    }
}
