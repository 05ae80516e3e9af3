//! Outbound request of a script, under construction.

/// Outbound request under construction. The last one is kept until the next is begun.
#[derive(Debug, Default)]
pub(super) struct LuaOutboundRequest {
    pub(super) cluster: String,
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) authority: Vec<u8>,
    pub(super) fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// Last token; tokens are counted, and the upper bits distinguish VMs.
    pub(super) last_token: u64,
    /// Token of the request that the hook waits for.
    pub(super) awaited: u64,
}

impl LuaOutboundRequest {
    /// Begins another request.
    ///
    /// # Errors
    /// The cluster name is invalid.
    pub(super) fn begin(&mut self, cluster: &[u8]) -> Result<(), String> {
        self.cluster = str::from_utf8(cluster).map_err(|_| UNKNOWN.to_owned())?.to_owned();
        self.method.clear();
        self.target.clear();
        self.authority.clear();
        self.fields.clear();
        Ok(())
    }

    /// Adds a header, or sets the part of the request that a pseudo-header names.
    ///
    /// # Errors
    /// Too many headers, or an unknown pseudo-header.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        let place = match name {
            b":method" => &mut self.method,
            b":path" => &mut self.target,
            b":authority" | b"host" => &mut self.authority,
            b":scheme" | b"content-length" | b"transfer-encoding" => return Ok(()),
            [b':', ..] => return Err(format!("\"{}\" is not allowed here", String::from_utf8_lossy(name))),
            _ if self.fields.len() >= FIELDS_MAX => {
                return Err(format!("an HTTP call has at most {FIELDS_MAX} headers"));
            }
            _ => {
                self.fields.push((name.to_vec(), value.to_vec()));
                return Ok(());
            }
        };
        place.clear();
        place.extend_from_slice(value);
        Ok(())
    }
}

pub(super) const UNKNOWN: &str = "http call cluster invalid. Must be configured";
const FIELDS_MAX: usize = 128;
