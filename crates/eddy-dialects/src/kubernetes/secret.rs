//! Secrets: certificates, private keys and certificate authorities.

use std::collections::HashMap;
use std::path::PathBuf;

use base64ct::{Base64, Encoding};
use eddy_check::source_position;
use eddy_config::CertificateFiles;
use eddy_model::{InlineText, WrittenPath};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::read::{FromNode, NamedMap, ValueSchema, WordInfo};
use eddy_spec::value::ObjectName;
use eddy_spec::yaml::{YamlNode, YamlNodeKind};
use eddy_tls::Identity;

use super::object::{Object, Objects};
use super::value::{ApiText, Label};

/// Secrets by name.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    known: HashMap<ObjectName, Secret>,
}

/// Parts of a Secret that belong to a certificate.
#[derive(Debug)]
struct Secret {
    chain: Option<InlineText>,
    key: Option<InlineText>,
    authorities: Option<InlineText>,
    place: SourceSpan,
}

/// Reason why a Secret has no usable certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretFault {
    /// The Secret does not exist.
    Missing,
    /// The content is unusable, for this reason.
    Broken(String),
}

impl Secrets {
    pub(super) fn read(objects: &Objects<'_>, report: &mut ProblemReport) -> Self {
        let mut known = HashMap::new();
        for object in objects.of("", "Secret") {
            known.insert(object.metadata.full_name(), Secret::read(object, report));
        }
        Self { known }
    }

    /// Returns the certificate and key in a Secret, which must match; it is used for the hosts that the certificate
    /// names.
    ///
    /// # Errors
    /// [`SecretFault`] when there is no such Secret, or it holds something else.
    ///
    /// # Cost
    /// That of [`Identity::from_pem`].
    pub(crate) fn certificate(
        &self,
        name: &ObjectName,
        sources: &[SourceText],
    ) -> Result<CertificateFiles, SecretFault> {
        let secret = self.known.get(name).ok_or(SecretFault::Missing)?;
        let part = |part: &'static str, content: &Option<InlineText>| {
            content.clone().ok_or_else(|| SecretFault::Broken(format!("it has no `{part}`")))
        };
        let (chain, key) = (part(CHAIN, &secret.chain)?, part(KEY, &secret.key)?);
        let identity = Identity::from_pem(&chain.0, &key.0, None);
        let identity = identity.map_err(|error| {
            let part = if error.is_key_error() { KEY } else { CHAIN };
            SecretFault::Broken(format!("its `{part}`: {error}"))
        })?;
        Ok(CertificateFiles {
            chain: secret.written(name, CHAIN, chain, sources),
            key: secret.written(name, KEY, key, sources),
            ocsp: None,
            hosts: Some(identity.names().to_vec()),
        })
    }

    /// Returns the authorities in a Secret, if it has any.
    pub(crate) fn authorities(&self, name: &ObjectName, sources: &[SourceText]) -> Option<WrittenPath> {
        let secret = self.known.get(name)?;
        let content = secret.authorities.clone()?;
        Some(secret.written(name, AUTHORITIES, content, sources))
    }
}

impl SecretFault {
    /// Returns the message of the fault, with the name of the Secret.
    pub(crate) fn message_for(&self, name: &ObjectName) -> String {
        let ObjectName { namespace, name } = name;
        match self {
            Self::Missing => format!("there is no Secret `{namespace}/{name}`"),
            Self::Broken(why) => {
                format!("the Secret `{namespace}/{name}` is not a usable certificate and key: {why}")
            }
        }
    }
}

impl Secret {
    fn read(object: &Object<'_>, report: &mut ProblemReport) -> Self {
        object.part::<ApiText>("type", report);
        let mut secret = Self { chain: None, key: None, authorities: None, place: object.metadata.place };
        // `stringData` overrides `data`, as in an API server.
        let encoded = object.part::<NamedMap<Label, Encoded>>("data", report);
        for entry in encoded.into_iter().flat_map(|data| data.value.0) {
            secret.put(&entry.name.value.0, entry.value.map(|value| value.value.0));
        }
        let plain = object.part::<NamedMap<Label, SecretText>>("stringData", report);
        for entry in plain.into_iter().flat_map(|data| data.value.0) {
            secret.put(&entry.name.value.0, entry.value.map(|value| value.value.0));
        }
        secret
    }

    fn put(&mut self, part: &str, content: Option<InlineText>) {
        match part {
            CHAIN => self.chain = content,
            KEY => self.key = content,
            AUTHORITIES | OTHER_AUTHORITIES => self.authorities = content,
            _ => {}
        }
    }

    fn written(
        &self,
        name: &ObjectName,
        part: &str,
        content: InlineText,
        sources: &[SourceText],
    ) -> WrittenPath {
        WrittenPath {
            path: PathBuf::from(format!("{part} of Secret {}/{}", name.namespace, name.name)),
            text: Some(content),
            place: source_position(self.place, sources),
        }
    }
}

/// Bytes in Base64; never shown in messages.
struct Encoded(InlineText);

impl FromNode for Encoded {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Text { text, .. } = &node.form else {
            report.error(node.place, "expected a Base64 string");
            return None;
        };
        // Line breaks are allowed anywhere, as in an API server.
        let joined: String = text.chars().filter(|character| !matches!(character, '\n' | '\r')).collect();
        let Ok(bytes) = Base64::decode_vec(&joined) else {
            report
                .error(node.place, "this is not valid Base64")
                .hint("encode it with `base64 -w0`, or write it unencoded under `stringData`");
            return None;
        };
        Some(Self(InlineText(bytes.into())))
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(WordInfo::text("Base64"))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. })
    }
}

/// String; never shown in messages.
struct SecretText(InlineText);

impl FromNode for SecretText {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Text { text, .. } = &node.form else {
            report.error(node.place, "expected a string");
            return None;
        };
        Some(Self(InlineText(text.as_bytes().into())))
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(WordInfo::text("a string"))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. })
    }
}

const CHAIN: &str = "tls.crt";
const KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
/// Istio's alternative name for the key.
const OTHER_AUTHORITIES: &str = "cacert";
