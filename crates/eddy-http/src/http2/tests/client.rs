//! Client that sends arbitrary frames.

use eddy_ids::WorkerTime;

use crate::http2::code::Http2Fault;
use crate::http2::hpack::Decoder;
use crate::http2::test_frames::{PREFACE, block, frame, words};
use crate::http2::{BodyReadResult, Gone, H2Head, Http2, Http2Limits, frame};

/// Client that sends arbitrary frames.
pub(super) struct Http2TestClient {
    pub(super) server: Http2,
    decoder: Decoder,
}

pub(super) const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "http"), (":path", "/a?b"), (":authority", "x.example")];

impl Http2TestClient {
    pub(super) fn new(limits: Http2Limits) -> Self {
        let mut client = Self { server: Http2::new(limits, WorkerTime::ZERO), decoder: Decoder::new() };
        client.says(PREFACE).unwrap();
        client.says(&frame(frame::SETTINGS, 0, 0, &[])).unwrap();
        client.hears();
        client
    }

    pub(super) fn says(&mut self, bytes: &[u8]) -> Result<(), Http2Fault> {
        let taken = self.server.receive(bytes, WorkerTime::ZERO)?;
        assert_eq!(taken, bytes.len(), "whole frames are taken");
        Ok(())
    }

    /// Returns the frames to be written, in readable form.
    pub(super) fn hears(&mut self) -> Vec<String> {
        let out = self.server.output().to_vec();
        self.server.written(out.len());
        words(&out, &mut self.decoder)
    }

    /// Sends a request; returns its head as the exchange sees it.
    pub(super) fn asks(&mut self, stream: u32, flags: u8, fields: &[(&str, &str)]) -> Option<H2Head> {
        self.says(&frame(frame::HEADERS, flags, stream, &block(fields))).unwrap();
        let opened = self.server.next_opened()?;
        assert_eq!(opened, stream);
        self.server.take_head(stream)
    }

    pub(super) fn reads(&mut self, stream: u32, count: usize) -> Result<(Vec<u8>, BodyReadResult), Gone> {
        let mut room = vec![0; count];
        let reading = self.server.read(stream, &mut room)?;
        if let BodyReadResult::Bytes(count) = reading {
            room.truncate(count);
        } else {
            room.clear();
        }
        Ok((room, reading))
    }
}

pub(super) fn client() -> Http2TestClient {
    Http2TestClient::new(Http2Limits::default())
}
