//! Configuration keys of a route table and its rules.

use eddy_config::{Connect, FailoverReason, ListenAddress};
use eddy_http::GrpcStatus;
use eddy_route::HostPattern;

use super::{EditsSpec, RuleFilterSpec};
use crate::read::{Boxed, Either, NamedMap, OneOrMany, Spanned};
use crate::value::{
    BoundedText, ConfigName, ContentType, DialectName, FieldName, FilePath, HostAndPort, MethodName, Number,
    ParameterName, PathText, Rank, RedirectStatus, Scheme, Time, UpgradeName,
};

/// Text that a condition compares with, at most 4096 bytes.
type Compared = BoundedText<4096>;

mapping! {
    /// A route table in a certain dialect, inline or in a file of its own.
    TableSpec as "a route table" {
        /// Configuration language of the rules.
        optional dialect: DialectName, default "eddy", example "nginx";
        /// Rules of the table.
        optional rules: Vec<Spanned<RuleSpec>>, example "[{cluster: users}]";
        /// File with the rules, in the format of the program whose dialect it uses; relative to the directory of this
        /// file. Its clusters are used, too; its listeners are ignored.
        optional file: FilePath, example "legacy.conf";
        /// Listen address in the file whose rules are used.
        optional address: ListenAddress, otherwise "the only address of the file", example "0.0.0.0:80";
        group One of rules file;
    }
}

mapping! {
    /// A rule: match conditions and an action.
    RuleSpec as "a rule" {
        /// Name of the rule in metrics, logs and `eddy explain`; unique in its table.
        optional name: ConfigName, otherwise "the table's name and the rule's number in the table, as in `site/3`", example "users";
        /// Conditions that a request must meet.
        optional conditions: Boxed<MatchSpec>, otherwise "every request matches", example "{path: {prefix: /user/}}";
        /// Moves the rule before (negative) or after (positive) the other rules of the same host and table, however
        /// specific they are.
        optional rank: Rank, default "0", example "10";
        /// Cluster that requests are sent to.
        optional cluster: ConfigName, example "users";
        /// Several clusters, selected by weight.
        optional clusters: Vec<Spanned<WeightedSpec>>, example "[{cluster: users, weight: 95}, {cluster: users-next, weight: 5}]";
        /// A fixed response.
        optional respond: Boxed<RespondSpec>, example "{status: 200, body: ok}";
        /// A redirect.
        optional redirect: Boxed<RedirectSpec>, example "{scheme: https}";
        /// Changes of path and host before a request is forwarded.
        optional rewrite: Boxed<RewriteSpec>, otherwise "path and host are forwarded unchanged", example "{prefix: /}";
        /// Changes to the headers of the request that is sent to the cluster.
        optional request_headers: Boxed<EditsSpec>, otherwise "none", example "{set: {x-team: users}}";
        /// Changes to the headers of the response that is sent to the client.
        optional response_headers: Boxed<EditsSpec>, otherwise "none", example "{remove: [server]}";
        /// Maximum duration of the exchange. Beyond it the response is 504.
        optional timeout: Time<1, 86_400_000>, otherwise "the listener's `timeouts.exchange`", example "5s";
        /// When a request is retried at another endpoint.
        optional retry: Boxed<RetrySpec>, otherwise "its defaults", example "{attempts: 2, statuses: [503]}";
        /// Hedging: when a request is also sent to a second endpoint because the first has not responded. The first
        /// response wins.
        optional hedge: Boxed<HedgeSpec>, otherwise "no hedging", example "{after: 200ms}";
        /// Failover clusters for requests that `cluster` could not serve, tried in order.
        optional failover: Vec<Spanned<FailoverSpec>>, otherwise "no failover", example "[{cluster: users-west}]";
        /// Protocols that a client may switch to if the endpoint agrees, as in `Upgrade: websocket`. Requests for other
        /// upgrades are forwarded as ordinary requests. After an upgrade the data is forwarded unchanged; filters do
        /// not see it.
        optional upgrades: Vec<Spanned<UpgradeName>>, default "[websocket]", example "[websocket, spdy/3.1]";
        /// Handling of `CONNECT` requests, by which clients ask for a tunnel.
        optional connect: Connect, default "refuse", example "open";
        /// Settings for filters of the listener, by name.
        optional filters: Boxed<NamedMap<ConfigName, RuleFilterSpec>>, otherwise "the settings of the filters themselves", example "{auth: {disabled: true}}";
        group One of cluster clusters respond redirect;
    }
}

mapping! {
    /// Conditions on a request; all of them must hold.
    MatchSpec as "match" {
        /// Host, or a list of hosts of which one must match, without port and case-insensitive. `*.example.com` matches
        /// any number of labels in front, but not `example.com` itself. Write it in quotes.
        optional host: OneOrMany<HostPattern>, otherwise "any host", example "[example.com, '*.example.com']";
        /// Path of the request. A plain string is a prefix.
        optional path: Either<PathText, Boxed<PathSpec>>, otherwise "any path", example "{exact: /healthz}";
        /// Method, or a list of methods of which one must match.
        optional method: OneOrMany<MethodName>, otherwise "any method", example "[GET, HEAD]";
        /// Conditions on headers by name. A plain string is the exact value. If a header occurs several times, one
        /// matching value is enough.
        optional headers: NamedMap<FieldName, Either<Compared, Boxed<ValueSpec>>>, otherwise "any", example "{x-beta: {present: true}}";
        /// Conditions on query parameters by name. A plain string is the exact value. Values are percent-decoded first.
        /// If a parameter occurs several times, the first one counts.
        optional query: NamedMap<ParameterName, Either<Compared, Boxed<ValueSpec>>>, otherwise "any", example "{version: '2'}";
    }
}

mapping! {
    /// A condition on the path. The path is compared after unnecessary percent-encodings are decoded. Paths with dot
    /// segments or encoded slashes are rejected before rules are evaluated.
    PathSpec as "a path" {
        /// The whole path.
        optional exact: PathText, example "/healthz";
        /// Path prefix of whole segments: `/user` and `/user/` mean the same and match `/user`, `/user/` and `/user/7`,
        /// but not `/users`.
        optional prefix: PathText, example "/user/";
        /// Regular expression that must match the whole path. Its named groups can be used in `rewrite.path`.
        optional regex: BoundedText<4096>, example "'/v[0-9]+/.*'";
        /// Path template whose segments may be `{name}`; a final `{name...}` matches the rest. The names can be used in
        /// `rewrite.path`.
        optional template: PathText, example "'/user/{id}/orders'";
        group One of exact prefix regex template;
    }
}

mapping! {
    /// A condition on a value.
    ValueSpec as "a condition" {
        /// The whole value.
        optional exact: Compared, example "beta";
        /// Beginning of the value.
        optional prefix: Compared, example "Mozilla/";
        /// End of the value.
        optional suffix: Compared, example ".example.com";
        /// Substring of the value.
        optional contains: Compared, example "bot";
        /// Regular expression that must match the whole value.
        optional regex: Compared, example "'[0-9]+'";
        /// Whether the value must be present, regardless of its content: `true`, or `false` for the opposite.
        optional present: bool, example "true";
        /// Whether the value must be absent: `true`, or `false` for the opposite.
        optional absent: bool, example "true";
        group One of exact prefix suffix contains regex present absent;
    }
}

mapping! {
    /// A cluster and its share of a rule's requests.
    WeightedSpec as "a weighted cluster" {
        /// Name of the cluster.
        required cluster: ConfigName, example "users";
        /// Share relative to the other clusters; `0` for none. Not all can be 0.
        optional weight: Number<0, 1_000_000>, default "1", example "95";
    }
}

mapping! {
    /// A failover cluster for requests that the previous cluster could not serve. A request that an endpoint may have
    /// processed fails over only if it is idempotent and has no body, any other request only if nothing of its body was
    /// sent. `retry` comes first, and applies anew at each cluster.
    FailoverSpec as "a failover cluster" {
        /// Name of the cluster.
        required cluster: ConfigName, example "users-west";
        /// Outcome at the previous cluster that causes the failover; one reason or several.
        optional when: OneOrMany<FailoverReason>, default "unreachable", example "[unreachable, not_found]";
    }
}

mapping! {
    /// A fixed response.
    RespondSpec as "respond" {
        /// Response status.
        required status: Number<200, 599>, example "200";
        /// Complete response body.
        optional body: BoundedText<1_048_576>, default "''", example "ok";
        /// `Content-Type` header, if there is a body.
        optional content_type: ContentType, default "text/plain; charset=utf-8", example "application/json";
    }
}

mapping! {
    /// A redirect. Parts that are not given are taken from the request.
    RedirectSpec as "a redirect" {
        /// Response status.
        optional status: RedirectStatus, default "302", example "308";
        /// Scheme of the new location.
        optional scheme: Scheme, otherwise "the request's", example "https";
        /// Host of the new location, with a port if it is not the scheme's default.
        optional host: HostAndPort, otherwise "the request's", example "www.example.com";
        /// Complete path; may use `{name}` of a template or regex.
        optional path: PathText, otherwise "the request's", example "/new";
        /// Replacement for the prefix that matched.
        optional prefix: PathText, otherwise "the request's", example "/new/";
        /// Whether the query is dropped.
        optional strip_query: bool, default "false", example "true";
        group OneOrMore of scheme host path prefix;
        group NoneOrOne of path prefix;
    }
}

mapping! {
    /// Changes of path and host before a request is forwarded.
    RewriteSpec as "a rewrite" {
        /// Complete path; may use `{name}` of a template or regex.
        optional path: PathText, otherwise "the client's", example "'/users/{id}'";
        /// Replacement for the prefix that matched.
        optional prefix: PathText, otherwise "the client's", example "/";
        /// Host that replaces the client's.
        optional host: HostAndPort, otherwise "the client's", example "users.internal";
        group OneOrMore of path prefix host;
        group NoneOrOne of path prefix;
    }
}

mapping! {
    /// Hedging: when a request is sent to a second endpoint of its cluster although the first may still respond.
    /// Applies only to requests that are idempotent and have no body, only before the first byte of a response, and
    /// only within the cluster's `retry_budget` and `limits.retries`. The first response wins, the other attempts are
    /// cancelled.
    HedgeSpec as "hedge" {
        /// Time without a response after which another endpoint is tried, counted from the selection of the endpoint
        /// and accurate to about 20 ms. Choose a time that few responses exceed, such as the 95th percentile: each
        /// request that exceeds it is sent twice.
        required after: Time<1, 3_600_000>, example "200ms";
        /// Attempts in addition to the first. Retries count as attempts.
        optional attempts: Number<1, 10>, default "1", example "2";
    }
}

mapping! {
    /// When a request is retried at another endpoint: only if it is idempotent and has no body, and only within the
    /// cluster's `retry_budget`. A failure to connect, and a pooled connection that closed before the first byte, are
    /// always retried. gRPC calls are also retried for the statuses in `grpc_statuses`.
    RetrySpec as "retry" {
        /// Attempts in addition to the first.
        optional attempts: Number<0, 10>, default "1", example "2";
        /// Response statuses that are retried as well.
        optional statuses: Vec<Spanned<Number<400, 599>>>, default "[]", example "[502, 503]";
        /// Whether a request is retried as well when a new connection closed without a response.
        optional on_reset: bool, default "false", example "true";
        /// Whether a request is retried as well when an endpoint has not responded within `first_byte_timeout` of its
        /// cluster. Each attempt has this time; `timeout` of the rule bounds them together.
        optional on_timeout: bool, default "false", example "true";
        /// gRPC statuses for which a call is retried. To HTTP a gRPC call is not idempotent: list only statuses for
        /// which your methods can be repeated. A call is retried only if the endpoint has ended it without a response
        /// message and has been sent at most 1 MiB of it.
        optional grpc_statuses: Vec<Spanned<GrpcStatus>>, default "[]", example "[unavailable]";
    }
}
