//! The outermost keys, and those of the gateway as a whole.

use super::{AcmeSpec, ClusterSpec, FilterSpec, KubernetesSpec, ListenerSpec, RuleSpec, TableSpec};
use crate::config::{LogFormat, LogTarget};
use crate::read::{Either, NamedMap, Spanned};
use crate::value::{
    AdminAddress, BoundedText, ByteSize, ConfigName, LogLevelName, MetadataName, Number, RecordKey, Time,
    TimeZoneName,
};

mapping! {
    /// The whole configuration.
    ///
    /// It may be spread over several files: lists are put one after another, mappings are united, and a key that
    /// stands in two files is an error.
    GatewaySpec as "the configuration" {
        /// Number of workers; each serves clients on a thread of its own.
        optional workers: Number<1, 256>, otherwise "one for each core that eddy may use", example "4";
        /// The zone that eddy stands in: endpoints of the same `zone` are asked before others.
        optional zone: ConfigName, otherwise "endpoints of all zones are alike", example "eu-1a";
        /// Longest time that stopping or leaving an old version waits for exchanges to end.
        optional drain_timeout: Time<0, 3_600_000>, default "30s", example "1m";
        /// Where metrics, health and the running configuration are served.
        optional admin: AdminSpec, otherwise "there is no admin listener", example "{address: 127.0.0.1:9901}";
        /// eddy's own messages, which go to standard error.
        optional log: LogSpec, otherwise "its defaults", example "{level: debug}";
        /// A record of each exchange.
        optional access_log: AccessLogSpec, otherwise "no records are written", example "{file: stdout, format: json}";
        /// Limits of the gateway as a whole; beyond them new work is refused, work in hand is finished.
        optional limits: GatewayLimitsSpec, otherwise "its defaults", example "{exchanges: 10000}";
        /// What becomes of a filter that ends the gateway process again and again.
        optional quarantine: QuarantineSpec, otherwise "its defaults", example "{deaths: 3}";
        /// Of how many requests one is routed a second time, by trying all rules in order, to find faults of the index of
        /// rules; `0` for none. What the index found stands; `eddy_route_check_mismatches_total` counts disagreements,
        /// which are faults of eddy. A check takes the longer the more rules there are.
        optional route_check: Number<0, 1_000_000_000>, default "0", example "10000";
        /// Where clients connect, and what is served there; at least one.
        optional listeners: Vec<Spanned<ListenerSpec>>, otherwise "another file must have them", example "[{address: 127.0.0.1:8080, routes: site}]";
        /// Route tables by name: lists of rules. Which rule wins is decided by how specific it is, not by its place:
        /// the most specific host; then an exact path, the longest prefix, a regex; then a method, the number of
        /// header and of query conditions; then the order of the file. `eddy explain` shows it for a request.
        optional routes: NamedMap<ConfigName, Either<Vec<Spanned<RuleSpec>>, TableSpec>>, otherwise "there are none", example "{site: [{cluster: users}]}";
        /// Clusters by name: where requests go.
        optional clusters: NamedMap<ConfigName, ClusterSpec>, otherwise "there are none", example "{users: {endpoints: [127.0.0.1:9001]}}";
        /// Filters by name; listeners and rules name them.
        optional filters: NamedMap<ConfigName, FilterSpec>, otherwise "there are none", example "{cors: {cors: {origins: ['https://example.com']}}}";
        /// An authority that certificates are ordered from (ACME, RFC 8555), for the hosts that certificates of listeners name
        /// with `acme`.
        optional acme: AcmeSpec, otherwise "certificates come from files alone", example "{store: /var/lib/eddy/acme, terms_accepted: true}";
        /// What manifests of Kubernetes in other files of the configuration don't say: where to listen and where
        /// Services are.
        optional kubernetes: KubernetesSpec, otherwise "its defaults", example "{endpoints: {default/users: [127.0.0.1:9001]}}";
    }
}

mapping! {
    /// The admin listener: metrics, health, the running configuration. It has no password.
    AdminSpec as "admin" {
        /// Its address. Only a loopback address is taken unless `allow_remote` is `true`.
        required address: AdminAddress, example "127.0.0.1:9901";
        /// Whether the address may be one that other machines reach.
        optional allow_remote: bool, default "false", example "true";
    }
}

mapping! {
    /// eddy's own messages, which go to standard error.
    LogSpec as "log" {
        /// The least important messages that are written.
        optional level: LogLevelName, default "info", example "debug";
        /// How a message is written.
        optional format: LogFormat, default "text", example "json";
    }
}

mapping! {
    /// A record of each exchange.
    AccessLogSpec as "access_log" {
        /// Where records go as lines: `stdout`, `stderr` or a file, which is opened for appending and again on SIGUSR1.
        optional file: LogTarget, otherwise "they are not written as lines", example "/var/log/eddy/access.log";
        /// A service of gRPC that records go to: Envoy's access log service.
        optional grpc: LogServiceSpec, otherwise "they go to none", example "{cluster: logs}";
        /// How a record is written.
        optional format: LogFormat, default "text", example "json";
        /// Time zone of the records, an IANA name. The names are built in and do not depend on the machine.
        optional time_zone: TimeZoneName, default "UTC", example "Europe/Berlin";
        /// Whether a record names the step by which its rule won against the next one that is for the request as well:
        /// `host`, `table`, `rank`, `path`, `method`, `headers`, `query`, `file_order`, or `only` where there is no other.
        /// Each record then costs a look at every rule of the host.
        optional step: bool, default "false", example "true";
        /// What filters have noted of the exchange and records are to have, by the key that it gets there: `space.key` of
        /// the metadata. A value is written as the JSON that it is; what nobody has noted is left out, as text it is `-`.
        optional metadata: NamedMap<RecordKey, MetadataName>, otherwise "none", example "{tenant: message_fields.tenant, user: auth.user}";
        group OneOrMore of file grpc;
    }
}

mapping! {
    /// A service of gRPC that access records go to, as `envoy.service.accesslog.v3.AccessLogService` declares it.
    ///
    /// Each worker sends its records in batches, one after the other, each a call of its own. A batch that the service
    /// could not be given is sent again, after a pause that grows up to 10 s.
    LogServiceSpec as "grpc of access_log" {
        /// The cluster of the service. gRPC needs `protocol: http2`, or `auto` over TLS.
        required cluster: ConfigName, example "logs";
        /// The name of the log, by which the service tells it from others.
        optional log_name: BoundedText<256>, default "eddy", example "edge";
        /// The id of the node that the service is told.
        optional node: BoundedText<256>, otherwise "none is told", example "edge-1";
        /// Bytes of records after which a batch is sent.
        optional batch_bytes: ByteSize<1024, 1_048_576>, default "16KiB", example "64KiB";
        /// Longest time that a record waits for its batch.
        optional interval: Time<100, 60_000>, default "1s", example "5s";
        /// Longest wait for the answer to a batch, connecting and all.
        optional timeout: Time<100, 60_000>, default "5s", example "2s";
        /// Bytes of records that a worker holds while the service can't be reached; what comes beyond is dropped and
        /// counted.
        optional held_bytes: ByteSize<65_536, 268_435_456>, default "1MiB", example "16MiB";
    }
}

mapping! {
    /// Limits of the gateway as a whole; beyond them new work is refused, work in hand is finished.
    GatewayLimitsSpec as "limits" {
        /// Most client connections of all listeners together; never more than the limit of open files allows.
        optional connections: Number<1, 10_000_000>, default "100000", example "20000";
        /// Most exchanges (a request and its response) at once; the next is answered 503.
        optional exchanges: Number<1, 10_000_000>, default "50000", example "10000";
        /// Resident memory, in percent of the machine's or cgroup's, above which new exchanges are answered 503.
        optional memory_percent: Number<1, 100>, default "90", example "80";
        /// Memory that the runtime of filters in Go should stay below, in percent of the machine's or cgroup's: the nearer
        /// it comes, the harder it collects garbage. Holds from the next start or hand-over on.
        optional go_memory_percent: Number<1, 100>, default "50", example "25";
        /// Longest time that a request may wait for its worker. When it is exceeded, the newest requests are served first and
        /// requests that have waited for longer are answered 503. Time in which other programs have the processors does not
        /// count; `0s` turns the limit off.
        optional queue_delay: Time<0, 60_000>, default "500ms", example "200ms";
    }
}

mapping! {
    /// What becomes of a filter in which the gateway process dies or hangs again and again: it is not entered any more, and
    /// the others go on. Where its `on_failure` is `closed`, exchanges that would pass it are answered 503; where it is
    /// `open`, it is left out. It comes back when its configuration or library changes, or `time` is over.
    QuarantineSpec as "quarantine" {
        /// Deaths of the process in the filter, all within `within`, that it takes; `0` turns this off.
        optional deaths: Number<0, 1000>, default "5", example "3";
        /// The time in which deaths are counted.
        optional within: Time<1_000, 3_600_000>, default "60s", example "5m";
        /// How long the filter is not entered.
        optional time: Time<1_000, 86_400_000>, default "10m", example "1h";
    }
}
