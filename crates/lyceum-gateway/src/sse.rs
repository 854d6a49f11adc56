//! Decodes server-sent events as their bytes arrive.

/// An incremental decoder: bytes in, the data of complete events out.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// Adds bytes; returns the data of the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            events.extend(self.end_line(line.strip_suffix(b"\r").unwrap_or(&line)));
        }
        events
    }

    /// The event that the end of the stream completes: some servers omit the last empty line.
    pub(crate) fn finish(mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        self.end_line(&line).or_else(|| self.end_line(b""))
    }

    fn end_line(&mut self, line: &[u8]) -> Option<String> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return String::from_utf8(data).ok().filter(|data| !data.is_empty());
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stream: &str, expected: &[&str]) {
        let (mut whole, mut bytewise) = (Events::default(), Events::default());
        let mut at_once = whole.feed(stream.as_bytes());
        at_once.extend(whole.finish());
        assert_eq!(at_once, expected, "{stream:?}");
        let mut one_by_one: Vec<String> = stream.bytes().flat_map(|byte| bytewise.feed(&[byte])).collect();
        one_by_one.extend(bytewise.finish());
        assert_eq!(one_by_one, expected, "{stream:?}, byte by byte");
    }

    #[test]
    fn events_are_decoded_however_they_are_cut() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("event: message\r\nid: 1\r\ndata: {\"ä\":1}\r\n\r\n", &["{\"ä\":1}"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check(": keep-alive\n\n\ndata: a", &["a"]);
        check("retry: 5\n\n", &[]);
    }
}
