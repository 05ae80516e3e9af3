//! Top-level configuration keys, and those of the gateway as a whole.

use std::net::SocketAddr;

use eddy_config::{LogFormat, LogTarget};

use super::{AcmeSpec, ClusterSpec, FilterSpec, KubernetesSpec, ListenerSpec, RuleSpec, TableSpec};
use crate::read::{Either, NamedMap, Spanned};
use crate::value::{
    BoundedText, ByteSize, ConfigName, LogLevelName, MetadataName, Number, RecordKey, Time, TimeZoneName,
};

mapping! {
    /// The complete configuration.
    ///
    /// It may be split into several files: the listeners of all form one list, routes, clusters and filters are merged
    /// by name, and a key or name that occurs in two files is an error.
    GatewaySpec as "the configuration" {
        /// Number of workers. Each worker serves clients on its own thread.
        optional workers: Number<1, 256>, otherwise "one for each core that is available to eddy", example "4";
        /// Zone of this gateway. Endpoints of the same `zone` are preferred.
        optional zone: ConfigName, otherwise "zones are ignored", example "eu-1a";
        /// Maximum time to wait for exchanges to end when eddy stops or replaces an old version.
        optional drain_timeout: Time<0, 3_600_000>, default "30s", example "1m";
        /// Address that serves metrics, health and the running configuration.
        optional admin: AdminSpec, otherwise "no admin listener", example "{address: 127.0.0.1:9901}";
        /// eddy's own log messages, which are written to standard error.
        optional log: LogSpec, otherwise "its defaults", example "{level: debug}";
        /// Access log: one entry per exchange.
        optional access_log: AccessLogSpec, otherwise "no access log is written", example "{file: stdout, format: json}";
        /// Limits of the gateway as a whole. Beyond them new work is refused; work in progress is finished.
        optional limits: GatewayLimitsSpec, otherwise "its defaults", example "{exchanges: 10000}";
        /// Quarantine of filters that repeatedly end the gateway process.
        optional quarantine: QuarantineSpec, otherwise "its defaults", example "{deaths: 3}";
        /// Sampling rate of the route check: one in this many requests is routed a second time by trying all rules in
        /// order, to find bugs in the route index; `0` turns it off. The result of the index is used in any case.
        /// `eddy_route_check_mismatches_total` counts disagreements, which are bugs in eddy. The cost of a check grows
        /// with the number of rules.
        optional route_check: Number<0, 1_000_000_000>, default "0", example "10000";
        /// Listeners: addresses that clients connect to, and how they are served; at least one.
        optional listeners: Vec<Spanned<ListenerSpec>>, otherwise "another file must contain them", example "[{address: 127.0.0.1:8080, routes: site}]";
        /// Route tables by name: lists of rules. The most specific matching rule wins, not the first: the most specific
        /// host; then an exact path, the longest prefix, a regex; then a method, the number of header and of query
        /// conditions; then the order of the file. `eddy explain` shows the decision for a request.
        optional routes: NamedMap<ConfigName, Either<Vec<Spanned<RuleSpec>>, TableSpec>>, otherwise "none", example "{site: [{cluster: users}]}";
        /// Clusters by name: groups of endpoints that requests are sent to.
        optional clusters: NamedMap<ConfigName, ClusterSpec>, otherwise "none", example "{users: {endpoints: [127.0.0.1:9001]}}";
        /// Filters by name. Listeners and rules refer to them.
        optional filters: NamedMap<ConfigName, FilterSpec>, otherwise "none", example "{cors: {cors: {origins: ['https://example.com']}}}";
        /// A certificate authority that issues certificates through ACME (RFC 8555), for the hosts that certificates of
        /// listeners list under `acme`.
        optional acme: AcmeSpec, otherwise "certificates are read from files only", example "{store: /var/lib/eddy/acme, terms_accepted: true}";
        /// Settings that Kubernetes manifests in other files of the configuration do not contain: addresses to listen
        /// on, and addresses of Services.
        optional kubernetes: KubernetesSpec, otherwise "its defaults", example "{endpoints: {default/users: [127.0.0.1:9001]}}";
    }
}

mapping! {
    /// Admin listener: metrics, health and the running configuration. It has no authentication.
    AdminSpec as "admin" {
        /// Bound address. It must be a loopback address unless `allow_remote` is `true`.
        required address: SocketAddr, example "127.0.0.1:9901";
        /// Whether the address may be reachable from other machines.
        optional allow_remote: bool, default "false", example "true";
    }
}

mapping! {
    /// eddy's own log messages, which are written to standard error.
    LogSpec as "log" {
        /// Minimum severity of messages.
        optional level: LogLevelName, default "info", example "debug";
        /// Message format.
        optional format: LogFormat, default "text", example "json";
    }
}

mapping! {
    /// Access log: one entry per exchange.
    AccessLogSpec as "access_log" {
        /// Destination of entries written as lines: `stdout`, `stderr` or a file, which is opened in append mode and
        /// reopened on SIGUSR1.
        optional file: LogTarget, otherwise "entries are not written as lines", example "/var/log/eddy/access.log";
        /// gRPC access log service of Envoy that receives the entries.
        optional grpc: LogServiceSpec, otherwise "entries are sent to no service", example "{cluster: logs}";
        /// Entry format.
        optional format: LogFormat, default "text", example "json";
        /// Time zone of the entries, an IANA name. The time zone database is built in and does not depend on the
        /// machine.
        optional time_zone: TimeZoneName, default "UTC", example "Europe/Berlin";
        /// Whether an entry names the step by which its rule won against the next rule that also matches the request:
        /// `host`, `table`, `rank`, `path`, `method`, `headers`, `query`, `file_order`, or `only` if no other rule
        /// matches. Each entry then costs a look at every rule of the host.
        optional step: bool, default "false", example "true";
        /// Filter metadata that is added to entries, by its key in the entry: `space.key` of the metadata. A value is
        /// written as JSON. A missing value is omitted in JSON and written as `-` in text.
        optional metadata: NamedMap<RecordKey, MetadataName>, otherwise "none", example "{tenant: message_fields.tenant, user: auth.user}";
        group OneOrMore of file grpc;
    }
}

mapping! {
    /// A gRPC access log service as `envoy.service.accesslog.v3.AccessLogService` declares it.
    ///
    /// Each worker sends its entries in batches, one after another, each as a separate call. A batch that could not be
    /// delivered is sent again after a pause that grows up to 10 s.
    LogServiceSpec as "a gRPC access log service" {
        /// Cluster of the service. gRPC needs `protocol: http2`, or `auto` over TLS.
        required cluster: ConfigName, example "logs";
        /// Name by which the service distinguishes this log from others.
        optional log_name: BoundedText<256>, default "eddy", example "edge";
        /// Node ID that is sent to the service.
        optional node: BoundedText<256>, otherwise "no node ID is sent", example "edge-1";
        /// Size of the entries, in bytes, at which a batch is sent.
        optional batch_bytes: ByteSize<1024, 1_048_576>, default "16KiB", example "64KiB";
        /// Maximum time that an entry waits for its batch.
        optional interval: Time<100, 60_000>, default "1s", example "5s";
        /// Maximum wait for the response to a batch, including the time to connect.
        optional timeout: Time<100, 60_000>, default "5s", example "2s";
        /// Maximum size of the entries that a worker buffers while the service is unreachable. Further entries are
        /// dropped and counted.
        optional held_bytes: ByteSize<65_536, 268_435_456>, default "1MiB", example "16MiB";
    }
}

mapping! {
    /// Limits of the gateway as a whole. Beyond them new work is refused; work in progress is finished.
    GatewayLimitsSpec as "limits" {
        /// Maximum client connections of all listeners together; never more than the limit of open files allows.
        optional connections: Number<1, 10_000_000>, default "100000", example "20000";
        /// Maximum concurrent exchanges (a request and its response). Further requests are answered 503.
        optional exchanges: Number<1, 10_000_000>, default "50000", example "10000";
        /// Resident memory, in percent of the memory of the machine or cgroup, above which new exchanges are answered
        /// 503.
        optional memory_percent: Number<1, 100>, default "90", example "80";
        /// Soft memory limit of the Go runtime for filters, in percent of the memory of the machine or cgroup: the
        /// closer it comes to the limit, the more often it collects garbage. Takes effect at the next start or graceful
        /// restart.
        optional go_memory_percent: Number<1, 100>, default "50", example "25";
        /// Maximum time that a request may wait for its worker. When it is exceeded, the newest requests are served
        /// first, and requests that have waited longer are answered 503. Time in which other programs use the
        /// processors does not count; `0s` turns the limit off.
        optional queue_delay: Time<0, 60_000>, default "500ms", example "200ms";
    }
}

mapping! {
    /// Quarantine of a filter in which the gateway process crashes or hangs repeatedly: the filter no longer runs, all
    /// other filters continue. With `on_failure: closed` the exchanges that would pass it are answered 503; with `open`
    /// the filter is skipped. The quarantine ends when the filter's configuration or library changes, or after `time`.
    QuarantineSpec as "quarantine" {
        /// Crashes of the process in the filter within the period `within` after which the filter is quarantined; `0`
        /// turns quarantine off.
        optional deaths: Number<0, 1000>, default "5", example "3";
        /// Period in which crashes are counted.
        optional within: Time<1_000, 3_600_000>, default "60s", example "5m";
        /// Duration of the quarantine.
        optional time: Time<1_000, 86_400_000>, default "10m", example "1h";
    }
}
