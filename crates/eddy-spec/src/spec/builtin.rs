//! Configuration keys of the built-in filters.

use eddy_builtin::{
    EnumForm, IdFormat, JsonFieldNaming, RateFields, RequestFraction, StreamForm, Unknown, UnknownRequests,
};
use eddy_config::AddressBlock;

use super::EditsSpec;
use crate::read::{Boxed, NamedMap, Spanned};
use crate::value::{
    BoundedText, ByteSize, FieldName, FilePath, MethodName, Number, OrAll, OriginText, RateKeyName, Time,
    UserName,
};

mapping! {
    /// HTTP basic authentication (RFC 7617): requires a user name and a password. Otherwise the response is 401.
    ///
    /// A refused request costs the same amount of work whether or not the user exists. Slow password hashes (bcrypt,
    /// SHA-crypt) are computed on separate threads, never on a worker.
    BasicAuthSpec as "basic_auth" {
        /// Users, each with a password hash as in `file`, or with the plain password. A plain password that begins with
        /// `{` or `$` is written with the prefix `{PLAIN}`.
        optional users: NamedMap<UserName, BoundedText<1024>>, otherwise "only the users of `file`", example "{alice: '$2y$10$abcdefghijklmnopqrstuuM5mQ8M5myIEaBDev7HcpLnIZwoCz6rq'}";
        /// Password file with lines `user:hash`, as `htpasswd -B` writes it: bcrypt (`$2a$`, `$2b$`, `$2y$`), SHA-crypt
        /// (`$5$`, `$6$`) or `{SHA}`. It is read together with the configuration. Relative paths are resolved against
        /// the directory of the configuration file. If a user is in both, the entry in `users` applies.
        optional file: FilePath, otherwise "only the users under `users`", example "./users.htpasswd";
        /// Realm: the text that a browser shows when it asks for the password.
        optional realm: BoundedText<256>, default "restricted", example "the back office";
        /// Request header that passes the user name to the endpoint. The header is removed from client requests. Other
        /// filters find the user name in the metadata `auth`/`user`.
        optional user_header: FieldName, otherwise "the user name is not forwarded", example "x-user";
        /// Whether the `Authorization` header is removed from the request, so that the endpoint does not see the
        /// password.
        optional strip: bool, default "true", example "false";
        /// Cache of verified passwords, so that slow hashes are not computed for every request.
        optional cache: AuthCacheSpec, otherwise "its defaults", example "{ttl: 1m}";
        /// Number of threads that compute slow hashes.
        optional threads: Number<1, 64>, default "2", example "4";
        /// Maximum number of requests that wait for these threads. Further requests are answered 503.
        optional queue: Number<1, 65_536>, default "256", example "64";
        group OneOrMore of users file;
    }
}

mapping! {
    /// Cache of passwords that were verified by a slow hash. It holds keyed hashes in memory, never the passwords
    /// themselves. Fast hashes and wrong passwords are not cached.
    AuthCacheSpec as "cache of basic_auth" {
        /// Time for which a verified password is cached; `0s` disables the cache. A reload clears it.
        optional ttl: Time<0, 86_400_000>, default "5m", example "1m";
        /// Maximum number of cached passwords.
        optional entries: Number<1, 1_048_576>, default "4096", example "1024";
    }
}

mapping! {
    /// Changes headers of requests and responses.
    ///
    /// Values may contain variables: `${peer}`, `${peer_ip}`, `${local}`, `${listener}`, `${rule}`, `${cluster}`,
    /// `${request_id}`, `${method}`, `${target}`, `${path}`, `${query}`, `${authority}`, `${scheme}`, `${header.NAME}`
    /// (a request header), `${metadata.SPACE.KEY}`; in responses also `${status}`, `${endpoint}` and
    /// `${response.NAME}`. `$$` is a dollar sign. If a value is empty, the header is not written.
    HeadersSpec as "headers" {
        /// Changes to the request that later filters and the endpoint see.
        optional request: Boxed<EditsSpec>, otherwise "none", example "{set: {x-client: '${peer_ip}'}}";
        /// Changes to the response that earlier filters of the list and the client see.
        optional response: Boxed<EditsSpec>, otherwise "none", example "{remove: [server]}";
        group OneOrMore of request response;
    }
}

mapping! {
    /// Cross-origin resource sharing (CORS, Fetch standard): tells browsers which other origins may read responses.
    /// eddy answers preflight requests itself and replaces the CORS headers of the endpoint.
    CorsSpec as "cors" {
        /// Allowed origins: a single origin such as `https://example.com`, all subdomains as in
        /// `https://*.example.com`, a regular expression after `~` that must match the whole origin, or `*` for all.
        required origins: Vec<Spanned<OriginText>>, example "['https://example.com', 'https://*.example.org']";
        /// Methods that these origins may use; `*` for all.
        optional methods: Vec<Spanned<OrAll<MethodName>>>, default "[GET, HEAD, POST]", example "[GET, PUT, DELETE]";
        /// Request headers that these origins may send in addition to the safelisted ones; `*` for all.
        optional headers: Vec<Spanned<OrAll<FieldName>>>, default "[]", example "[authorization, content-type]";
        /// Response headers that these origins may read in addition to the safelisted ones; `*` for all.
        optional expose: Vec<Spanned<OrAll<FieldName>>>, default "[]", example "[x-request-id]";
        /// Whether requests may carry credentials such as cookies and passwords. Cannot be combined with the origin
        /// `*`.
        optional credentials: bool, default "false", example "true";
        /// Time for which a browser may cache the response to a preflight request.
        optional max_age: Time<0, 86_400_000>, default "10m", example "1h";
    }
}

mapping! {
    /// IP allowlist and denylist. Addresses in `deny` are refused first. Then, if `allow` is given, all addresses
    /// outside it are refused. The response is 403.
    IpAccessSpec as "ip_access" {
        /// Denylist: addresses that are refused.
        optional deny: Vec<Spanned<AddressBlock>>, otherwise "none", example "[203.0.113.0/24]";
        /// Allowlist: addresses that are accepted. Clients of a Unix socket have no address and are never in it.
        optional allow: Vec<Spanned<AddressBlock>>, otherwise "all", example "[10.0.0.0/8, 'fd00::/8']";
        /// Selects the client address that is checked.
        optional client: ClientSpec, otherwise "the address of the peer", example "{forwarded_position: 1, trusted: [10.0.0.1]}";
        group OneOrMore of deny allow;
    }
}

mapping! {
    /// Selects the client address from `X-Forwarded-For` if the peer is a trusted proxy. A trusted peer that sends too
    /// few addresses counts as the client itself. If it sends something that is not an address, the client has no
    /// address and the request is refused.
    ClientSpec as "client" {
        /// Position of the address in `X-Forwarded-For`, counted from the end: 1 is the one that the proxy in front of
        /// eddy wrote.
        required forwarded_position: Number<1, 16>, example "1";
        /// Addresses of the trusted proxies in front of eddy. Peers that connect through a Unix socket are always
        /// trusted.
        required trusted: Vec<Spanned<AddressBlock>>, example "[10.0.0.0/8]";
    }
}

mapping! {
    /// Gives each request an ID, which is forwarded to the endpoint.
    RequestIdSpec as "request_id" {
        /// Header that carries the ID.
        optional header: FieldName, default "x-request-id", example "x-trace";
        /// Format of generated IDs.
        optional format: IdFormat, default "uuid7", example "hex";
        /// Peers whose own request ID is kept if it consists of 1 to 128 visible characters. All other IDs are
        /// replaced.
        optional trusted: Vec<Spanned<AddressBlock>>, default "[]", example "[10.0.0.0/8]";
        /// Whether the response to the client has the ID as well, in the same header.
        optional respond: bool, default "false", example "true";
    }
}

mapping! {
    /// Request rate limit: refuses requests above the rate with 429 and `Retry-After`. Each process counts its own
    /// requests, over all workers.
    ///
    /// Limits per client or header are exact. With `key: all`, each worker takes requests from the common bucket in
    /// small lots, so up to a 64th of `burst` may be unavailable to other workers, or become available later.
    RateLimitSpec as "rate_limit" {
        /// Requests that are allowed in each `per`.
        required requests: Number<1, 10_000_000>, example "100";
        /// Period of the rate.
        required per: Time<1, 86_400_000>, example "1s";
        /// Burst size: maximum number of requests at once after a pause.
        optional burst: Number<1, 10_000_000>, otherwise "the value of `requests`", example "20";
        /// Key by which requests are counted.
        optional key: RateKeyName, default "client", example "all";
        /// Counts requests by the value of this header. Requests without it are counted together, too.
        optional header: FieldName, otherwise "requests are counted by `key`", example "x-api-key";
        /// Selects the client address, with `key: client`.
        optional client: ClientSpec, otherwise "the address of the peer", example "{forwarded_position: 1, trusted: [10.0.0.1]}";
        /// Prefix length in bits that identifies an IPv6 client. A household or server usually has a whole /64.
        optional ipv6_prefix: Number<16, 128>, default "64", example "56";
        /// Maximum number of clients or header values that are counted at once, 16 bytes each, rounded up to a power of
        /// two. Beyond it, the least used are evicted first.
        optional entries: Number<64, 4_194_304>, default "65536", example "1000000";
        /// Which responses have the headers `RateLimit-Policy` and `RateLimit`.
        optional tell: RateFields, default "refused", example "always";
        group NoneOrOne of key header;
    }
}

mapping! {
    /// Body size limits. Bodies that are too large are refused: by their `Content-Length` before they are read,
    /// otherwise as soon as they exceed the limit.
    BodyLimitSpec as "body_limit" {
        /// Maximum size of a request body. Larger requests are answered 413.
        optional request: ByteSize<0, 1_125_899_906_842_624>, otherwise "no limit", example "10MiB";
        /// Maximum size of a response body. Larger responses are answered 502, or cut off if the response has begun.
        optional response: ByteSize<0, 1_125_899_906_842_624>, otherwise "no limit", example "100MiB";
        group OneOrMore of request response;
    }
}

mapping! {
    /// Fault injection: delays and refuses requests to test how clients cope. Each request is drawn at random,
    /// separately for both faults. A request that is drawn for both is refused at once.
    FaultSpec as "fault" {
        /// Delays requests.
        optional delay: DelaySpec, otherwise "none are", example "{time: 2s, percent: 5}";
        /// Answers requests instead of forwarding them.
        optional abort: AbortSpec, otherwise "none are", example "{status: 503, percent: 0.1}";
        /// Restricts the faults to requests that have all of these headers: a name and the whole value, or `*` for any
        /// value.
        optional headers: NamedMap<FieldName, BoundedText<4096>>, otherwise "all requests", example "{x-test: slow}";
        group OneOrMore of delay abort;
    }
}

mapping! {
    /// Which requests are delayed, and for how long.
    DelaySpec as "delay" {
        /// Length of the delay; at most the filter's `timeout`.
        required time: Time<1, 3_600_000>, example "2s";
        /// Percentage of requests that are delayed.
        optional percent: RequestFraction, default "100", example "5";
    }
}

mapping! {
    /// Which requests are answered instead of forwarded, and with which status.
    AbortSpec as "abort" {
        /// Status of the response.
        required status: Number<200, 599>, example "503";
        /// Percentage of requests that are answered.
        optional percent: RequestFraction, default "100", example "0.1";
    }
}

mapping! {
    /// JSON-to-gRPC transcoding: converts HTTP requests with JSON to gRPC calls and the responses back to JSON, as the
    /// `google.api.http` options of the methods specify. The endpoint gets `POST /package.Service/Method` with
    /// `content-type: application/grpc`. Requests that are already gRPC are forwarded unchanged.
    GrpcJsonSpec as "grpc_json" {
        /// Protobuf descriptors: a `FileDescriptorSet` file as `protoc --include_imports --descriptor_set_out` writes
        /// it. It is read together with the configuration. Relative paths are resolved against the directory of the
        /// configuration file.
        required descriptors: FilePath, example "./library.binpb";
        /// Full names of the services.
        optional services: Vec<Spanned<BoundedText<256>>>, otherwise "all services in the descriptors", example "[library.v1.Library]";
        /// Whether methods without `google.api.http` can be called with `POST /package.Service/Method` and the message
        /// as the body.
        optional auto: bool, default "false", example "true";
        /// Handling of requests that match no method.
        optional unknown_requests: UnknownRequests, default "pass", example "refuse";
        /// Handling of query parameters that match no field.
        optional unknown_parameters: Unknown, default "refuse", example "ignore";
        /// Handling of JSON members and enum names that the message does not have.
        optional unknown_fields: Unknown, default "refuse", example "ignore";
        /// Query parameters that are ignored because they are meant for another component.
        optional ignore_parameters: Vec<Spanned<BoundedText<256>>>, default "[]", example "[key, alt]";
        /// Format of streamed messages in a response. A client that accepts `application/x-ndjson` or
        /// `text/event-stream` gets that format.
        optional stream: StreamForm, default "array", example "lines";
        /// Field names in responses. Requests may use either.
        optional names: JsonFieldNaming, default "json", example "declared";
        /// Format of enums in responses. Requests may use either.
        optional enums: EnumForm, default "names", example "numbers";
        /// Whether responses contain fields that have their default value.
        optional defaults: bool, default "false", example "true";
        /// Maximum size of a message, in binary form or as JSON. Larger messages are answered 413, or 502 if they come
        /// from the endpoint.
        optional message_bytes_max: ByteSize<1024, 8_388_608>, default "4MiB", example "1MiB";
        /// Whether the rule is looked up again, by the path of the gRPC method.
        optional reroute: bool, default "false", example "true";
    }
}

mapping! {
    /// Converts gRPC-Web calls (`application/grpc-web`, `application/grpc-web-text`) to gRPC calls. Messages are
    /// forwarded unchanged or decoded from Base64, and the response has its trailers in a last frame. All other
    /// requests pass.
    ///
    /// Pages of other origins need the filter `cors` before this one, with `expose: [grpc-status, grpc-message]`.
    GrpcWebSpec as "grpc_web" {
        /// Whether Base64 bodies (`application/grpc-web-text`) are supported. Otherwise they are answered 415 and never
        /// sent.
        optional text: bool, default "true", example "false";
    }
}
