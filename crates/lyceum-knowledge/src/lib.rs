//! The knowledge service: a repository of typed markdown, in sync, and what is offered of it.
