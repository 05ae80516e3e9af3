//! The keys of a route table and its rules.

use eddy_route::HostPattern;

use super::RuleFilterSpec;
use crate::config::FailoverReason;
use crate::config::ListenAddress;
use crate::read::{Boxed, Either, NamedMap, OneOrMany, Spanned};
use crate::value::{
    BoundedText, ConfigName, ConnectName, ContentType, DialectName, FieldName, FilePath, GrpcFailure,
    HostAndPort, MethodName, Number, ParameterName, PathText, Rank, RedirectStatus, Scheme, Time,
    UpgradeName,
};

/// Longest text that a condition compares with.
type Compared = BoundedText<4096>;

mapping! {
    /// A route table written in a certain dialect, here or in a file of its own.
    TableSpec as "a route table" {
        /// The dialect of its rules.
        optional dialect: DialectName, default "eddy", example "nginx";
        /// Its rules.
        optional rules: Vec<Spanned<RuleSpec>>, example "[{cluster: users}]";
        /// The file that has them, as the program reads it whose dialect it is written in; relative to the folder of this
        /// file. What it says of clusters is taken, too; where it listens is not.
        optional file: FilePath, example "legacy.conf";
        /// Which of the addresses that the file listens at is meant.
        optional address: ListenAddress, otherwise "the only one", example "0.0.0.0:80";
        group One of rules file;
    }
}

mapping! {
    /// A rule: which requests it matches and what it does with them.
    RuleSpec as "a rule" {
        /// Names the rule in metrics, logs and `eddy explain`; unique in its table.
        optional name: ConfigName, otherwise "the table's name and its number in the table, as in `site/3`", example "users";
        /// What a request must look like.
        optional conditions: Boxed<MatchSpec>, otherwise "every request matches", example "{path: {prefix: /user/}}";
        /// Moves the rule before (negative) or after (positive) the other rules of the same host and table, however
        /// specific they are.
        optional rank: Rank, default "0", example "10";
        /// The cluster that requests go to.
        optional cluster: ConfigName, example "users";
        /// Several clusters, drawn by weight.
        optional clusters: Vec<Spanned<WeightedSpec>>, example "[{cluster: users, weight: 95}, {cluster: users-next, weight: 5}]";
        /// A fixed answer.
        optional respond: Boxed<RespondSpec>, example "{status: 200, body: ok}";
        /// An answer that sends the client elsewhere.
        optional redirect: Boxed<RedirectSpec>, example "{scheme: https}";
        /// What the cluster sees instead of the client's path and host.
        optional rewrite: Boxed<RewriteSpec>, otherwise "path and host are sent as they came", example "{prefix: /}";
        /// Changes to the fields of the request that is sent to the cluster.
        optional request_headers: Boxed<EditsSpec>, otherwise "none", example "{set: {x-team: users}}";
        /// Changes to the fields of the response that is sent to the client.
        optional response_headers: Boxed<EditsSpec>, otherwise "none", example "{remove: [server]}";
        /// Longest time of the whole exchange. Beyond it the answer is 504.
        optional timeout: Time<1, 86_400_000>, otherwise "the listener's `timeouts.exchange`", example "5s";
        /// When a request is tried again at another endpoint.
        optional retry: Boxed<RetrySpec>, otherwise "its defaults", example "{attempts: 2, statuses: [503]}";
        /// When a request is sent to another endpoint, too, because the first has not answered. Whoever answers first is heard.
        optional hedge: Boxed<HedgeSpec>, otherwise "one endpoint is asked at a time", example "{after: 200ms}";
        /// Clusters for requests that `cluster` could not serve, asked one after the other.
        optional failover: Vec<Spanned<FailoverSpec>>, otherwise "there is none", example "[{cluster: users-west}]";
        /// The protocols that a client may switch to where the endpoint agrees, as in `Upgrade: websocket`. Requests to
        /// switch to others are passed on as requests. What is said then is passed on as it is: filters don't see it.
        optional upgrades: Vec<Spanned<UpgradeName>>, default "[websocket]", example "[websocket, spdy/3.1]";
        /// What becomes of `CONNECT`, by which clients ask for a tunnel.
        optional connect: ConnectName, default "refuse", example "open";
        /// What this rule says of filters of the listener, by name.
        optional filters: Boxed<NamedMap<ConfigName, RuleFilterSpec>>, otherwise "they are as configured", example "{auth: {disabled: true}}";
        group One of cluster clusters respond redirect;
    }
}

mapping! {
    /// Conditions on a request; all of them must hold.
    MatchSpec as "match" {
        /// A host or a list of hosts of which one matches, without port, in any case. `*.example.com` stands for
        /// any number of labels in front; it does not match `example.com` itself. Put it in quotes.
        optional host: OneOrMany<HostPattern>, otherwise "any host", example "[example.com, '*.example.com']";
        /// The path. A text alone is a prefix.
        optional path: Either<PathText, Boxed<PathSpec>>, otherwise "any path", example "{exact: /healthz}";
        /// A method or a list of methods of which one matches.
        optional method: OneOrMany<MethodName>, otherwise "any method", example "[GET, HEAD]";
        /// Conditions on fields by name. A text alone is the exact value. A field that occurs several times
        /// matches if one of its values does.
        optional headers: NamedMap<FieldName, Either<Compared, Boxed<ValueSpec>>>, otherwise "any", example "{x-beta: {present: true}}";
        /// Conditions on query parameters by name. A text alone is the exact value. Escapes are decoded first; of a
        /// parameter that occurs several times the first counts.
        optional query: NamedMap<ParameterName, Either<Compared, Boxed<ValueSpec>>>, otherwise "any", example "{version: '2'}";
    }
}

mapping! {
    /// A condition on the path. The path is compared after needless percent-encodings were undone; paths with
    /// dot segments or encoded slashes never come so far.
    PathSpec as "a path" {
        /// The whole path.
        optional exact: PathText, example "/healthz";
        /// The path or its beginning, by whole segments: `/user` and `/user/` alike match `/user`, `/user/` and
        /// `/user/7`, not `/users`.
        optional prefix: PathText, example "/user/";
        /// A regular expression that the whole path matches. Names of groups can be used in `rewrite.path`.
        optional regex: BoundedText<4096>, example "'/v[0-9]+/.*'";
        /// A path whose segments may be `{name}`; a last `{name...}` takes the rest. Names can be used in
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
        /// The beginning of the value.
        optional prefix: Compared, example "Mozilla/";
        /// The end of the value.
        optional suffix: Compared, example ".example.com";
        /// A part of the value.
        optional contains: Compared, example "bot";
        /// A regular expression that the whole value matches.
        optional regex: Compared, example "'[0-9]+'";
        /// Whether there is a value, whatever it is: `true`, or `false` for the opposite.
        optional present: bool, example "true";
        /// Whether there is no value: `true`, or `false` for the opposite.
        optional absent: bool, example "true";
        group One of exact prefix suffix contains regex present absent;
    }
}

mapping! {
    /// A cluster and its share of a rule's requests.
    WeightedSpec as "a weighted cluster" {
        /// The cluster.
        required cluster: ConfigName, example "users";
        /// Its share relative to the others; `0` for none. Not all can be 0.
        optional weight: Number<0, 1_000_000>, default "1", example "95";
    }
}

mapping! {
    /// A cluster for requests that the one before could not serve. Requests that may have been looked at go on only if they are
    /// idempotent and have no body, others if nothing of their body was sent. `retry` comes first, and goes for each cluster.
    FailoverSpec as "a cluster of failover" {
        /// The cluster.
        required cluster: ConfigName, example "users-west";
        /// What has to have happened at the cluster before; one reason or several.
        optional when: OneOrMany<FailoverReason>, default "unreachable", example "[unreachable, not_found]";
    }
}

mapping! {
    /// A fixed answer.
    RespondSpec as "respond" {
        /// The status.
        required status: Number<200, 599>, example "200";
        /// The whole body.
        optional body: BoundedText<1_048_576>, default "''", example "ok";
        /// The field `Content-Type`, where there is a body.
        optional content_type: ContentType, default "text/plain; charset=utf-8", example "application/json";
    }
}

mapping! {
    /// An answer that sends the client elsewhere; what is not given stays as in the request.
    RedirectSpec as "a redirect" {
        /// The status.
        optional status: RedirectStatus, default "302", example "308";
        /// The scheme.
        optional scheme: Scheme, otherwise "the request's", example "https";
        /// The host, with a port if it isn't the scheme's own.
        optional host: HostAndPort, otherwise "the request's", example "www.example.com";
        /// The whole path; may use `{name}` of a template or regex.
        optional path: PathText, otherwise "the request's", example "/new";
        /// Replaces the prefix that matched.
        optional prefix: PathText, otherwise "the request's", example "/new/";
        /// Leave the query out.
        optional strip_query: bool, default "false", example "true";
        group OneOrMore of scheme host path prefix;
        group NoneOrOne of path prefix;
    }
}

mapping! {
    /// What the cluster sees instead of the client's path and host.
    RewriteSpec as "a rewrite" {
        /// The whole path; may use `{name}` of a template or regex.
        optional path: PathText, otherwise "the client's", example "'/users/{id}'";
        /// Replaces the prefix that matched.
        optional prefix: PathText, otherwise "the client's", example "/";
        /// The host.
        optional host: HostAndPort, otherwise "the client's", example "users.internal";
        group OneOrMore of path prefix host;
        group NoneOrOne of path prefix;
    }
}

mapping! {
    /// Changes to fields: first `remove`, then `set`, then `add`. Fields that frame a message or belong to a
    /// connection can't be changed.
    EditsSpec as "header changes" {
        /// Fields to remove.
        optional remove: Vec<Spanned<FieldName>>, otherwise "none", example "[server, x-powered-by]";
        /// Fields and the value each has afterwards, whatever was there.
        optional set: NamedMap<FieldName, BoundedText<8192>>, otherwise "none", example "{x-frame-options: DENY}";
        /// Fields and a value, or a list of values, that is added to what was there.
        optional add: NamedMap<FieldName, OneOrMany<BoundedText<8192>>>, otherwise "none", example "{set-cookie: [a=1, b=2]}";
    }
}

mapping! {
    /// When a request is sent to another endpoint of its cluster although the one that was asked may still answer: only one
    /// that is idempotent and has no body, only before the first byte of an answer, and only within the cluster's
    /// `retry_budget` and `limits.retries`. The first to answer is heard, the others are given up.
    HedgeSpec as "hedge" {
        /// How long an endpoint may take before another is asked, counted from its choice and to about 20 ms. Take
        /// what few answers exceed, such as the 95th percentile: each that does is asked for twice.
        required after: Time<1, 3_600_000>, example "200ms";
        /// Attempts beside the first. A retry counts as one of them.
        optional attempts: Number<1, 10>, default "1", example "2";
    }
}

mapping! {
    /// When a request is tried again at another endpoint: only one that is idempotent and has no body, and only
    /// within the cluster's `retry_budget`. A failure to connect, and a kept link that closed before the first
    /// byte, are always a reason. For a status of `grpc_statuses`, a call of gRPC is tried again, too.
    RetrySpec as "retry" {
        /// Attempts beside the first.
        optional attempts: Number<0, 10>, default "1", example "2";
        /// Statuses of an endpoint that are a reason, too.
        optional statuses: Vec<Spanned<Number<400, 599>>>, default "[]", example "[502, 503]";
        /// Whether a fresh link that closed without an answer is a reason, too.
        optional on_reset: bool, default "false", example "true";
        /// Statuses of gRPC that are a reason for a call, which is no idempotent request to HTTP: name those that its
        /// methods bear. Only where the endpoint has ended the call without an answer, and has not been sent more than
        /// 1 MiB of it.
        optional grpc_statuses: Vec<Spanned<GrpcFailure>>, default "[]", example "[unavailable]";
    }
}
