//! Trailers as the last frame of a gRPC-Web body.

use eddy_http::Fields;

/// Flag of a trailers frame.
const TRAILERS: u8 = 0x80;

/// Appends the trailers frame.
///
/// # Spec
/// [gRPC-Web](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md), Message framing
pub(super) fn write_trailers(out: &mut Vec<u8>, trailers: Fields<'_>) {
    let mut lines = Vec::new();
    for field in trailers.iter() {
        lines.extend(field.name.iter().map(u8::to_ascii_lowercase));
        lines.push(b':');
        lines.extend_from_slice(field.value);
        lines.extend_from_slice(b"\r\n");
    }
    // The size limit of trailers is far below `u32::MAX`.
    let length = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    out.push(TRAILERS);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&lines);
}
