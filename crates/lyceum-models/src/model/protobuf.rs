//! Writes protocol buffers: as much of the wire format as an ONNX file needs.

/// The bytes of one message, field by field.
#[derive(Debug, Default, Clone)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A whole number. Negative ones take ten bytes, as the format has it.
    pub(super) fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.key(field, 0);
        self.varint(value.cast_unsigned());
        self
    }

    /// A number of 32 bits.
    pub(super) fn float(&mut self, field: u32, value: f32) -> &mut Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A text.
    pub(super) fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message inside of this one.
    pub(super) fn message(&mut self, field: u32, value: &Self) -> &mut Self {
        self.bytes(field, &value.0)
    }

    /// Bytes.
    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.announce(field, value.len());
        self.0.extend(value);
        self
    }

    /// Says that so many bytes follow, for a message that is too big to be copied.
    pub(super) fn announce(&mut self, field: u32, length: usize) -> &mut Self {
        self.key(field, 2);
        self.varint(length as u64);
        self
    }

    /// Bytes as they are, after [`Self::announce`].
    pub(super) fn append(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self
    }

    /// What was written so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests;
