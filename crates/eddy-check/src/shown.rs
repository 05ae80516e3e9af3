//! Text form of the configuration that may be shown: without comments, and with secrets hidden.

use std::fmt::Write as _;

use eddy_spec::problem::SourceText;
use eddy_spec::yaml::{YamlEntry, YamlNode, YamlNodeKind};

/// Writes a parsed source as YAML: its name, then the root values of its documents. Comments are omitted, because they
/// may contain secrets, too.
pub(super) fn redacted_yaml<'n>(
    source: &SourceText,
    roots: impl IntoIterator<Item = &'n YamlNode<'n>>,
) -> String {
    let bytes = source.text.len() + source.path.len() + 8;
    let mut writer = RedactedYamlWriter { out: String::with_capacity(bytes) };
    // Writing to a string never fails.
    let _ = writeln!(writer.out, "# {}", source.path.escape_debug());
    for (root, number) in roots.into_iter().zip(0..) {
        if number > 0 {
            writer.out.push_str("---\n");
        }
        writer.node(root, 0, After::Nothing, Trust::Open);
    }
    writer.out
}

/// Text before a value on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Key,
    Dash,
}

/// Whether names in a mapping may be those of headers and parameters that carry secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Open,
    MayBeSecret,
    /// Within a filter's own configuration, where any name is possible.
    Unknown,
    /// All values are secret.
    None,
}

struct RedactedYamlWriter {
    out: String,
}

impl RedactedYamlWriter {
    fn node(&mut self, node: &YamlNode<'_>, indent: usize, after: After, trust: Trust) {
        match &node.form {
            YamlNodeKind::Text { text, is_plain } => {
                self.gap(after);
                if *is_plain {
                    self.plain(text);
                } else {
                    self.quoted(text);
                }
                self.out.push('\n');
            }
            YamlNodeKind::Refused => self.word("~", after),
            YamlNodeKind::List(elements) if elements.is_empty() => self.word("[]", after),
            YamlNodeKind::Mapping { entries, .. } if entries.is_empty() => self.word("{}", after),
            YamlNodeKind::List(elements) => {
                for (element, number) in elements.iter().zip(0..) {
                    self.begin_line(indent, after, number);
                    self.out.push_str("- ");
                    self.node(element, indent + 2, After::Dash, trust);
                }
            }
            YamlNodeKind::Mapping { entries, .. } => {
                let is_secret = trust == Trust::MayBeSecret && is_secret_pair(entries);
                let is_object = is_object_of_secrets(entries);
                for (entry, number) in entries.iter().zip(0..) {
                    self.begin_line(indent, after, number);
                    let key = &*entry.key.text;
                    let is_value = is_secret && key == "value";
                    // Of a Kubernetes Secret only the identifying keys are shown, whatever other keys it has.
                    let is_hidden =
                        is_value || is_object && !matches!(key, "apiVersion" | "kind" | "metadata" | "type");
                    let trust = if is_hidden { Trust::None } else { trust };
                    self.entry(entry, indent, trust);
                }
            }
        }
    }

    fn entry(&mut self, entry: &YamlEntry<'_>, indent: usize, trust: Trust) {
        let key = &*entry.key.text;
        self.plain(key);
        self.out.push(':');
        let is_hidden = match trust {
            // Tools copy whole objects into annotations. Envoy accepts an inline private key in place of a file name.
            Trust::Open => key == "annotations" || has_inline_secret(entry),
            Trust::None => true,
            Trust::MayBeSecret => is_secret(key),
            Trust::Unknown => is_secret(key) || key == "users" || key.to_ascii_lowercase().contains("key"),
        };
        if is_hidden {
            self.word("(hidden)", After::Key);
            return;
        }
        let trust = match key {
            _ if trust == Trust::Unknown => trust,
            "config" | "basic_auth" => Trust::Unknown,
            _ if SECRET_HOLDERS.contains(&key) => Trust::MayBeSecret,
            _ => Trust::Open,
        };
        self.node(&entry.value, indent + 2, After::Key, trust);
    }

    fn word(&mut self, word: &str, after: After) {
        self.gap(after);
        self.out.push_str(word);
        self.out.push('\n');
    }

    /// Writes the space between a key and a value on the same line.
    fn gap(&mut self, after: After) {
        if after == After::Key {
            self.out.push(' ');
        }
    }

    /// Begins a line of a block. The first line of a block is on the line of its dash, but below its key.
    fn begin_line(&mut self, indent: usize, after: After, number: usize) {
        if number == 0 && after == After::Key {
            self.out.push('\n');
        }
        if number > 0 || after != After::Dash {
            for _ in 0..indent / 2 {
                self.out.push_str("  ");
            }
        }
    }

    /// Writes a text that was written without quotes as it was if that is safe, else in double quotes.
    fn plain(&mut self, text: &str) {
        if text == "~" || needs_no_quotes(text) {
            self.out.push_str(text);
        } else {
            self.quoted(text);
        }
    }

    /// Writes a text in double quotes.
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
            self.out.push_str(text);
            self.out.push('"');
            return;
        }
        for character in text.chars() {
            match character {
                '"' | '\\' => self.out.extend(['\\', character]),
                '\n' => self.out.push_str("\\n"),
                ' '..='~' => self.out.push(character),
                // Writing to a string never fails.
                _ => drop(write!(self.out, "\\U{:08x}", u32::from(character))),
            }
        }
        self.out.push('"');
    }
}

/// Whether a text that was written without quotes is certain to have the same meaning without them.
fn needs_no_quotes(text: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b':');
    let bytes = text.as_bytes();
    let ends_well = bytes.last().is_some_and(|byte| *byte != b':');
    ends_well && !matches!(bytes.first(), Some(b'-' | b':')) && bytes.iter().copied().all(is_safe)
}

/// Whether the entries are a name and a value, and the name indicates a secret.
fn is_secret_pair(entries: &[YamlEntry<'_>]) -> bool {
    entries.iter().any(|entry| entry.key.text == "name" && scalar(entry).is_some_and(is_secret))
}

/// Whether the entry is an Envoy `DataSource` with an inline key or password.
fn has_inline_secret(entry: &YamlEntry<'_>) -> bool {
    let names = ["private_key", "privateKey", "password", "pkcs12"];
    let inline = ["inline_string", "inlineString", "inline_bytes", "inlineBytes"];
    names.contains(&&*entry.key.text) && inline.iter().any(|name| entry.value.entry(name).is_some())
}

/// Whether the entries are the keys of a Kubernetes Secret.
fn is_object_of_secrets(entries: &[YamlEntry<'_>]) -> bool {
    entries.iter().any(|entry| entry.key.text == "kind" && scalar(entry) == Some("Secret"))
}

/// Returns the value of an entry, if it is a scalar.
fn scalar<'e>(entry: &'e YamlEntry<'_>) -> Option<&'e str> {
    let YamlNodeKind::Text { text, .. } = &entry.value.form else { return None };
    Some(text)
}

/// Whether a header or parameter with this name carries a secret, or probably does.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Keys whose values are mappings with names of headers and parameters.
const SECRET_HOLDERS: &[&str] = &["headers", "query", "set", "add"];
/// Parts of the names of headers and parameters that carry secrets.
const SECRET_PARTS: &[&str] = &[
    "auth",
    "cookie",
    "token",
    "secret",
    "passw",
    "credential",
    "api-key",
    "api_key",
    "apikey",
    "session",
    "signature",
    "private",
];

#[cfg(test)]
mod tests {
    use eddy_spec::problem::{ProblemReport, SourceText};
    use eddy_spec::yaml::parse;

    use super::redacted_yaml;

    fn check(text: &str, expected: &str) {
        let source = SourceText::new("a.yaml", text);
        let tree = parse(&source.text, 0, &mut ProblemReport::new());
        let shown = redacted_yaml(&source, &tree.root);
        assert_eq!(&*shown, format!("# a.yaml\n{expected}"));
        let again = parse(&shown, 0, &mut ProblemReport::new());
        let twice = redacted_yaml(&source, &again.root);
        assert_eq!(shown, twice, "what is shown reads the same");
    }

    #[test]
    fn the_configuration_is_shown_without_comments() {
        check(
            "a: {b: [1, 'x y', \"ü\\n\"], c: {}} # secret\nd:\n",
            "a:\n  b:\n    - 1\n    - \"x y\"\n    - \"\\U000000fc\\n\"\n  c: {}\nd: ~\n",
        );
        check("- - a\n  - {b: c, d: e}\n- []\n", "- - a\n  - b: c\n    d: e\n- []\n");
    }

    #[test]
    fn secrets_are_hidden() {
        check(
            "set: {Authorization: Basic eA==, x-team: users}",
            "set:\n  Authorization: (hidden)\n  x-team: users\n",
        );
        check(
            "set: [{name: Authorization, value: x}, {name: a, value: b}]\nannotations: {a: b}",
            "set:\n  - name: Authorization\n    value: (hidden)\n  - name: a\n    value: b\nannotations: (hidden)\n",
        );
        check("headers: {x-api-key: {exact: abc}}", "headers:\n  x-api-key: (hidden)\n");
        check(
            "go: {filter: auth}\nconfig: {username: u, pass: {password: p, api: [{Secret_Key: 1, id: 2}]}, realm: r}",
            "go:\n  filter: auth\nconfig:\n  username: u\n  pass:\n    password: (hidden)\n    api:\n      - Secret_Key: (hidden)\n        id: 2\n  realm: r\n",
        );
        check(
            "basic_auth: {users: {alice: p}, realm: r}\nclusters: {users: {x: y}}",
            "basic_auth:\n  users: (hidden)\n  realm: r\nclusters:\n  users:\n    x: y\n",
        );
        check(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/tls\ndata: {tls.key: eA==}\nstringData: {a: b}",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ntype: kubernetes.io/tls\ndata: (hidden)\nstringData: (hidden)\n",
        );
        check(
            "clusters: {token-service: {endpoints: [a]}}",
            "clusters:\n  token-service:\n    endpoints:\n      - a\n",
        );
    }
}
