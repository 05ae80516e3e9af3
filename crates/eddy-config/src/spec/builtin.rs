//! The keys of the filters that eddy brings along.

use super::EditsSpec;
use crate::config::AddressBlock;
use crate::read::{Boxed, NamedMap, Spanned};
use crate::value::{
    BoundedText, ByteSize, EnumFormName, FieldName, FieldNameOrAll, FilePath, IdFormatName, JsonNamesName,
    MethodOrAll, Number, OriginText, Percent, RateFieldsName, RateKeyName, StreamFormName, Time, UnknownName,
    UnknownRequestsName, UserName,
};

mapping! {
    /// Asks for a user name and a password (RFC 7617). Without the right ones the answer is 401.
    ///
    /// A refused request costs as much work whether or not there is such a user. Slow forms (bcrypt, SHA-crypt) are
    /// computed on threads of their own, never on a worker.
    BasicAuthSpec as "basic_auth" {
        /// Users, and for each a hash as in `file`, or the password itself. A password that begins with `{` or `$` is
        /// written behind `{PLAIN}`.
        optional users: NamedMap<UserName, BoundedText<1024>>, otherwise "those of `file`", example "{alice: '$2y$10$abcdefghijklmnopqrstuuM5mQ8M5myIEaBDev7HcpLnIZwoCz6rq'}";
        /// A file of lines `user:hash`, as `htpasswd -B` writes it: bcrypt (`$2a$`, `$2b$`, `$2y$`), SHA-crypt (`$5$`,
        /// `$6$`) or `{SHA}`. It is read when the configuration is. A relative path begins where the configuration
        /// file lies. Where a user stands in both, `users` holds.
        optional file: FilePath, otherwise "those of `users`", example "./users.htpasswd";
        /// What a browser shows when it asks for the password.
        optional realm: BoundedText<256>, default "restricted", example "the back office";
        /// The field that tells the endpoint the user's name; a client's own is removed. Filters find the name in the
        /// metadata `auth`/`user`.
        optional user_header: FieldName, otherwise "the endpoint is not told", example "x-user";
        /// Whether `Authorization` is taken out of the request, so that the endpoint does not see the password.
        optional strip: bool, default "true", example "false";
        /// How passwords that were found right are remembered, so that slow forms are not computed for each request.
        optional cache: AuthCacheSpec, otherwise "its defaults", example "{ttl: 1m}";
        /// Threads that compute slow forms.
        optional threads: Number<1, 64>, default "2", example "4";
        /// Most requests that wait for those threads. Beyond it the answer is 503.
        optional queue: Number<1, 65_536>, default "256", example "64";
        group OneOrMore of users file;
    }
}

mapping! {
    /// How passwords that were found right by a slow form are remembered: as a keyed hash in memory, never the
    /// passwords themselves. Nothing is remembered of quick forms, and nothing of wrong passwords.
    AuthCacheSpec as "cache of basic_auth" {
        /// How long a password is remembered; `0s` for not at all. A reload forgets all.
        optional ttl: Time<0, 86_400_000>, default "5m", example "1m";
        /// Most passwords that are remembered.
        optional entries: Number<1, 1_048_576>, default "4096", example "1024";
    }
}

mapping! {
    /// Changes fields of requests and responses.
    ///
    /// Values may have variables: `${peer}`, `${peer_ip}`, `${local}`, `${listener}`, `${rule}`, `${cluster}`,
    /// `${request_id}`, `${method}`, `${target}`, `${path}`, `${query}`, `${authority}`, `${scheme}`, `${header.NAME}`
    /// (a field of the request), `${metadata.SPACE.KEY}`; in responses also `${status}`, `${endpoint}` and
    /// `${response.NAME}`. `$$` is a dollar sign. Where the value is empty no field is written.
    HeadersSpec as "headers" {
        /// Changes to the request that goes to the endpoint, and that later filters see.
        optional request: Boxed<EditsSpec>, otherwise "none", example "{set: {x-client: '${peer_ip}'}}";
        /// Changes to the response that goes to the client, and that earlier filters of the list see.
        optional response: Boxed<EditsSpec>, otherwise "none", example "{remove: [server]}";
        group OneOrMore of request response;
    }
}

mapping! {
    /// Tells browsers which other sites may read what is answered (Fetch standard). Preflights are answered by eddy;
    /// what the endpoint says of the matter is replaced.
    CorsSpec as "cors" {
        /// Sites that may: one as in `https://example.com`, all below a name as in `https://*.example.com`, a regular
        /// expression behind `~` that the whole origin matches, or `*` for all.
        required origins: Vec<Spanned<OriginText>>, example "['https://example.com', 'https://*.example.org']";
        /// Methods that they may use; `*` for all.
        optional methods: Vec<Spanned<MethodOrAll>>, default "[GET, HEAD, POST]", example "[GET, PUT, DELETE]";
        /// Fields that they may send beside the harmless ones; `*` for all.
        optional headers: Vec<Spanned<FieldNameOrAll>>, default "[]", example "[authorization, content-type]";
        /// Fields of the response that they may read beside the harmless ones; `*` for all.
        optional expose: Vec<Spanned<FieldNameOrAll>>, default "[]", example "[x-request-id]";
        /// Whether requests may carry cookies and passwords. Not together with the origin `*`.
        optional credentials: bool, default "false", example "true";
        /// How long a browser may remember the answer to a preflight.
        optional max_age: Time<0, 86_400_000>, default "10m", example "1h";
    }
}

mapping! {
    /// Lets addresses in or keeps them out. First `deny`: who is in it is refused. Then `allow`, where there is one: who
    /// is not in it is refused. The answer is 403.
    IpAccessSpec as "ip_access" {
        /// Addresses that are kept out.
        optional deny: Vec<Spanned<AddressBlock>>, otherwise "none", example "[203.0.113.0/24]";
        /// Addresses that are let in. Clients of a Unix socket have no address and are never in it.
        optional allow: Vec<Spanned<AddressBlock>>, otherwise "all", example "[10.0.0.0/8, 'fd00::/8']";
        /// Whose address counts.
        optional client: ClientSpec, otherwise "the peer's", example "{forwarded_position: 1, trusted: [10.0.0.1]}";
        group OneOrMore of deny allow;
    }
}

mapping! {
    /// Whose address counts where proxies stand in front: an address of `X-Forwarded-For`, if the peer is trusted. A
    /// trusted peer that sends too few addresses counts as the client itself; one that sends no address there counts
    /// as nobody, which is refused.
    ClientSpec as "client" {
        /// Which address of `X-Forwarded-For`, counted from the end: 1 is the one that the proxy in front wrote.
        required forwarded_position: Number<1, 16>, example "1";
        /// The proxies in front; peers that come by a Unix socket are always trusted.
        required trusted: Vec<Spanned<AddressBlock>>, example "[10.0.0.0/8]";
    }
}

mapping! {
    /// Gives requests an id, which goes to the endpoint.
    RequestIdSpec as "request_id" {
        /// The field that carries the id.
        optional header: FieldName, default "x-request-id", example "x-trace";
        /// What a new id looks like.
        optional format: IdFormatName, default "uuid7", example "hex";
        /// Peers whose own id is kept, if it is made of 1 to 128 visible characters. Everyone else's is replaced.
        optional trusted: Vec<Spanned<AddressBlock>>, default "[]", example "[10.0.0.0/8]";
        /// Whether the client is told the id, in the same field.
        optional respond: bool, default "false", example "true";
    }
}

mapping! {
    /// Refuses requests that come too often with 429 and `Retry-After`. Requests are counted by this process alone, over
    /// all workers.
    ///
    /// A rate by client or header is exact. With `key: all` each worker takes requests in small lots from the common
    /// stock, so that up to a 64th of `burst` may be missing, or come later.
    RateLimitSpec as "rate_limit" {
        /// Requests that are let through in each `per`.
        required requests: Number<1, 10_000_000>, example "100";
        /// The time in which they are counted.
        required per: Time<1, 86_400_000>, example "1s";
        /// Most requests at once after a pause.
        optional burst: Number<1, 10_000_000>, otherwise "as many as `requests`", example "20";
        /// Which requests are counted together.
        optional key: RateKeyName, default "client", example "all";
        /// Count together what has the same value of this field. Requests without it are counted together, too.
        optional header: FieldName, otherwise "`key` decides", example "x-api-key";
        /// Whose address counts, with `key: client`.
        optional client: ClientSpec, otherwise "the peer's", example "{forwarded_position: 1, trusted: [10.0.0.1]}";
        /// How many bits of an IPv6 address make a client; a household or server usually has all of a /64.
        optional ipv6_prefix: Number<16, 128>, default "64", example "56";
        /// Most clients or values that are counted at once, 16 bytes each, rounded up to a power of two. With more, those that have used least
        /// are forgotten first.
        optional entries: Number<64, 4_194_304>, default "65536", example "1000000";
        /// Which answers tell of the limit in the fields `RateLimit-Policy` and `RateLimit`.
        optional tell: RateFieldsName, default "refused", example "always";
        group NoneOrOne of key header;
    }
}

mapping! {
    /// Refuses bodies that are too large: by their length before they are read, else when they grow too large.
    BodyLimitSpec as "body_limit" {
        /// Largest body of a request. Beyond it the answer is 413.
        optional request: ByteSize<0, 1_125_899_906_842_624>, otherwise "there is no limit", example "10MiB";
        /// Largest body of a response. Beyond it the answer is 502, or the response is cut off if it has begun.
        optional response: ByteSize<0, 1_125_899_906_842_624>, otherwise "there is no limit", example "100MiB";
        group OneOrMore of request response;
    }
}

mapping! {
    /// Delays and refuses requests, to see how clients bear it. Which ones is drawn for each request and for both
    /// faults alone; a request that is drawn for both is refused at once.
    FaultSpec as "fault" {
        /// Delay requests.
        optional delay: DelaySpec, otherwise "none are", example "{time: 2s, percent: 5}";
        /// Answer requests instead of passing them on.
        optional abort: AbortSpec, otherwise "none are", example "{status: 503, percent: 0.1}";
        /// Only requests that have these fields, all of them: a name and the whole value, or `*` for any.
        optional headers: NamedMap<FieldName, BoundedText<4096>>, otherwise "all requests", example "{x-test: slow}";
        group OneOrMore of delay abort;
    }
}

mapping! {
    /// Which requests are delayed, and how long.
    DelaySpec as "delay" {
        /// How long; at most the filter's `timeout`.
        required time: Time<1, 3_600_000>, example "2s";
        /// How many of the requests.
        optional percent: Percent, default "100", example "5";
    }
}

mapping! {
    /// Which requests are answered instead of passed on, and how.
    AbortSpec as "abort" {
        /// The status of the answer.
        required status: Number<200, 599>, example "503";
        /// How many of the requests.
        optional percent: Percent, default "100", example "0.1";
    }
}

mapping! {
    /// Makes calls of gRPC of requests with JSON, and JSON of what they are answered with, as the option
    /// `google.api.http` of the methods says. The endpoint gets `POST /package.Service/Method` with
    /// `content-type: application/grpc`; requests that are gRPC already go on as they are.
    GrpcJsonSpec as "grpc_json" {
        /// A `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it. It is read when the
        /// configuration is. A relative path begins where the configuration file lies.
        required descriptors: FilePath, example "./library.binpb";
        /// Full names of the services.
        optional services: Vec<Spanned<BoundedText<256>>>, otherwise "all of the descriptors", example "[library.v1.Library]";
        /// Whether methods without `google.api.http` are called with `POST /package.Service/Method`, the message as the body.
        optional auto: bool, default "false", example "true";
        /// What becomes of requests that are none of a method.
        optional unknown_requests: UnknownRequestsName, default "pass", example "refuse";
        /// What becomes of query parameters that are no field.
        optional unknown_parameters: UnknownName, default "refuse", example "ignore";
        /// What becomes of members of JSON, and names of enums, that the message does not have.
        optional unknown_fields: UnknownName, default "refuse", example "ignore";
        /// Query parameters that are for somebody else.
        optional ignore_parameters: Vec<Spanned<BoundedText<256>>>, default "[]", example "[key, alt]";
        /// How the messages of a stream stand in a response. A client that accepts `application/x-ndjson` or
        /// `text/event-stream` gets that.
        optional stream: StreamFormName, default "array", example "lines";
        /// Which names fields have in responses; in requests both are read.
        optional names: JsonNamesName, default "json", example "declared";
        /// How enums stand in responses; in requests both are read.
        optional enums: EnumFormName, default "names", example "numbers";
        /// Whether fields that have their default stand in responses.
        optional defaults: bool, default "false", example "true";
        /// Largest message, on the wire or as JSON. Beyond it the answer is 413, or 502 for one of the endpoint's.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "4MiB", example "1MiB";
        /// Whether the rule is looked up again, by the path of the method in gRPC.
        optional reroute: bool, default "false", example "true";
    }
}

mapping! {
    /// Makes calls of gRPC of those of gRPC-Web (`application/grpc-web`, `application/grpc-web-text`): the messages go on as
    /// they are or decoded, and what they are answered with has its trailers in a last frame. What is no such call passes.
    ///
    /// Pages of other sites need the filter `cors` before it, with `expose: [grpc-status, grpc-message]`.
    GrpcWebSpec as "grpc_web" {
        /// Whether bodies in Base64 are taken. Otherwise the answer to them is 415, and none is written.
        optional text: bool, default "true", example "false";
    }
}
