//! Line buffer for a module's standard output and error.

/// Output of a module, split into lines.
#[derive(Debug, Default)]
pub struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    lines: Vec<OutputLine>,
    /// Bytes accepted since the call began.
    taken: usize,
    /// Bytes dropped since the call began.
    dropped: usize,
}

/// Printed line without its newline.
#[derive(Debug)]
pub struct OutputLine {
    /// Standard output or standard error.
    pub output: Output,
    /// Text of the line.
    pub text: Vec<u8>,
}

/// Stream that a line was printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Printed {
    /// Records printed bytes, up to `taken_max` per call.
    pub(super) fn take(&mut self, output: Output, bytes: &[u8], line_max: usize, taken_max: usize) {
        let room = taken_max.saturating_sub(self.taken).min(bytes.len());
        let (kept, dropped) = bytes.split_at(room);
        self.taken += room;
        self.dropped = self.dropped.saturating_add(dropped.len());
        let mut pieces = kept.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let line = self.line(output);
            let fits = line_max.saturating_sub(line.len()).min(piece.len());
            line.extend_from_slice(piece.get(..fits).unwrap_or_default());
            if pieces.peek().is_some() {
                let text = std::mem::take(line);
                self.lines.push(OutputLine { output, text });
            }
        }
    }

    /// Takes the complete lines.
    #[inline]
    pub fn take_lines(&mut self) -> Vec<OutputLine> {
        std::mem::take(&mut self.lines)
    }

    /// Takes all remaining output, with unterminated lines, when no more will come.
    pub fn take_rest(&mut self) -> Vec<OutputLine> {
        let rest = [
            OutputLine { output: Output::Stdout, text: std::mem::take(&mut self.stdout) },
            OutputLine { output: Output::Stderr, text: std::mem::take(&mut self.stderr) },
        ];
        self.lines.extend(rest.into_iter().filter(|line| !line.text.is_empty()));
        self.take_lines()
    }

    /// Ends a call and returns the number of bytes that were dropped during it.
    #[inline]
    pub fn end_call(&mut self) -> usize {
        self.taken = 0;
        std::mem::take(&mut self.dropped)
    }

    fn line(&mut self, output: Output) -> &mut Vec<u8> {
        match output {
            Output::Stdout => &mut self.stdout,
            Output::Stderr => &mut self.stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(printed: &mut Printed) -> Vec<String> {
        printed.take_lines().into_iter().map(|line| String::from_utf8(line.text).unwrap()).collect()
    }

    #[test]
    fn only_complete_lines_are_logged() {
        let mut printed = Printed::default();
        printed.take(Output::Stdout, b"one\ntw", 10, 100);
        printed.take(Output::Stderr, b"other", 10, 100);
        assert_eq!(lines(&mut printed), ["one"]);
        assert!(printed.take_lines().is_empty());
        printed.take(Output::Stdout, b"o\n", 10, 100);
        assert_eq!(lines(&mut printed), ["two"]);
        let rest: Vec<Vec<u8>> = printed.take_rest().into_iter().map(|line| line.text).collect();
        assert_eq!(rest, [b"other"]);
    }

    #[test]
    fn long_lines_are_truncated() {
        let mut printed = Printed::default();
        printed.take(Output::Stdout, b"abc", 5, 100);
        printed.take(Output::Stdout, b"defgh\nnext\n", 5, 100);
        assert_eq!(lines(&mut printed), ["abcde", "next"]);
        assert_eq!(printed.end_call(), 0, "what is cut of a line is not what was dropped");
    }

    #[test]
    fn output_beyond_the_limit_of_a_call_is_dropped_and_counted() {
        let mut printed = Printed::default();
        printed.take(Output::Stdout, b"12345\n", 10, 8);
        printed.take(Output::Stderr, b"12345\n", 10, 8);
        assert_eq!(lines(&mut printed), ["12345"]);
        assert_eq!(printed.end_call(), 4);
        assert_eq!(printed.end_call(), 0);
        printed.take(Output::Stderr, b"3\n", 10, 8);
        assert_eq!(lines(&mut printed), ["123"]);
    }
}
