//! Question about a request, from the command line or a query string.

use anyhow::bail;
use eddy_route::OtherDialect;

/// Request, and options of its explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Question {
    /// `http://HOST/PATH`, `HOST/PATH` or `/PATH`.
    pub(crate) url: String,
    /// Request method.
    pub(crate) method: String,
    /// Request headers as `name: value`.
    pub(crate) fields: Vec<String>,
    /// Name of the only listener to explain.
    pub(crate) listener: Option<String>,
    /// Rule for which to explain why it was not chosen.
    pub(crate) why_not: Option<String>,
    /// Whether to list every rule with its reason.
    pub(crate) all: bool,
    /// Other dialects whose winning rules are shown as well.
    pub(crate) others: Vec<OtherDialect>,
}

impl Question {
    /// Parses a query such as `url=http://a.example/b&method=POST&header=accept:%20text/html`; also returns whether
    /// JSON is requested.
    ///
    /// # Errors
    /// Error message with the expected format.
    pub(crate) fn of_query(query: &[u8]) -> anyhow::Result<(Self, bool)> {
        let mut question = Self { method: "GET".to_owned(), ..Self::default() };
        let (mut is_json, mut has_url) = (false, false);
        for part in query.split(|byte| *byte == b'&').filter(|part| !part.is_empty()) {
            let at = part.iter().position(|byte| *byte == b'=').unwrap_or(part.len());
            let (name, value) = part.split_at(at);
            let (name, value) = (decoded(name), decoded(value.strip_prefix(b"=").unwrap_or_default()));
            match name.as_str() {
                "url" => {
                    question.url = value;
                    has_url = true;
                }
                "method" => question.method = value,
                "header" => question.fields.push(value),
                "listener" => question.listener = Some(value),
                "why_not" => question.why_not = Some(value),
                "all" => question.all = true,
                "as" => question.others.push(parse_dialect(&value).map_err(anyhow::Error::msg)?),
                "format" if value == "json" => is_json = true,
                "format" if value == "text" => is_json = false,
                "format" => bail!("unknown format \"{value}\"; use text or json"),
                other => bail!("unknown parameter \"{other}\"; {USAGE}"),
            }
        }
        if !has_url {
            bail!("{USAGE}");
        }
        Ok((question, is_json))
    }
}

/// Parses the name of a dialect.
///
/// # Errors
/// When the dialect is unknown; the message lists the known ones.
pub(crate) fn parse_dialect(name: &str) -> Result<OtherDialect, String> {
    OtherDialect::parse(name).ok_or_else(|| {
        let names = OtherDialect::ALL.map(OtherDialect::name).join(", ");
        format!("unknown dialect \"{name}\"; the dialects are {names}")
    })
}

/// Decodes a form value: `+` stands for a space, percent escapes are decoded, and an invalid escape is kept.
fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let escape = match (byte, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escape {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

const USAGE: &str = "use `/explain?url=http://HOST/PATH`, and optionally `&method=`, `&header=name:value`, `&listener=`, \
                     `&why_not=RULE`, `&as=DIALECT`, `&all` and `&format=json`";

#[cfg(test)]
mod tests {
    use eddy_route::OtherDialect;

    use super::Question;

    #[test]
    fn a_query_is_parsed_like_the_command_line() {
        let query = b"url=http://a.test/b%3Fc%3Dd&method=POST&header=accept:+text/html&header=x-a:%20%2B&all&as=envoy&format=json";
        let (question, is_json) = Question::of_query(query).unwrap();
        let expected = Question {
            url: "http://a.test/b?c=d".to_owned(),
            method: "POST".to_owned(),
            fields: vec!["accept: text/html".to_owned(), "x-a: +".to_owned()],
            all: true,
            others: vec![OtherDialect::Envoy],
            ..Question::default()
        };
        assert_eq!((question, is_json), (expected, true));
        let (question, is_json) = Question::of_query(b"url=/a%&listener=front&why_not=r/1").unwrap();
        assert_eq!((question.url.as_str(), question.method.as_str(), is_json), ("/a%", "GET", false));
        assert_eq!((question.listener.as_deref(), question.why_not.as_deref()), (Some("front"), Some("r/1")));
    }

    #[test]
    fn an_invalid_question_is_reported() {
        for (query, told) in [
            ("", "url="),
            ("url=/a&x=1", "\"x\""),
            ("url=/a&format=xml", "\"xml\""),
            ("url=/a&as=caddy", "the dialects are eddy"),
            ("method=GET", "url="),
        ] {
            let error = Question::of_query(query.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(told), "{query}: {error}");
        }
    }
}
