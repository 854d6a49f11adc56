//! What is kept: documents as objects, and a database for everything else.

mod objects;

pub use objects::{InvalidKey, InvalidSecret, Key, ObjectError, ObjectOptions, Objects, S3Settings, Secret};
