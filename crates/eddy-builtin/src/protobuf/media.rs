//! Message framing of a body, derived from its content type.

use eddy_http::{FieldId, Fields};

/// Message framing of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// gRPC frames.
    Grpc,
    /// The body is one message.
    Message,
    /// An unsupported format of gRPC or protobuf: gRPC-Web, Connect streams, another codec.
    Foreign,
    /// No indication of messages.
    Other,
}

impl Media {
    /// Returns the framing that the headers of a message declare. Two headers that disagree are
    /// [`Foreign`](Self::Foreign), as the recipient may believe either.
    ///
    /// # Spec
    /// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Content-Type.
    pub(crate) fn of(fields: Fields<'_>) -> Self {
        let mut kinds = fields.all(FieldId::ContentType).map(kind_of);
        let Some(first) = kinds.next() else { return Self::Other };
        if kinds.all(|kind| kind == first) { first } else { Self::Foreign }
    }
}

fn kind_of(content_type: &[u8]) -> Media {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let Ok(essence) = std::str::from_utf8(essence) else { return Media::Other };
    let essence = essence.to_ascii_lowercase();
    let Some(subtype) = essence.strip_prefix("application/") else { return Media::Other };
    match subtype {
        "grpc" | "grpc+proto" => Media::Grpc,
        _ if subtype.starts_with("grpc") || subtype.starts_with("connect+") => Media::Foreign,
        _ if MESSAGES.contains(&subtype) => Media::Message,
        _ if subtype.ends_with("+protobuf") || subtype.ends_with("+proto") => Media::Message,
        _ => Media::Other,
    }
}

/// Whether a body has a content coding such as `gzip`.
pub(crate) fn is_encoded(fields: Fields<'_>) -> bool {
    let codings = fields.all_named(b"content-encoding").flat_map(|value| value.split(|byte| *byte == b','));
    codings
        .map(<[u8]>::trim_ascii)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// Subtypes of a single protobuf message; none is registered, all are in use.
const MESSAGES: [&str; 5] = ["protobuf", "x-protobuf", "proto", "vnd.google.protobuf", "x-google-protobuf"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_select_the_message_framing() {
        let check = |content_type: &str, media: Media| {
            assert_eq!(kind_of(content_type.as_bytes()), media, "{content_type}");
        };
        check("application/grpc", Media::Grpc);
        check("Application/gRPC+Proto ; charset=x", Media::Grpc);
        check("application/grpc+json", Media::Foreign);
        check("application/grpc-web+proto", Media::Foreign);
        check("application/grpc-web-text", Media::Foreign);
        check("application/connect+proto", Media::Foreign);
        check("application/x-protobuf;proto=io.prometheus.write.v2.Request", Media::Message);
        check("application/proto", Media::Message);
        check("application/vnd.shop.order+protobuf", Media::Message);
        check("application/json", Media::Other);
        check("text/protobuf", Media::Other);
        check("", Media::Other);
    }
}
