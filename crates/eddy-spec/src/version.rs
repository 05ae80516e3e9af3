//! Version identifier of a configuration.

use eddy_ids::Shared;

use crate::problem::SourceText;

/// Returns the version identifier of a configuration: a hash of the texts in their order.
pub fn version_of(sources: &[SourceText]) -> Shared<str> {
    // FNV-1a by words, with the high bits folded down; 64 bits suffice to tell one version from the next.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 32;
    };
    for source in sources {
        for chunk in source.text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            add(u64::from_le_bytes(word));
        }
        // The position at which a text ends also counts.
        add(source.text.len() as u64);
    }
    format!("{hash:016x}").into()
}

#[cfg(test)]
mod tests {
    use super::version_of;
    use crate::problem::SourceText;

    #[test]
    fn another_text_is_another_version() {
        let version = |texts: &[&str]| {
            let sources: Vec<SourceText> = texts.iter().map(|text| SourceText::new("a", text)).collect();
            version_of(&sources)
        };
        assert_eq!(version(&["a: b"]), version(&["a: b"]));
        let versions = [
            version(&[]),
            version(&[""]),
            version(&["a"]),
            version(&["a\0"]),
            version(&["a", ""]),
            version(&["12345678"]),
            version(&["1234567", "8"]),
        ];
        for (at, version) in versions.iter().enumerate() {
            assert!(!versions[..at].contains(version), "{at}");
        }
    }
}
