//! Configuration keys of a listener.

use eddy_config::{AddressBlock, ListenAddress, ProxyVersion};
use eddy_route::HostPattern;

use crate::read::{OneOrMany, Spanned};
use crate::spec::ListenerTlsSpec;
use crate::value::{ByteSize, ConfigName, FieldName, Number, Pseudonym, Time, TransportName};

mapping! {
    /// A listener: a bound address, how it is served, and its limits.
    ListenerSpec as "a listener" {
        /// Name of the listener in metrics and logs.
        optional name: ConfigName, otherwise "its address", example "public";
        /// Address to listen on: IPv4, IPv6 (in quotes) or a Unix socket. Port 0 selects a free port.
        required address: ListenAddress, example "127.0.0.1:8080";
        /// Transport protocol. A TCP and a UDP listener can have the same address.
        optional protocol: TransportName, default "tcp", example "udp";
        /// Route table, or a list of tables: the most specific host across the tables wins, then the order of the list.
        optional routes: OneOrMany<ConfigName>, example "site";
        /// Whether the built-in demo endpoint is served instead of routes: `/echo`, `/fixed` and `/slow`.
        optional demo: bool, default "false", example "true";
        /// TCP or UDP proxy: forwards connections or datagrams unchanged, to one cluster or by the server name (SNI) of
        /// TLS clients.
        optional forward: OneOrMany<ForwardSpec>, example "{cluster: postgres}";
        /// PROXY protocol header, by which a proxy in front of eddy passes the client address.
        optional proxy_protocol: ProxyProtocolSpec, otherwise "connections come directly from clients", example "{from: [10.0.0.0/8]}";
        /// TLS settings.
        optional tls: ListenerTlsSpec, otherwise "cleartext", example "{certificates: [{chain: site.crt, key: site.key}]}";
        /// HTTP/2 settings.
        optional http2: Http2Spec, otherwise "its defaults: HTTP/2 is accepted over TLS and in cleartext", example "{streams: 250}";
        /// Limits per connection and request.
        optional limits: ListenerLimitsSpec, otherwise "its defaults", example "{body_bytes: 10MiB}";
        /// Timeouts per connection and request.
        optional timeouts: TimeoutsSpec, otherwise "its defaults", example "{idle: 30s}";
        /// Headers that pass client information to endpoints.
        optional forwarded: ForwardedSpec, otherwise "its defaults", example "{trusted: [10.0.0.0/8]}";
        /// Pseudonym that eddy adds to the `Via` header.
        optional via: Pseudonym, otherwise "`Via` is forwarded unchanged", example "eddy";
        /// Header that carries the request ID. The ID of a trusted peer is kept; others are replaced.
        optional request_id: FieldName, otherwise "requests get no ID", example "x-request-id";
        /// Filters that every exchange of this listener passes, in this order; responses pass them in reverse order. At
        /// most 64.
        optional filters: Vec<Spanned<ConfigName>>, default "[]", example "[auth, cors]";
        /// Whether access log entries are written for this listener, if there is an `access_log`: one per exchange, and
        /// with `forward` one per connection or UDP session, at its end.
        optional access_log: bool, default "true", example "false";
        group One of routes demo forward;
    }
}

mapping! {
    /// Target of forwarded connections or datagrams.
    ForwardSpec as "a forward target" {
        /// Cluster that they are forwarded to.
        required cluster: ConfigName, example "postgres";
        /// Server names (SNI) of TLS clients: exact, or `*.` and a name for everything below it. The most specific name
        /// wins. If the listener has no `tls`, TLS is not terminated: eddy reads only the name.
        optional server_names: Vec<Spanned<HostPattern>>, otherwise "names that no other entry has, and clients without TLS", example "[db.example.com, '*.example.org']";
        /// PROXY protocol version in which the client address is passed to the endpoint.
        optional proxy_protocol: ProxyVersion, otherwise "no PROXY protocol header is sent", example "v2";
        /// With `protocol: udp`: maximum datagrams from a client in one session. The next one starts another session,
        /// which may go to another endpoint.
        optional datagrams: Number<1, 1_000_000_000>, otherwise "no limit: a session ends when it is idle for `timeouts.idle`", example "1";
        /// With `protocol: udp`: datagrams that the endpoint sends for each client datagram. A session ends as soon as
        /// it has had that many; a session that ends by timeout without any counts as a failure of the endpoint.
        optional responses: Number<1, 1_000_000_000>, otherwise "responses do not end a session", example "1";
    }
}

mapping! {
    /// PROXY protocol, versions 1 and 2.
    ProxyProtocolSpec as "proxy_protocol" {
        /// Addresses of peers whose connections must begin with a PROXY protocol header; without it the connection is
        /// closed. Connections from other addresses are served without a header.
        optional from: Vec<Spanned<AddressBlock>>, otherwise "every connection must begin with a header", example "[10.0.0.0/8]";
    }
}

mapping! {
    /// HTTP/2 settings.
    Http2Spec as "http2" {
        /// Whether HTTP/2 is offered to TLS clients.
        optional tls: bool, default "true", example "false";
        /// Whether HTTP/2 is accepted in cleartext, from clients that start with it (prior knowledge).
        optional cleartext: bool, default "true", example "false";
        /// Maximum concurrent streams per connection. Further streams are refused in a way that lets the client retry
        /// them.
        optional streams: Number<1, 10_000>, default "100", example "250";
        /// Initial flow-control window per stream: bytes of a request body that a client may send before eddy has
        /// consumed them. Fast uploads over high-latency paths need at least the bandwidth-delay product.
        optional stream_window: ByteSize<16_384, 16_777_216>, default "64KiB", example "1MiB";
        /// Flow-control window of a connection: the same limit for all of its streams together.
        optional connection_window: ByteSize<65_536, 67_108_864>, default "1MiB", example "4MiB";
        /// Cost limit for frames that are neither requests nor bodies: a reset or a ping costs 5, settings 10, a head
        /// that is answered 431 costs 10, and each KiB by which a decoded head is out of proportion to the bytes
        /// received costs 5. A fifth of the budget is regained every second. When it is used up, the connection is
        /// closed with `ENHANCE_YOUR_CALM`.
        optional budget: Number<100, 1_000_000>, default "1000", example "5000";
    }
}

mapping! {
    /// Limits per connection and request.
    ListenerLimitsSpec as "limits of a listener" {
        /// Maximum size of a request head: request line and headers. Larger requests are answered 431.
        optional head_bytes: ByteSize<1024, 1_048_576>, default "64KiB", example "16KiB";
        /// Maximum number of headers in a request. Requests with more are answered 431.
        optional fields: Number<1, 1024>, default "128", example "64";
        /// Maximum length of a request target: path and query. Longer ones are answered 414.
        optional target_bytes: ByteSize<64, 1_048_576>, default "8KiB", example "4KiB";
        /// Maximum size of a request body. Larger requests are answered 413. Bodies are streamed, never held in memory
        /// as a whole.
        optional body_bytes: ByteSize<0, 1_125_899_906_842_624>, otherwise "no limit", example "10MiB";
        /// Maximum connections of this listener; with `protocol: udp` maximum sessions, 10,000 by default.
        optional connections: Number<1, 10_000_000>, default "100000", example "10000";
        /// Maximum requests on a connection before it is closed; `0` for no limit.
        optional requests_per_connection: Number<0, 1_000_000_000>, default "0", example "1000";
    }
}

mapping! {
    /// Timeouts per connection and request.
    TimeoutsSpec as "timeouts" {
        /// Maximum time from the first byte of a request head to its end. Slower requests are answered 408.
        optional head: Time<10, 3_600_000>, default "10s", example "5s";
        /// Maximum idle time of a connection between requests. For a forwarded TCP connection: maximum time without
        /// data in either direction, 10 minutes by default; for a UDP session 60 seconds by default.
        optional idle: Time<10, 86_400_000>, default "60s", example "30s";
        /// Minimum average rate in bytes per second, after `body_grace`, at which a client sends a request body or
        /// reads a response; `0` turns the limit off.
        optional body_rate: ByteSize<0, 1_073_741_824>, default "1KiB", example "4KiB";
        /// Time during which a body may be slower than `body_rate`.
        optional body_grace: Time<0, 3_600_000>, default "10s", example "5s";
        /// Maximum duration of an exchange. A rule's `timeout` takes precedence. Beyond it the response is 504. For a
        /// tunnel, the limit applies until the tunnel opens.
        optional exchange: Time<1, 86_400_000>, otherwise "no limit", example "1m";
        /// Maximum time without data in either direction of a tunnel (WebSocket, `CONNECT`). Beyond it the tunnel is
        /// closed.
        optional tunnel: Time<10, 86_400_000>, default "10m", example "1h";
        /// Maximum time that a tunnel continues after a reload, under the configuration with which it began.
        optional tunnel_reload: Time<0, 604_800_000>, default "1h", example "5m";
    }
}

mapping! {
    /// Headers that pass client information to endpoints.
    ForwardedSpec as "forwarded" {
        /// Whether `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` are sent.
        optional x_forwarded: bool, default "true", example "false";
        /// Whether `Forwarded` (RFC 7239) is sent.
        optional forwarded: bool, default "false", example "true";
        /// Trusted proxies in front of eddy, whose own forwarding headers are kept and extended. Those of all other
        /// peers are replaced, because any client can forge them.
        optional trusted: Vec<Spanned<AddressBlock>>, default "[]", example "[10.0.0.0/8]";
    }
}
