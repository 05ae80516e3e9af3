//! Tunnels: WebSockets over both HTTP versions, other upgrades, and `CONNECT`.

mod agreement;
mod connect;
mod dialects;
mod endpoint;
mod framed;
mod lifetime;
mod shared;
mod websocket;
