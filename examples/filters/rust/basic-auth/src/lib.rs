//! HTTP Basic authentication (RFC 7617) with one user.
#![forbid(unsafe_code)]

mod base64;

use std::hint;

use eddy_sdk::prelude::*;
use serde::Deserialize;

/// Rejects requests without the configured credentials.
pub struct BasicAuth {
    credentials: Vec<u8>,
    challenge: String,
}

/// Configuration of the filter: user name, password and realm.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasicAuthFilterConfig {
    /// User name. Must not contain a colon.
    username: String,
    password: String,
    /// Realm that the browser shows to the user.
    #[serde(default = "realm_default")]
    realm: String,
}

impl Filter for BasicAuth {
    type Config = BasicAuthFilterConfig;
    type State = ();

    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(config: BasicAuthFilterConfig, _: &Context) -> Result<Self, String> {
        let BasicAuthFilterConfig { username, password, realm } = config;
        if username.contains(':') {
            return Err("key \"username\": can't have a colon".to_owned());
        }
        if realm.contains(['"', '\\']) || realm.contains(char::is_control) {
            return Err("key \"realm\": can't have quotes, backslashes or control characters".to_owned());
        }
        let credentials = format!("{username}:{password}").into_bytes();
        if credentials.len() > CREDENTIALS_BYTES_MAX {
            return Err(format!(
                "username and password are longer than {CREDENTIALS_BYTES_MAX} bytes together"
            ));
        }
        Ok(Self { credentials, challenge: format!("Basic realm=\"{realm}\"") })
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let mut values = x.request().all(FieldId::AUTHORIZATION);
        let (value, second) = (values.next(), values.next());
        // With two `Authorization` headers, it would be undefined which one the endpoint trusts.
        if let (Some(value), None) = (value, second)
            && self.is_known(value)
        {
            return Ok(Verdict::Continue);
        }
        let reply = Reply::new(401).field(FieldId::WWW_AUTHENTICATE.name(), &self.challenge);
        Ok(reply.body("credentials are needed\n").details("basic_auth").into())
    }
}

impl BasicAuth {
    /// Whether `value` holds the configured credentials. Decodes and compares them for each request.
    fn is_known(&self, value: &[u8]) -> bool {
        let Some((scheme, encoded)) = value.split_at_checked(SCHEME.len()) else { return false };
        let mut room = [0; CREDENTIALS_BYTES_MAX];
        scheme.eq_ignore_ascii_case(SCHEME)
            && base64::decode(encoded, &mut room).is_some_and(|given| is_equal(given, &self.credentials))
    }
}

/// Compares two byte strings in a time that depends only on their lengths.
fn is_equal(given: &[u8], known: &[u8]) -> bool {
    let different = given.iter().zip(known).fold(0, |different, (a, b)| hint::black_box(different | (a ^ b)));
    given.len() == known.len() && different == 0
}

impl std::fmt::Debug for BasicAuth {
    /// Formats the filter without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BasicAuth").field("challenge", &self.challenge).finish_non_exhaustive()
    }
}

fn realm_default() -> String {
    "restricted".to_owned()
}

eddy_sdk::filters! { "basic-auth" => BasicAuth }

const SCHEME: &[u8] = b"Basic ";
const CREDENTIALS_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests;
