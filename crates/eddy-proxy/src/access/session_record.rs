//! Access log entry of a forwarded connection or datagram session.

use std::time::Instant;

use eddy_config::ListenerConfig;
use eddy_ids::Shared;
use eddy_io::PeerAddress;
use eddy_upstream::ResolvedAddress;

use crate::access::record::{EndpointOrDash, member, put, text};
use crate::access::write::{AccessLogEntry, AccessWriter};
use crate::plan::GatewayPlan;
use crate::stats::WorkerSeries;

/// Properties of a forwarded connection or session that are known from its start.
#[derive(Debug)]
pub(crate) struct SessionStart {
    began: Instant,
    listener: Shared<str>,
    /// Version of the configuration under which it began.
    config: Shared<str>,
    has_record: bool,
}

/// Access log entry of a forwarded connection or session, borrowed from it.
pub(crate) struct SessionRecord<'a> {
    pub(crate) start: &'a SessionStart,
    pub(crate) client: PeerAddress,
    /// Server name (SNI) that the client asked for.
    pub(crate) server_name: Option<&'a str>,
    /// TLS version, if eddy terminates TLS.
    pub(crate) tls: Option<&'a str>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Number of datagrams of a session; `None` for a connection.
    pub(crate) datagrams: Option<Datagrams>,
    pub(crate) cluster: &'a str,
    pub(crate) endpoint: Option<&'a ResolvedAddress>,
    pub(crate) attempts: u8,
    /// Reason why it ended; `-` when both sides ended it regularly.
    pub(crate) reason: &'a str,
}

/// Number of datagrams forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Datagrams {
    pub(crate) taken: u64,
    pub(crate) given: u64,
}

impl SessionStart {
    /// Records the start of a connection or session of this listener.
    pub(crate) fn of(plan: &GatewayPlan, listener: &ListenerConfig) -> Self {
        Self {
            began: Instant::now(),
            listener: Shared::clone(&listener.name),
            config: Shared::clone(&plan.config.version),
            has_record: listener.has_access_log,
        }
    }

    fn duration_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl SessionRecord<'_> {
    /// Writes the entry if the plan has an access log and the listener uses it.
    pub(crate) fn write(&self, plan: &GatewayPlan, writer: &mut AccessWriter, series: &WorkerSeries) {
        if let (true, Some(access)) = (self.start.has_record, &plan.access)
            && access.has_lines()
        {
            writer.write(self, access, series);
        }
    }

    fn transport(&self) -> &'static str {
        if self.datagrams.is_some() { "udp" } else { "tcp" }
    }

    fn port(&self) -> u16 {
        match self.client {
            PeerAddress::Tcp(address) => address.port(),
            PeerAddress::Unix => 0,
        }
    }
}

impl AccessLogEntry for SessionRecord<'_> {
    fn write_text(&self, out: &mut Vec<u8>, time: &str) {
        put!(out, "{time} {} \"{} ", self.client.ip(), self.transport());
        text(out, self.server_name.unwrap_or("-").as_bytes());
        put!(out, "\" in={} out={} us={}", self.bytes_in, self.bytes_out, self.start.duration_us());
        put!(out, " listener={} cluster={}", self.start.listener, self.cluster);
        put!(out, " endpoint={}", EndpointOrDash(self.endpoint));
        put!(out, " attempts={} reason={} port={}", self.attempts, self.reason, self.port());
        if let Some(Datagrams { taken, given }) = self.datagrams {
            put!(out, " datagrams_in={taken} datagrams_out={given}");
        }
        if let Some(tls) = self.tls {
            put!(out, " tls={tls}");
        }
        put!(out, " config={}\n", self.start.config);
    }

    fn write_json(&self, out: &mut Vec<u8>, time: &str) {
        put!(out, "{{\"time\":\"{time}\",\"client\":\"{}\"", self.client.ip());
        member(out, "transport", self.transport().as_bytes());
        member(out, "server_name", self.server_name.unwrap_or("-").as_bytes());
        member(out, "reason", self.reason.as_bytes());
        put!(
            out,
            ",\"bytes_in\":{},\"bytes_out\":{},\"duration_us\":{},\"attempts\":{},\"client_port\":{}",
            self.bytes_in,
            self.bytes_out,
            self.start.duration_us(),
            self.attempts,
            self.port()
        );
        if let Some(Datagrams { taken, given }) = self.datagrams {
            put!(out, ",\"datagrams_in\":{taken},\"datagrams_out\":{given}");
        }
        if let Some(tls) = self.tls {
            member(out, "tls", tls.as_bytes());
        }
        member(out, "listener", self.start.listener.as_bytes());
        member(out, "cluster", self.cluster.as_bytes());
        member(out, "config", self.start.config.as_bytes());
        put!(out, ",\"endpoint\":\"{}\"}}\n", EndpointOrDash(self.endpoint));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_log_entry_is_one_line_for_any_request() {
        let name: String = (0..=127).map(char::from).collect();
        let start = SessionStart {
            began: Instant::now(),
            listener: "front".into(),
            config: "v".into(),
            has_record: true,
        };
        let of = |datagrams| SessionRecord {
            start: &start,
            client: PeerAddress::Tcp("192.0.2.7:4711".parse().unwrap()),
            server_name: Some(&name),
            tls: Some("TLSv1.3"),
            bytes_in: 1,
            bytes_out: 2,
            datagrams,
            cluster: "db",
            endpoint: None,
            attempts: 1,
            reason: "idle",
        };
        for datagrams in [None, Some(Datagrams { taken: 4, given: 5 })] {
            let (mut plain, mut object) = (Vec::new(), Vec::new());
            of(datagrams).write_text(&mut plain, "now");
            of(datagrams).write_json(&mut object, "now");
            for line in [&plain, &object] {
                assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
                assert!(line.iter().all(|byte| matches!(byte, b'\n' | 0x20..=0x7e)));
            }
            assert_eq!(plain.iter().filter(|byte| **byte == b'"').count(), 2);
            let value: serde_json::Value = serde_json::from_slice(&object).unwrap();
            assert_eq!(value["server_name"], name);
            assert_eq!(value["client"], "192.0.2.7");
            assert_eq!(value["client_port"], 4711);
            let (transport, taken) = if datagrams.is_some() { ("udp", Some(4)) } else { ("tcp", None) };
            assert_eq!(value["transport"], transport);
            assert_eq!(value.get("datagrams_in").and_then(serde_json::Value::as_u64), taken);
        }
    }
}
