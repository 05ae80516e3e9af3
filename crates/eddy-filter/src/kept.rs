//! Owned copies of views, for filters whose exchange pauses: nothing is borrowed after the crossing.

use eddy_http::{Field, Fields};

use crate::metadata::DynamicMetadata;
use crate::view::{ExchangeInfo, ExchangeView, RequestView, ResponseView, TlsInfo};

/// Owned copy of an [`ExchangeView`].
#[derive(Debug)]
pub struct KeptView {
    /// View with all borrowed parts empty.
    bare: ExchangeView<'static>,
    request: KeptFields,
    response: KeptFields,
    trailers: KeptFields,
    body: Vec<u8>,
    texts: Texts,
    metadata: Option<DynamicMetadata>,
}

/// Owned copy of headers with their bytes.
#[derive(Clone, Debug, Default)]
pub struct KeptFields {
    /// Bytes of names and values.
    pub bytes: Vec<u8>,
    /// Fields.
    pub fields: Vec<Field>,
}

/// Concatenated texts.
#[derive(Debug)]
struct Texts {
    bytes: Vec<u8>,
    ends: [usize; TEXTS],
}

impl KeptView {
    /// Copies a view.
    ///
    /// # Cost
    /// Copies heads, body and metadata, in a handful of allocations.
    pub fn of(view: &ExchangeView<'_>) -> Self {
        let (request, response) = (&view.request, view.response.unwrap_or_default());
        let [peer, local, listener, rule, cluster, endpoint, request_id, details] = view.about.texts();
        let TlsInfo { version, suite, server_name, certificate } = view.about.tls.unwrap_or_default();
        Self {
            bare: view.with(Borrowed::default()),
            request: KeptFields::of(request.fields),
            response: KeptFields::of(response.fields),
            trailers: KeptFields::of(view.trailers),
            body: view.body.to_vec(),
            texts: Texts::of([
                request.method_name,
                request.target,
                request.authority,
                peer,
                local,
                listener,
                rule,
                cluster,
                endpoint,
                request_id,
                details,
                version,
                suite,
                server_name,
                certificate,
            ]),
            metadata: view.about.metadata.cloned(),
        }
    }

    /// Returns the copied view.
    pub fn view(&self) -> ExchangeView<'_> {
        self.bare.with(Borrowed {
            request: self.request.fields(),
            response: self.response.fields(),
            trailers: self.trailers.fields(),
            body: &self.body,
            texts: self.texts.all(),
            metadata: self.metadata.as_ref(),
        })
    }
}

/// Borrowed parts of a view.
#[derive(Default)]
struct Borrowed<'a> {
    request: Fields<'a>,
    response: Fields<'a>,
    trailers: Fields<'a>,
    body: &'a [u8],
    texts: [&'a [u8]; TEXTS],
    metadata: Option<&'a DynamicMetadata>,
}

impl ExchangeView<'_> {
    /// Replaces all borrowed parts of the view.
    fn with<'b>(&self, borrowed: Borrowed<'b>) -> ExchangeView<'b> {
        let Borrowed { request, response, trailers, body, texts, metadata } = borrowed;
        let [
            method_name,
            target,
            authority,
            peer,
            local,
            listener,
            rule,
            cluster,
            endpoint,
            request_id,
            details,
            version,
            suite,
            server_name,
            certificate,
        ] = texts;
        let about = &self.about;
        ExchangeView {
            phase: self.phase,
            is_end: self.is_end,
            is_buffered: self.is_buffered,
            request: RequestView {
                fields: request,
                method: self.request.method,
                method_name,
                target,
                authority,
                version: self.request.version,
                is_tls: self.request.is_tls,
            },
            response: self.response.map(|own| ResponseView {
                fields: response,
                status: own.status,
                is_local: own.is_local,
            }),
            trailers,
            body,
            about: ExchangeInfo {
                peer,
                peer_ip: about.peer_ip,
                local,
                listener,
                rule,
                cluster,
                endpoint,
                request_id,
                details,
                metadata,
                started_unix_us: about.started_unix_us,
                duration_us: about.duration_us,
                now: about.now,
                entropy: about.entropy,
                connection: about.connection,
                request_bytes: about.request_bytes,
                response_bytes: about.response_bytes,
                attempts: about.attempts,
                tls: about.tls.map(|_| TlsInfo { version, suite, server_name, certificate }),
            },
        }
    }
}

impl KeptFields {
    /// Copies the fields.
    pub fn of(fields: Fields<'_>) -> Self {
        Self { bytes: fields.bytes().to_vec(), fields: fields.places().to_vec() }
    }

    /// Replaces the content by a copy of the fields, reusing the allocations.
    pub fn fill(&mut self, fields: Fields<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(fields.bytes());
        self.fields.clear();
        self.fields.extend_from_slice(fields.places());
    }

    /// Returns the copied fields.
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.fields)
    }
}

impl Texts {
    fn of(texts: [&[u8]; TEXTS]) -> Self {
        let mut bytes = Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
        let ends = texts.map(|text| {
            bytes.extend_from_slice(text);
            bytes.len()
        });
        Self { bytes, ends }
    }

    fn all(&self) -> [&[u8]; TEXTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let text = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            text
        })
    }
}

/// Three of the request head, eight of the exchange info, four of TLS.
const TEXTS: usize = 15;

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use eddy_http::{FieldId, Method, Span, Version};
    use eddy_ids::WorkerTime;

    use super::*;
    use crate::phase::Phase;

    fn field(name: Span, value: Span) -> Field {
        Field { name, value, id: FieldId::Other, ..Field::default() }
    }

    #[test]
    fn a_copy_equals_the_original_view() {
        let request =
            KeptFields { bytes: b"ab".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 2))] };
        let response =
            KeptFields { bytes: b"cde".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 3))] };
        let trailers =
            KeptFields { bytes: b"fg".to_vec(), fields: vec![field(Span::new(0, 1), Span::new(1, 2))] };
        let mut metadata = DynamicMetadata::new();
        metadata.set(b"space", b"key", b"1").unwrap();
        let view = ExchangeView {
            phase: Phase::ResponseBody,
            is_end: true,
            is_buffered: true,
            request: RequestView {
                fields: request.fields(),
                method: Method::Put,
                method_name: b"PUT",
                target: b"/t?q",
                authority: b"host:1",
                version: Version::Http10,
                is_tls: true,
            },
            response: Some(ResponseView { fields: response.fields(), status: 207, is_local: true }),
            trailers: trailers.fields(),
            body: b"body",
            about: ExchangeInfo {
                peer: b"peer",
                peer_ip: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                local: b"local",
                listener: b"listener",
                rule: b"rule",
                cluster: b"cluster",
                endpoint: b"endpoint",
                request_id: b"id",
                details: b"details",
                metadata: Some(&metadata),
                started_unix_us: 1,
                duration_us: 2,
                now: WorkerTime::from_millis(3),
                entropy: [4, 5],
                connection: 6,
                request_bytes: 7,
                response_bytes: 8,
                attempts: 9,
                tls: Some(TlsInfo {
                    version: b"TLSv1.3",
                    suite: b"suite",
                    server_name: b"name",
                    certificate: b"certificate",
                }),
            },
        };
        // `Debug` shows all members of a view, so a member that is missing or wrong in the copy is detected here.
        assert_eq!(format!("{:?}", KeptView::of(&view).view()), format!("{view:?}"));
    }

    #[test]
    fn a_copied_request_view_has_no_response() {
        let view = ExchangeView {
            phase: Phase::RequestHead,
            is_end: false,
            is_buffered: false,
            request: RequestView::default(),
            response: None,
            trailers: Fields::default(),
            body: b"",
            about: ExchangeInfo::default(),
        };
        assert_eq!(format!("{:?}", KeptView::of(&view).view()), format!("{view:?}"));
    }
}
