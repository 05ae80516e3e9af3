//! HTTP client for requests to the authority: HTTP/1.1 over TLS, one connection per request.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eddy_tls::ClientTls;
use http_body_util::{BodyExt, Limited};
use hyper::header::{CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper::http::uri::{PathAndQuery, Uri};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// HTTPS client for the authority.
///
/// Each request uses a new connection: an order takes a dozen requests, and orders are days apart.
pub(crate) struct HttpsClient {
    tls: ClientTls,
}

/// Why a request has no response.
#[derive(Debug, Error)]
enum HttpsError {
    #[error("`{0}` is not an `https` URL with a host")]
    Url(Uri),
    #[error("cannot connect to `{0}`: {1}")]
    Connect(String, std::io::Error),
    #[error("the TLS handshake with `{0}` failed: {1}")]
    Handshake(String, std::io::Error),
    #[error("the HTTP request to `{0}` failed: {1}")]
    Http(String, hyper::Error),
    #[error("the response of `{0}` cannot be read: {1}")]
    Body(String, Box<dyn StdError + Send + Sync>),
    #[error("`{0}` did not respond within {REQUEST_TIME_MAX:?}")]
    Slow(Uri),
}

impl HttpsClient {
    /// Returns a client that verifies the authority with `tls`.
    pub(crate) fn new(tls: ClientTls) -> Self {
        Self { tls }
    }
}

impl HttpClient for HttpsClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let tls = self.tls.clone();
        let uri = request.uri().clone();
        Box::pin(async move {
            let answer = timeout(REQUEST_TIME_MAX, send(tls, request)).await;
            let answer = answer.unwrap_or(Err(HttpsError::Slow(uri)));
            let (parts, body) = answer.map_err(|error| Error::Other(error.into()))?.into_parts();
            Ok(BytesResponse { parts, body: Box::new(body) })
        })
    }
}

async fn send(
    tls: ClientTls,
    mut request: Request<BodyWrapper<Bytes>>,
) -> Result<Response<Bytes>, HttpsError> {
    let uri = request.uri().clone();
    let no_url = || HttpsError::Url(uri.clone());
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("https")).ok_or_else(no_url)?;
    // The brackets around an IPv6 address belong to the URL.
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = tls.name_for(Some(&host)).ok_or_else(no_url)?;
    let place = authority.to_string();
    let fields = request.headers_mut();
    fields.insert(HOST, HeaderValue::from_str(&place).map_err(|_| no_url())?);
    fields.insert(CONNECTION, HeaderValue::from_static("close"));
    fields.insert(USER_AGENT, HeaderValue::from_static(concat!("eddy/", env!("CARGO_PKG_VERSION"))));
    let target = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(target);

    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(443))).await;
    let stream = stream.map_err(|error| HttpsError::Connect(place.clone(), error))?;
    let stream = TlsConnector::from(Arc::clone(tls.config())).connect(name, stream).await;
    let stream = stream.map_err(|error| HttpsError::Handshake(place.clone(), error))?;
    let in_http = |error| HttpsError::Http(place.clone(), error);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(in_http)?;
    // The connection task ends with this request, even when it fails.
    let mut beside = JoinSet::new();
    beside.spawn(connection);
    let (parts, body) = sender.send_request(request).await.map_err(in_http)?.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let body = body.map_err(|error| HttpsError::Body(place.clone(), error))?;
    Ok(Response::from_parts(parts, body.to_bytes()))
}

/// Timeout of a request, from connecting to the end of the response.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// Maximum size of a response body. A certificate chain has a few kilobytes.
const BODY_BYTES_MAX: usize = 1 << 20;
