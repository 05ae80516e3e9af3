//! Filter that replaces a text in bodies: buffered for requests, streamed for responses.
#![forbid(unsafe_code)]

use eddy_sdk::prelude::*;
use serde::Deserialize;

/// Replaces one text by another.
#[derive(Debug)]
pub struct BodyRewrite {
    find: Vec<u8>,
    replace: Vec<u8>,
}

/// Configuration of the filter: the text to find and its replacement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRewriteConfig {
    /// Text to find: 1 to 1,024 bytes.
    find: String,
    replace: String,
}

/// End of the last chunk, when it may be the beginning of the text to find.
#[derive(Debug, Default)]
pub struct RewriteTail {
    bytes: Vec<u8>,
}

impl Filter for BodyRewrite {
    type Config = BodyRewriteConfig;
    type State = RewriteTail;

    const INTEREST: Interest =
        Interest::of(&[Phase::RequestHead, Phase::RequestBody, Phase::ResponseHead, Phase::ResponseBody]);

    fn new(config: BodyRewriteConfig, _: &Context) -> Result<Self, String> {
        if config.find.is_empty() || config.find.len() > FIND_BYTES_MAX {
            return Err(format!("key \"find\": has 1 to {FIND_BYTES_MAX} bytes"));
        }
        Ok(Self { find: config.find.into_bytes(), replace: config.replace.into_bytes() })
    }

    /// Buffers the request: the endpoint receives it whole, with a length.
    fn request_head(&self, _: &mut Exchange<'_, RewriteTail>) -> Result<Verdict, Fault> {
        Ok(Verdict::Buffer)
    }

    fn request_body(&self, x: &mut Exchange<'_, RewriteTail>) -> Result<Verdict, Fault> {
        let (body, _) = self.rewrite(x.body(), Rest::Send);
        x.set_body(body)?;
        Ok(Verdict::Continue)
    }

    /// Streams the response, because it may have no end.
    fn response_head(&self, x: &mut Exchange<'_, RewriteTail>) -> Result<Verdict, Fault> {
        // A digest of the original body would be wrong.
        x.remove(FieldId::ETAG)?;
        x.remove("digest")?;
        x.remove("content-md5")?;
        Ok(Verdict::Continue)
    }

    fn response_body(&self, x: &mut Exchange<'_, RewriteTail>) -> Result<Verdict, Fault> {
        let mut text = std::mem::take(&mut x.state().bytes);
        text.extend_from_slice(x.body());
        let (body, held) = self.rewrite(&text, if x.is_end() { Rest::Send } else { Rest::Hold });
        x.state().bytes = held;
        x.set_body(body)?;
        Ok(Verdict::Continue)
    }
}

/// Treatment of a chunk end that may be the beginning of the text to find.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Send,
    Hold,
}

impl BodyRewrite {
    /// Returns the rewritten text and the end that must be held until the next chunk.
    fn rewrite(&self, text: &[u8], end: Rest) -> (Vec<u8>, Vec<u8>) {
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((first, after)) = rest.split_first() {
            if let Some(behind) = rest.strip_prefix(self.find.as_slice()) {
                out.extend_from_slice(&self.replace);
                rest = behind;
            } else if end == Rest::Hold && self.find.starts_with(rest) {
                break;
            } else {
                out.push(*first);
                rest = after;
            }
        }
        (out, rest.to_vec())
    }
}

eddy_sdk::filters! { "body-rewrite" => BodyRewrite }

const FIND_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use eddy_sdk::test::{Chain, Library, Request, Response};

    use super::Filters;

    fn check(find: &str, pieces: &[&str], expected: &str) {
        let config = format!(r#"{{"find": "{find}", "replace": "<{find}>"}}"#);
        let filter = Library::of::<Filters>().filter("body-rewrite", &config).expect("it is right");
        let request = pieces.iter().fold(Request::new("POST", "/"), |request, piece| request.piece(*piece));
        let response = pieces.iter().fold(Response::new(200).field("etag", "1"), |r, piece| r.piece(*piece));
        let outcome = Chain::new().then(&filter).send(request, |_| response);
        assert_eq!(String::from_utf8_lossy(&outcome.sent().whole_body()), expected);
        assert_eq!(String::from_utf8_lossy(&outcome.answered().whole_body()), expected);
        assert_eq!(outcome.answered().get_field("etag"), None);
    }

    #[test]
    fn words_are_found_across_chunks() {
        check("cat", &["a cat and a dog"], "a <cat> and a dog");
        check("cat", &["a c", "a", "t"], "a <cat>");
        check("cat", &["a c", "ow"], "a cow");
        check("cat", &["ends with ca"], "ends with ca");
        check("aab", &["aa", "ab", "aab"], "a<aab><aab>");
        check("a", &["aaa", "a"], "<a><a><a><a>");
        check("cat", &[], "");
    }

    #[test]
    fn an_empty_search_text_is_refused() {
        let refused = Library::of::<Filters>().filter("body-rewrite", r#"{"find": "", "replace": ""}"#);
        assert!(refused.expect_err("it makes no sense").contains("find"));
    }
}
