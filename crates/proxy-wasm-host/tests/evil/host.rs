//! Host for malicious modules, with a simple implementation of many functions.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use proxy_wasm_host::abi::{HostResult, LogLevel, MapType};
use proxy_wasm_host::{CallerScope, PropertyPath, SharedServices, SharedView};

/// Host for malicious modules, with a simple implementation of many functions.
#[derive(Default)]
pub(crate) struct EvilTestHost {
    /// Values that were added to maps.
    pub(crate) added: Vec<Vec<u8>>,
    /// Last number that the module reported.
    pub(crate) says: u32,
    shared: Option<SharedView>,
}

impl proxy_wasm_host::Host for EvilTestHost {
    fn log(&mut self, _: CallerScope, _: LogLevel, message: &[u8]) {
        if let [a, b, c, d] = message {
            self.says = u32::from_le_bytes([*a, *b, *c, *d]);
        }
    }

    fn map_visit(&mut self, _: CallerScope, _: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> HostResult {
        visit(b"key", b"value");
        Ok(())
    }

    fn map_add(&mut self, _: CallerScope, _: MapType, _: &[u8], value: &[u8]) -> HostResult {
        self.added.push(value.to_vec());
        Ok(())
    }

    fn map_set(&mut self, _: CallerScope, _: MapType, pairs: proxy_wasm_host::abi::Pairs<'_>) -> HostResult {
        self.added = pairs.map(|(_, value)| value.to_vec()).collect();
        Ok(())
    }

    fn property(&mut self, _: CallerScope, path: PropertyPath<'_>) -> HostResult<Cow<'_, [u8]>> {
        let len = if path.0 == b"large" { 900_000 } else { 20 };
        Ok(Cow::Owned(vec![b'x'; len]))
    }

    fn shared(&mut self) -> Option<&SharedView> {
        Some(self.shared.get_or_insert_with(|| SharedView::new(Arc::clone(&SHARED), b"evil", None)))
    }
}

/// Shared by all VMs, so that data left by one VM is visible to the next.
static SHARED: LazyLock<Arc<SharedServices>> = LazyLock::new(Arc::default);
