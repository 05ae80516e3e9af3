//! The keys of a listener.

use eddy_route::HostPattern;

use crate::config::{AddressBlock, ListenAddress};
use crate::read::{OneOrMany, Spanned};
use crate::spec::ListenerTlsSpec;
use crate::value::{
    ByteSize, ConfigName, FieldName, Number, ProxyVersionName, Pseudonym, Time, TransportName,
};

mapping! {
    /// A listener: an address, what is served there and its limits.
    ListenerSpec as "a listener" {
        /// Names the listener in metrics and logs.
        optional name: ConfigName, otherwise "its address", example "public";
        /// The address to listen on: IPv4, IPv6 (in quotes) or a Unix socket. Port 0 takes a free port.
        required address: ListenAddress, example "127.0.0.1:8080";
        /// What carries what clients send. TCP and UDP can have the same address.
        optional protocol: TransportName, default "tcp", example "udp";
        /// The route table that answers here, or a list of tables: the most specific host across the tables wins,
        /// then the order of the list.
        optional routes: OneOrMany<ConfigName>, example "site";
        /// Serve the built-in demo endpoint instead of routes: `/echo`, `/fixed` and `/slow`.
        optional demo: bool, default "false", example "true";
        /// Pass connections or datagrams on as they are instead of requests: to one cluster, or by the name that a client of
        /// TLS asks for.
        optional forward: OneOrMany<ForwardSpec>, example "{cluster: postgres}";
        /// The PROXY protocol, by which a proxy in front says who the client is.
        optional proxy_protocol: ProxyProtocolSpec, otherwise "connections come from clients themselves", example "{from: [10.0.0.0/8]}";
        /// Serve over TLS.
        optional tls: ListenerTlsSpec, otherwise "requests come in cleartext", example "{certificates: [{chain: site.crt, key: site.key}]}";
        /// How HTTP/2 is spoken, where clients speak it.
        optional http2: Http2Spec, otherwise "its defaults: clients may, over TLS and in cleartext", example "{streams: 250}";
        /// Limits of a connection and its requests.
        optional limits: ListenerLimitsSpec, otherwise "its defaults", example "{body_bytes: 10MiB}";
        /// Timeouts of a connection and its requests.
        optional timeouts: TimeoutsSpec, otherwise "its defaults", example "{idle: 30s}";
        /// What clusters are told of the client.
        optional forwarded: ForwardedSpec, otherwise "its defaults", example "{trusted: [10.0.0.0/8]}";
        /// The word under which eddy adds itself to the field `Via`.
        optional via: Pseudonym, otherwise "`Via` is passed on as it is", example "eddy";
        /// The field that carries the request id. A trusted peer's id is kept; others get a new one.
        optional request_id: FieldName, otherwise "requests get no id", example "x-request-id";
        /// Filters that every exchange of this listener passes, in this order; responses pass them the other way. At
        /// most 64.
        optional filters: Vec<Spanned<ConfigName>>, default "[]", example "[auth, cors]";
        /// Whether access records are written for this listener, if there is an `access_log`: one for each exchange, and with
        /// `forward` one for each connection or session of datagrams, at its end.
        optional access_log: bool, default "true", example "false";
        group One of routes demo forward;
    }
}

mapping! {
    /// Where connections or datagrams go.
    ForwardSpec as "a way of connections" {
        /// The cluster whose endpoints they go to.
        required cluster: ConfigName, example "postgres";
        /// The names that clients of TLS ask for: exact, or `*.` and a name for everything below it. The most specific
        /// name wins. Without `tls` of the listener, TLS stays between client and endpoint: only the name is read.
        optional server_names: Vec<Spanned<HostPattern>>, otherwise "whatever no other names, and clients without TLS", example "[db.example.com, '*.example.org']";
        /// Tell the endpoint who the client is, by the PROXY protocol.
        optional proxy_protocol: ProxyVersionName, otherwise "it is not told", example "v2";
        /// With `protocol: udp`: datagrams of a client in one session. The next one begins another, which may go to another
        /// endpoint.
        optional datagrams: Number<1, 1_000_000_000>, otherwise "all that come before it has been silent for `timeouts.idle`", example "1";
        /// With `protocol: udp`: datagrams that the endpoint sends for each of the client's. A session that has had as many
        /// ends at once; one that has had none when it ends by silence counts as a failure of the endpoint.
        optional responses: Number<1, 1_000_000_000>, otherwise "a session ends by silence alone", example "1";
    }
}

mapping! {
    /// The PROXY protocol, versions 1 and 2.
    ProxyProtocolSpec as "proxy_protocol" {
        /// Where connections come from that begin so; those that don't are closed. All others are taken as they are.
        optional from: Vec<Spanned<AddressBlock>>, otherwise "every connection begins so", example "[10.0.0.0/8]";
    }
}

mapping! {
    /// How HTTP/2 is spoken.
    Http2Spec as "http2" {
        /// Offer HTTP/2 to clients that come over TLS.
        optional tls: bool, default "true", example "false";
        /// Take HTTP/2 from clients that begin with it in cleartext (prior knowledge).
        optional cleartext: bool, default "true", example "false";
        /// Most requests at once on a connection. One more is refused in a way that lets the client send it again.
        optional streams: Number<1, 10_000>, default "100", example "250";
        /// How much of a request's body may come before it is taken: for fast uploads over long ways, at least what is
        /// under way meanwhile.
        optional stream_window: ByteSize<16_384, 16_777_216>, default "64KiB", example "1MiB";
        /// The same for all requests of a connection together.
        optional connection_window: ByteSize<65_536, 67_108_864>, default "1MiB", example "4MiB";
        /// What frames that are neither requests nor bodies may cost at once: a reset or a ping 5, settings 10, a head that is
        /// answered 431 10, each KiB of a head that is out of proportion to what was received of it 5. A fifth of it comes back
        /// every second. Beyond it the connection is closed with `ENHANCE_YOUR_CALM`.
        optional budget: Number<100, 1_000_000>, default "1000", example "5000";
    }
}

mapping! {
    /// Limits of a connection and its requests.
    ListenerLimitsSpec as "limits of a listener" {
        /// Largest head of a request: request line and fields. Beyond it the answer is 431.
        optional head_bytes: ByteSize<1024, 1_048_576>, default "64KiB", example "16KiB";
        /// Most fields of a head. Beyond it the answer is 431.
        optional fields: Number<1, 1024>, default "128", example "64";
        /// Longest request target: path and query. Beyond it the answer is 414.
        optional target_bytes: ByteSize<64, 1_048_576>, default "8KiB", example "4KiB";
        /// Largest request body. Beyond it the answer is 413. Bodies are streamed, never held in memory as a whole.
        optional body_bytes: ByteSize<0, 1_125_899_906_842_624>, otherwise "there is no limit", example "10MiB";
        /// Most connections of this listener; with `protocol: udp` most sessions, 10,000 by default.
        optional connections: Number<1, 10_000_000>, default "100000", example "10000";
        /// Most requests on a connection before it is closed; `0` for no limit.
        optional requests_per_connection: Number<0, 1_000_000_000>, default "0", example "1000";
    }
}

mapping! {
    /// Timeouts of a connection and its requests.
    TimeoutsSpec as "timeouts" {
        /// Longest time from the first byte of a request's head to its end. Beyond it the answer is 408.
        optional head: Time<10, 3_600_000>, default "10s", example "5s";
        /// Longest time a connection may be idle between requests. Of a connection that is passed on: longest silence on
        /// both ways, 10 minutes by default; of a session of datagrams 60 seconds by default.
        optional idle: Time<10, 86_400_000>, default "60s", example "30s";
        /// Least bytes a second, on average after `body_grace`, that a client sends of its body or takes of a
        /// response; `0` turns this off.
        optional body_rate: ByteSize<0, 1_073_741_824>, default "1KiB", example "4KiB";
        /// How long a body may be slower than `body_rate`.
        optional body_grace: Time<0, 3_600_000>, default "10s", example "5s";
        /// Longest time of a whole exchange. A rule's `timeout` goes before it. Beyond it the answer is 504. Of a tunnel it
        /// is the time until it opens.
        optional exchange: Time<1, 86_400_000>, otherwise "there is no limit", example "1m";
        /// Longest silence on both ways of a tunnel: a WebSocket, `CONNECT`. Beyond it the tunnel is closed.
        optional tunnel: Time<10, 86_400_000>, default "10m", example "1h";
        /// Longest time that a tunnel goes on after a reload, under the configuration that it began with.
        optional tunnel_reload: Time<0, 604_800_000>, default "1h", example "5m";
    }
}

mapping! {
    /// What clusters are told of the client.
    ForwardedSpec as "forwarded" {
        /// Send `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`.
        optional x_forwarded: bool, default "true", example "false";
        /// Send `Forwarded` (RFC 7239).
        optional forwarded: bool, default "false", example "true";
        /// Peers whose own forwarding fields are kept and extended: other proxies in front of this one. Everyone
        /// else's are replaced, as anybody can write them.
        optional trusted: Vec<Spanned<AddressBlock>>, default "[]", example "[10.0.0.0/8]";
    }
}
