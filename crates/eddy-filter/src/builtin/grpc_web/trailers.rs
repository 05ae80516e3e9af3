//! Trailers as the last frame of a body.

use eddy_http::Fields;

/// The flag of a frame that has trailers.
const TRAILERS: u8 = 0x80;

/// Appends the frame that tells trailers.
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
    // Trailers are bounded far below the length that has no room here.
    let length = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    out.push(TRAILERS);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&lines);
}
