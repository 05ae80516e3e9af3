//! Properties that modules read and set.

use std::borrow::Cow;

use eddy_filter::{Direction, FilterEdit};
use proxy_wasm_host::abi::{HostResult, Status};
use proxy_wasm_host::{CallerScope, PropertyPath};

use super::Embedding;
use crate::wasm::property;

impl Embedding {
    pub(super) fn read_property(&self, scope: CallerScope, path: PropertyPath<'_>) -> Option<Cow<'_, [u8]>> {
        let mut segments = [b"".as_slice(); SEGMENTS_MAX];
        let mut count = 0;
        for segment in path.segments() {
            *segments.get_mut(count)? = segment;
            count += 1;
        }
        let segments = segments.get(..count)?;
        let plugin = self.plugin_of(scope.context);
        match segments {
            [b"plugin_name"] => return Some(plugin?.name.as_bytes().into()),
            [b"plugin_root_id"] => return Some(plugin?.root_id.as_bytes().into()),
            [b"plugin_vm_id"] => return Some(self.common.vm_id.as_bytes().into()),
            _ => {}
        }
        let own = scope.context.and_then(|context| self.properties.get(&context));
        if let Some((_, value)) = own.into_iter().flatten().find(|(name, _)| is_same(name, segments)) {
            return Some(Cow::Borrowed(value));
        }
        let message_view = self.view_of(scope.context, Direction::Request)?;
        property::of_exchange(message_view, segments).or_else(|| {
            property::of_exchange(message_view, &[b"metadata", b"filter_metadata", SPACE, &joined(segments)])
                .map(|value| value.into_owned().into())
        })
    }

    /// Sets a property of a stream. Text values are also stored as metadata, for filters of other libraries.
    pub(super) fn write_property(
        &mut self,
        scope: CallerScope,
        path: PropertyPath<'_>,
        value: &[u8],
    ) -> HostResult {
        let stream = scope.context.ok_or(Status::BadArgument)?;
        let segments: Vec<&[u8]> = path.segments().collect();
        if segments.is_empty() || segments.len() > SEGMENTS_MAX {
            return Err(Status::BadArgument);
        }
        let name = segments.join(&0);
        let key = joined(&segments);
        let own = self.properties.entry(stream).or_default();
        let size: usize = own.iter().map(|(name, value)| name.len() + value.len()).sum();
        if own.len() >= PROPERTIES_MAX || size + name.len() + value.len() > PROPERTIES_BYTES_MAX {
            return Err(Status::InternalFailure);
        }
        match own.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value.to_vec(),
            None => own.push((name, value.to_vec())),
        }
        let json = std::str::from_utf8(value).ok().and_then(|text| serde_json::to_string(text).ok());
        if let Some(json) = json.filter(|_| !key.contains(&0))
            && let Some(message_view) = self.view_of_mut(scope.context, Direction::Request)
        {
            let edit = FilterEdit::Metadata { space: SPACE, key: &key, value: json.as_bytes() };
            return message_view.push(&edit);
        }
        Ok(())
    }
}

fn is_same(name: &[u8], segments: &[&[u8]]) -> bool {
    name.split(|byte| *byte == 0).eq(segments.iter().copied())
}

fn joined(segments: &[&[u8]]) -> Vec<u8> {
    segments.join(&b'.')
}

/// Metadata namespace of properties set by modules.
const SPACE: &[u8] = b"wasm";
const SEGMENTS_MAX: usize = 16;
const PROPERTIES_MAX: usize = 256;
const PROPERTIES_BYTES_MAX: usize = 64 * 1024;
