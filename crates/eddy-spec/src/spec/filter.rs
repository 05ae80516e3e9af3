//! Configuration keys of a filter, and of the settings that a rule has for one.

use eddy_filter::FailurePolicy;

use super::builtin::{
    BasicAuthSpec, BodyLimitSpec, CorsSpec, FaultSpec, GrpcJsonSpec, GrpcWebSpec, HeadersSpec, IpAccessSpec,
    RateLimitSpec, RequestIdSpec,
};
use super::lua::{LuaRuleSpec, LuaSpec};
use super::messages::{FilterFieldsSpec, MessageFieldsSpec, RedactSpec};
use super::wasm::WasmSpec;
use crate::read::{Any, Boxed, Deferred};
use crate::value::{BoundedText, ByteSize, ConfigName, FilePath, Number, Time};

mapping! {
    /// A filter: the engine that runs it, its configuration, and the handling of exchanges in which it fails. Listeners
    /// name the filters that their exchanges pass, in order. The guide on filters describes each kind.
    FilterSpec as "a filter" {
        /// A Go filter.
        optional go: GoSpec, example "{filter: basic-auth, package: ./filters/auth}";
        /// A filter in a shared library that implements the filter ABI (`abi/eddy_filter.h`), written in Rust, C or
        /// another language.
        optional native: NativeSpec, example "{filter: mark, library: ./libmark.so}";
        /// A Lua filter.
        optional lua: LuaSpec, example "{file: ./mark.lua}";
        /// A Wasm filter that uses the proxy-wasm ABI.
        optional wasm: Boxed<WasmSpec>, example "{module: ./auth.wasm}";
        /// A filter in a shared library for Envoy's dynamic module ABI, which is loaded without changes.
        optional dynamic_module: DynamicModuleSpec, example "{name: auth, filter: basic-auth}";
        /// HTTP basic authentication with user names and passwords.
        optional basic_auth: Deferred<BasicAuthSpec>, example "{file: ./users.htpasswd}";
        /// Changes headers of requests and responses.
        optional headers: Deferred<HeadersSpec>, example "{response: {remove: [server]}}";
        /// Cross-origin resource sharing (CORS): tells browsers which other origins may read responses.
        optional cors: Deferred<CorsSpec>, example "{origins: ['https://example.com']}";
        /// IP allowlist and denylist.
        optional ip_access: Deferred<IpAccessSpec>, example "{allow: [10.0.0.0/8]}";
        /// Gives requests an ID.
        optional request_id: Deferred<RequestIdSpec>, example "{format: uuid7}";
        /// Request rate limit.
        optional rate_limit: Deferred<RateLimitSpec>, example "{requests: 100, per: 1s}";
        /// Body size limits.
        optional body_limit: Deferred<BodyLimitSpec>, example "{request: 10MiB}";
        /// Fault injection: delays and refuses requests to test how clients cope.
        optional fault: Deferred<FaultSpec>, example "{abort: {status: 503, percent: 1}}";
        /// JSON-to-gRPC transcoding: converts JSON requests to gRPC calls and the responses back to JSON.
        optional grpc_json: Deferred<GrpcJsonSpec>, example "{descriptors: ./library.binpb}";
        /// Converts gRPC-Web calls of browsers to gRPC calls.
        optional grpc_web: Deferred<GrpcWebSpec>, example "{}";
        /// Extracts fields of protobuf messages for access logs, headers and routing.
        optional message_fields: Deferred<MessageFieldsSpec>, example "{descriptors: ./orders.binpb, request: {tenant: {path: customer.tenant}}}";
        /// Removes or masks sensitive fields of protobuf messages.
        optional redact: Deferred<RedactSpec>, example "{descriptors: ./accounts.binpb, options: [debug_redact]}";
        /// Configuration of a Go, Lua, Wasm or native filter or of a dynamic module: any value, which the filter receives
        /// as JSON. Quoted strings stay strings; unquoted values have the types of YAML 1.2. A Wasm filter and a dynamic
        /// module receive a string as it is.
        optional config: Any, otherwise "the filter receives `null`; a Wasm filter and a dynamic module receive an empty configuration", example "{username: eddy, tries: 3}";
        /// Protobuf message fields that a Go, Lua, Wasm or native filter reads, by paths.
        optional fields: Boxed<FilterFieldsSpec>, otherwise "no fields", example "{descriptors: ./orders.binpb, request: {tenant: {path: customer.tenant}}}";
        /// Handling of an exchange in which the filter fails.
        optional on_failure: FailurePolicy, default "closed", example "open";
        /// Maximum time that the filter may pause a message. Beyond it the response is 504.
        optional timeout: Time<1, 3_600_000>, default "30s", example "5s";
        /// Whether the hooks of a Go or native filter run on separate threads instead of the worker's: for filters that
        /// block. It costs some microseconds per hook.
        optional blocking: bool, default "false", example "true";
        /// Maximum size of a body that is buffered when the filter asks for the whole body. Larger request bodies are
        /// answered 413, larger response bodies 502.
        optional body_bytes_max: ByteSize<0, 1_073_741_824>, default "1MiB", example "10MiB";
        /// Maximum requests in flight that the filter has sent to clusters for one exchange. Further calls are refused.
        optional calls_per_exchange: Number<1, 1024>, default "16", example "4";
        /// Maximum requests in flight that the filter has sent to clusters and for which no exchange waits, by all
        /// workers together: asynchronous calls of a Lua script, calls from ticks, and calls whose exchange is over.
        /// Further calls are refused.
        optional background_calls: Number<0, 2048>, default "128", example "16";
        /// Whether the filter is skipped, except under rules that set `disabled: false`.
        optional disabled: bool, default "false", example "true";
        group One of go native lua wasm dynamic_module basic_auth headers cors ip_access request_id rate_limit body_limit fault grpc_json grpc_web message_fields redact;
    }
}

mapping! {
    /// Source of a Go filter. All Go filters of a configuration are linked into one library, because a process can have
    /// only one Go runtime.
    GoSpec as "a Go filter" {
        /// Name under which the package registers the filter.
        required filter: ConfigName, example "basic-auth";
        /// Directory of the filter's package. Relative paths are resolved against the directory of the configuration
        /// file.
        optional package: FilePath, example "./filters/auth";
        /// A library that was built beforehand with `eddy filter build`.
        optional library: FilePath, example "./bundle.so";
        group One of package library;
    }
}

mapping! {
    /// Source of a filter in a shared library.
    NativeSpec as "a native filter" {
        /// Name of the filter in the library.
        required filter: ConfigName, example "mark";
        /// Library file. Relative paths are resolved against the directory of the configuration file.
        required library: FilePath, example "./libmark.so";
    }
}

mapping! {
    /// A library with HTTP filters for Envoy's dynamic module ABI, of Envoy 1.38, 1.39 or 1.40. It runs in eddy's
    /// process with all its permissions, and stays loaded until the process ends.
    DynamicModuleSpec as "a dynamic module" {
        /// Name of the module: the file `libNAME.so` in the directory that the environment variable
        /// `ENVOY_DYNAMIC_MODULES_SEARCH_PATH` names, or else in a directory of `LD_LIBRARY_PATH`.
        optional name: BoundedText<256>, example "auth";
        /// Library file. Relative paths are resolved against the directory of the configuration file.
        optional path: FilePath, example "./libauth.so";
        /// Name of the filter, which the module gets together with `config`.
        optional filter: BoundedText<256>, default "''", example "basic-auth";
        /// Whether libraries that are loaded later can use the symbols of this one.
        optional load_globally: bool, default "false", example "true";
        group One of name path;
    }
}

mapping! {
    /// Settings of a rule for a filter of the listener.
    RuleFilterSpec as "a filter under a rule" {
        /// Whether the filter is skipped under this rule.
        optional disabled: bool, otherwise "the value of the filter", example "true";
        /// Configuration of the filter under this rule. A built-in filter uses its own values for keys that are not
        /// given here. Other filters receive both configurations and merge them themselves.
        optional config: Any, otherwise "the filter's own", example "{requests: 10}";
        /// Script that a Lua filter runs under this rule.
        optional lua: LuaRuleSpec, otherwise "the filter's own", example "{script: strict}";
        group OneOrMore of disabled config lua;
    }
}
