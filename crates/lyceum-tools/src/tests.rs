//! What a caller sees and what a call answers, through the pure dispatch.
