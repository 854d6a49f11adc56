//! Writes the subset of the protocol buffer wire format that ONNX needs.

/// An encoded message.
#[derive(Debug, Default, Clone)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Appends a varint field. Negative values take ten bytes, as the format requires.
    pub(super) fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.key(field, 0);
        self.varint(value.cast_unsigned());
        self
    }

    /// Appends a 32-bit float field.
    pub(super) fn float(&mut self, field: u32, value: f32) -> &mut Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Appends a string field.
    pub(super) fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// Appends a nested message.
    pub(super) fn message(&mut self, field: u32, value: &Self) -> &mut Self {
        self.bytes(field, &value.0)
    }

    /// Appends a bytes field.
    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.length_prefix(field, value.len());
        self.0.extend(value);
        self
    }

    /// Appends the key and length of a field whose bytes follow, for messages too large to copy.
    pub(super) fn length_prefix(&mut self, field: u32, length: usize) -> &mut Self {
        self.key(field, 2);
        self.varint(length as u64);
        self
    }

    /// Appends raw bytes, after [`Self::length_prefix`].
    pub(super) fn append(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self
    }

    /// The bytes written so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
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
