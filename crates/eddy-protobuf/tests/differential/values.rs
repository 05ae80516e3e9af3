//! Hash of the content of JSON: independent of the order of members and the form of numbers.

/// Returns the hash of a JSON text, which must be valid.
pub(crate) fn hash(json: &[u8]) -> u64 {
    let text = std::str::from_utf8(json).unwrap();
    let checked: Result<serde_json::Value, _> = serde_json::from_str(text);
    assert!(checked.is_ok(), "{checked:?}: {text}");
    let mut reader = JsonHashReader(text);
    reader.value()
}

/// Reads JSON that is known to be valid and has no white space. Numbers are read exactly, which `serde_json` does not
/// do.
struct JsonHashReader<'t>(&'t str);

impl JsonHashReader<'_> {
    fn value(&mut self) -> u64 {
        match self.0.as_bytes()[0] {
            b'"' => self.text(),
            b'[' => {
                let mut state = mix(5);
                self.skip(1);
                while !self.ends(b']') {
                    state = mix(state ^ self.value());
                }
                state
            }
            b'{' => {
                let mut state = mix(6);
                self.skip(1);
                while !self.ends(b'}') {
                    let key = self.text();
                    self.skip(1);
                    state = state.wrapping_add(mix(key ^ mix(self.value())));
                }
                state
            }
            _ => {
                let end = self.0.find([',', ']', '}']).unwrap_or(self.0.len());
                let word = self.skip(end);
                match word {
                    "null" => mix(1),
                    "false" => mix(2),
                    "true" => mix(3),
                    // Zero has no sign here.
                    number => mix(4 ^ (number.parse::<f64>().unwrap() + 0.0).to_bits()),
                }
            }
        }
    }

    /// Skips a comma, or the end of a list; returns whether it ends.
    fn ends(&mut self, end: u8) -> bool {
        let byte = self.0.as_bytes()[0];
        if byte == b',' || byte == end {
            self.skip(1);
        }
        byte == end
    }

    fn text(&mut self) -> u64 {
        let mut reader = serde_json::Deserializer::from_str(self.0).into_iter::<String>();
        let text = reader.next().unwrap().unwrap();
        let end = reader.byte_offset();
        self.skip(end);
        text.bytes().fold(mix(7), |state, byte| mix(state ^ u64::from(byte)))
    }

    fn skip(&mut self, bytes: usize) -> &str {
        let (skipped, rest) = self.0.split_at(bytes);
        self.0 = rest;
        skipped
    }
}

/// One step of SplitMix64.
pub(crate) fn mix(value: u64) -> u64 {
    let mut state = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}
