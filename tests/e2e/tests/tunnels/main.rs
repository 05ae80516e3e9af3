//! Connections that become something else: WebSockets over both versions of HTTP, other upgrades, and `CONNECT`.

mod agreement;
mod connect;
mod dialects;
mod endpoint;
mod framed;
mod lifetime;
mod shared;
mod websocket;
