//! The keys of a filter, and what a rule may say of one.

use super::builtin::{
    BasicAuthSpec, BodyLimitSpec, CorsSpec, FaultSpec, GrpcJsonSpec, GrpcWebSpec, HeadersSpec, IpAccessSpec,
    RateLimitSpec, RequestIdSpec,
};
use super::lua::{LuaRuleSpec, LuaSpec};
use super::messages::{FilterFieldsSpec, MessageFieldsSpec, RedactSpec};
use super::wasm::WasmSpec;
use crate::read::{Any, Boxed, Deferred};
use crate::value::{ByteSize, ConfigName, FailureName, FilePath, Number, Time};

mapping! {
    /// A filter: what runs it, how it is configured, and what becomes of an exchange in which it fails. Listeners
    /// name the filters that their exchanges pass, in order; the guide on filters tells what each kind does.
    FilterSpec as "a filter" {
        /// A filter in Go.
        optional go: GoSpec, example "{filter: basic-auth, package: ./filters/auth}";
        /// A filter in a shared library by the contract of `abi/eddy_filter.h`: in Rust, C or another language.
        optional native: NativeSpec, example "{filter: mark, library: ./libmark.so}";
        /// A filter in Lua.
        optional lua: LuaSpec, example "{file: ./mark.lua}";
        /// A filter in Wasm, by the contract proxy-wasm.
        optional wasm: Boxed<WasmSpec>, example "{module: ./auth.wasm}";
        /// Asks for a user name and a password.
        optional basic_auth: Deferred<BasicAuthSpec>, example "{file: ./users.htpasswd}";
        /// Changes fields of requests and responses.
        optional headers: Deferred<HeadersSpec>, example "{response: {remove: [server]}}";
        /// Tells browsers which other sites may read what is answered.
        optional cors: Deferred<CorsSpec>, example "{origins: ['https://example.com']}";
        /// Lets addresses in or keeps them out.
        optional ip_access: Deferred<IpAccessSpec>, example "{allow: [10.0.0.0/8]}";
        /// Gives requests an id.
        optional request_id: Deferred<RequestIdSpec>, example "{format: uuid7}";
        /// Refuses requests that come too often.
        optional rate_limit: Deferred<RateLimitSpec>, example "{requests: 100, per: 1s}";
        /// Refuses bodies that are too large.
        optional body_limit: Deferred<BodyLimitSpec>, example "{request: 10MiB}";
        /// Delays and refuses requests, to see how clients bear it.
        optional fault: Deferred<FaultSpec>, example "{abort: {status: 503, percent: 1}}";
        /// Makes calls of gRPC of requests with JSON, and JSON of what they are answered with.
        optional grpc_json: Deferred<GrpcJsonSpec>, example "{descriptors: ./library.binpb}";
        /// Makes calls of gRPC of those of gRPC-Web, as browsers speak it.
        optional grpc_web: Deferred<GrpcWebSpec>, example "{}";
        /// Takes fields out of protobuf messages, for access records, headers and routes.
        optional message_fields: Deferred<MessageFieldsSpec>, example "{descriptors: ./orders.binpb, request: {tenant: {path: customer.tenant}}}";
        /// Takes out of protobuf messages what must not go on, or masks it.
        optional redact: Deferred<RedactSpec>, example "{descriptors: ./accounts.binpb, options: [debug_redact]}";
        /// The configuration of a filter in Go or another language: any value, which the filter gets as JSON. A text in
        /// quotes stays a text; without quotes the types of YAML 1.2 hold. A filter in Wasm gets a text as it is.
        optional config: Any, otherwise "the filter gets `null`, or nothing in Wasm", example "{username: eddy, tries: 3}";
        /// The fields of protobuf messages that a filter in Go or another language reads, by paths.
        optional fields: Boxed<FilterFieldsSpec>, otherwise "it reads none", example "{descriptors: ./orders.binpb, request: {tenant: {path: customer.tenant}}}";
        /// What becomes of an exchange in which the filter fails.
        optional on_failure: FailureName, default "closed", example "open";
        /// Longest time that the filter may let a message wait. Beyond it the answer is 504.
        optional timeout: Time<1, 3_600_000>, default "30s", example "5s";
        /// Whether the hooks of a filter in Go or another language run on threads of their own instead of the
        /// worker's: for filters that block. It costs some microseconds a hook.
        optional blocking: bool, default "false", example "true";
        /// Largest body that is collected when the filter asks for the whole. Beyond it the answer is 413 to a request
        /// and 502 to a response.
        optional body_bytes_max: ByteSize<0, 1_073_741_824>, default "1MiB", example "10MiB";
        /// Most requests of the filter's own to clusters that one exchange has under way. Beyond it a call is refused.
        optional calls_per_exchange: Number<1, 1024>, default "16", example "4";
        /// Most requests of the filter's own to clusters under way, of all workers together, that no exchange waits for:
        /// asynchronous calls of a Lua script, calls from ticks, and those whose exchange is over. Beyond it a call is
        /// refused.
        optional background_calls: Number<0, 2048>, default "128", example "16";
        /// Whether the filter is left out, but for rules that say `disabled: false`.
        optional disabled: bool, default "false", example "true";
        group One of go native lua wasm basic_auth headers cors ip_access request_id rate_limit body_limit fault grpc_json grpc_web message_fields redact;
    }
}

mapping! {
    /// Where a filter in Go comes from. All filters in Go of a configuration become one library, as a process holds only
    /// one Go runtime.
    GoSpec as "a filter in Go" {
        /// The name under which the package registers it.
        required filter: ConfigName, example "basic-auth";
        /// The folder of its package. A relative path begins where the configuration file lies.
        optional package: FilePath, example "./filters/auth";
        /// A library that was built before, by `eddy filter build`.
        optional library: FilePath, example "./bundle.so";
        group One of package library;
    }
}

mapping! {
    /// Where a filter in a shared library comes from.
    NativeSpec as "a native filter" {
        /// Its name in the library.
        required filter: ConfigName, example "mark";
        /// The library. A relative path begins where the configuration file lies.
        required library: FilePath, example "./libmark.so";
    }
}

mapping! {
    /// What a rule says of a filter of the listener.
    RuleFilterSpec as "a filter under a rule" {
        /// Whether the filter is left out under this rule.
        optional disabled: bool, otherwise "as the filter says", example "true";
        /// The filter's configuration under this rule. Of a filter that eddy brings along, keys that are not given
        /// are those of the filter itself; others get both and decide for themselves.
        optional config: Any, otherwise "the filter's own", example "{requests: 10}";
        /// The script that a filter in Lua runs under this rule.
        optional lua: LuaRuleSpec, otherwise "the filter's own", example "{script: strict}";
        group OneOrMore of disabled config lua;
    }
}
