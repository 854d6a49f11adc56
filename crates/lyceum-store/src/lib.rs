//! What is kept: documents as objects, and a database for everything else.

mod objects;

pub use objects::{InvalidKey, Key, ObjectError, ObjectOptions, Objects};
