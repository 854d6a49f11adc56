//! What is kept: documents as objects, and a database for everything else.
