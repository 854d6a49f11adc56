//! The skills service: the six tools, the Agent Skills extension, and the events that tell how skills are used.

pub mod analytics;
