//! Line output: a line that was only partly written does not swallow the next one.

use std::io::{self, Write};

/// An output of whole lines, such as a log file.
///
/// A full disk, a limit or a full pipe can cut a line in the middle. The next write then begins with a line break, so
/// that the damage stays within one line.
#[derive(Debug)]
pub struct LineOutput<W> {
    output: W,
    is_mid_line: bool,
}

/// A write that failed before its end.
#[derive(Debug)]
pub struct LinesLost {
    /// Bytes of the lines written before the failure.
    pub written: usize,
    /// Cause of the failure.
    pub source: io::Error,
}

impl<W: Write> LineOutput<W> {
    /// Returns an output whose next byte begins a line.
    pub fn new(output: W) -> Self {
        Self { output, is_mid_line: false }
    }

    /// Returns an output that ends in the middle of a line.
    pub fn torn(output: W) -> Self {
        Self { output, is_mid_line: true }
    }

    /// Whether the output ends in the middle of a line.
    pub fn is_mid_line(&self) -> bool {
        self.is_mid_line
    }

    /// Records that the next byte begins a line, as in a file that was emptied meanwhile.
    pub fn begin_line(&mut self) {
        self.is_mid_line = false;
    }

    /// Returns the inner output.
    pub fn get(&self) -> &W {
        &self.output
    }

    /// Writes whole lines, including the line break of the last one.
    ///
    /// # Errors
    /// [`LinesLost`] when the lines were written only in part or not at all.
    ///
    /// # Cost
    /// One system call if the output accepts all bytes at once; also after a failure.
    pub fn write_lines(&mut self, lines: &[u8]) -> Result<(), LinesLost> {
        let mended;
        let (bytes, added) = if self.is_mid_line && !lines.is_empty() {
            // One write, because another process may write to the same file.
            mended = [b"\n", lines].concat();
            (&*mended, 1)
        } else {
            (lines, 0)
        };
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            let count = match self.output.write(rest) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other,
            };
            match count {
                Ok(count) => {
                    written += count;
                    let last = written.checked_sub(1).and_then(|last| bytes.get(last));
                    self.is_mid_line = last != Some(&b'\n');
                }
                Err(source) => {
                    return Err(LinesLost { written: written.saturating_sub(added), source });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for this many bytes, which accepts a few at a time.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room).min(5);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.bytes.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Writes `one\n`, `two\n` with room for `room` bytes, then `three\n` with room for all.
    fn check(room: usize, written: usize, expected: &str) {
        let mut output = LineOutput::new(Disk { bytes: Vec::new(), room });
        let lost = output.write_lines(b"one\ntwo\n").unwrap_err();
        assert_eq!(lost.written, written, "{room}");
        output.output.room = 100;
        output.write_lines(b"three\n").unwrap();
        output.write_lines(b"four\n").unwrap();
        assert_eq!(String::from_utf8_lossy(&output.output.bytes), expected, "{room}");
    }

    #[test]
    fn a_torn_line_does_not_swallow_the_next() {
        check(0, 0, "three\nfour\n");
        check(2, 2, "on\nthree\nfour\n");
        check(3, 3, "one\nthree\nfour\n");
        check(4, 4, "one\nthree\nfour\n");
        check(6, 6, "one\ntw\nthree\nfour\n");
        check(7, 7, "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn a_line_is_ended_once() {
        let mut output = LineOutput::torn(Disk { bytes: b"on".to_vec(), room: 1 });
        // There is room for the line break only.
        assert_eq!(output.write_lines(b"two\n").unwrap_err().written, 0);
        assert!(!output.is_mid_line());
        output.output.room = 2;
        assert_eq!(output.write_lines(b"three\n").unwrap_err().written, 2);
        assert!(output.is_mid_line());
        output.output.room = 100;
        output.write_lines(b"").unwrap();
        output.write_lines(b"four\n").unwrap();
        assert_eq!(String::from_utf8_lossy(&output.output.bytes), "on\nth\nfour\n");
    }
}
