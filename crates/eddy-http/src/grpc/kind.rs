//! Variants of gRPC on the wire.

/// Variant of gRPC, determined by the content type.
///
/// # Spec
/// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md),
/// [gRPC-Web](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrpcKind {
    /// gRPC: length-prefixed messages and trailers.
    Plain,
    /// gRPC-Web: the trailers are the last frame of the body.
    Web,
    /// gRPC-Web with Base64 encoding.
    WebText,
}

impl GrpcKind {
    /// Returns the variant of a content type; ignores the message format (`+proto`) and parameters.
    pub fn of(content_type: &[u8]) -> Option<Self> {
        Some(Self::split(content_type)?.0)
    }

    /// Returns the variant of a content type and the text after its name: `+proto`, parameters, or nothing.
    pub fn split(content_type: &[u8]) -> Option<(Self, &[u8])> {
        // The longest name first: shorter ones are its prefixes.
        [Self::WebText, Self::Web, Self::Plain].into_iter().find_map(|kind| {
            let (name, rest) = content_type.split_at_checked(kind.name().len())?;
            let ends = matches!(rest.first(), None | Some(b'+' | b';' | b' ' | b'\t'));
            (ends && name.eq_ignore_ascii_case(kind.name().as_bytes())).then_some((kind, rest))
        })
    }

    /// Returns the message format of a gRPC content type, with its plus sign: `+proto`, `+json`; empty without one.
    pub fn format(content_type: &[u8]) -> &[u8] {
        let rest = Self::split(content_type).map_or(&[][..], |(_, rest)| rest);
        let length =
            rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(byte)).count();
        rest.get(..length).unwrap_or_default()
    }

    /// Returns the content type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "application/grpc",
            Self::Web => "application/grpc-web",
            Self::WebText => "application/grpc-web-text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GrpcKind;

    #[test]
    fn a_content_type_has_at_most_one_message_format() {
        for (content_type, format) in [
            ("application/grpc", ""),
            ("application/grpc+json", "+json"),
            ("Application/GRPC+vnd.a-b_c; x=y", "+vnd.a-b_c"),
            ("application/grpc;x=+json", ""),
            ("application/grpc+a\x01b", "+a"),
            ("application/json", ""),
        ] {
            assert_eq!(GrpcKind::format(content_type.as_bytes()), format.as_bytes(), "{content_type}");
        }
    }

    #[test]
    fn a_content_type_selects_at_most_one_grpc_kind() {
        let check = |content_type: &str, expected: Option<(GrpcKind, &str)>| {
            let split = GrpcKind::split(content_type.as_bytes());
            assert_eq!(split, expected.map(|(kind, rest)| (kind, rest.as_bytes())), "{content_type}");
        };
        check("application/grpc", Some((GrpcKind::Plain, "")));
        check("application/grpc+proto", Some((GrpcKind::Plain, "+proto")));
        check("Application/gRPC;charset=x", Some((GrpcKind::Plain, ";charset=x")));
        check("application/grpc-web", Some((GrpcKind::Web, "")));
        check("application/grpc-web+proto", Some((GrpcKind::Web, "+proto")));
        check("application/grpc-web-text", Some((GrpcKind::WebText, "")));
        check("application/grpc-web-text+json; a=b", Some((GrpcKind::WebText, "+json; a=b")));
        for none in [
            "",
            "application/grp",
            "application/grpcx",
            "application/grpc-webx",
            "text/grpc",
            "application/json",
        ] {
            check(none, None);
        }
    }
}
