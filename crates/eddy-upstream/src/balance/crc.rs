//! Checksum by which keys are distributed: CRC-32 of IEEE 802.3.

/// A checksum in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crc(u32);

impl Crc {
    pub(super) fn new() -> Self {
        Self(u32::MAX)
    }

    /// Returns the checksum extended by `bytes`.
    pub(super) fn with(self, bytes: &[u8]) -> Self {
        let step = |crc: u32, byte: &u8| {
            let [low, ..] = crc.to_le_bytes();
            (crc >> 8) ^ TABLE[usize::from(low ^ byte)]
        };
        Self(bytes.iter().fold(self.0, step))
    }

    pub(super) fn value(self) -> u32 {
        !self.0
    }
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    let mut first: u32 = 0;
    while index < table.len() {
        let mut value = first;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
        first += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::Crc;

    #[test]
    fn the_checksum_matches_reference_values() {
        assert_eq!(Crc::new().with(b"1234").with(b"56789").value(), 0xcbf4_3926);
        assert_eq!(Crc::new().value(), 0);
    }
}
