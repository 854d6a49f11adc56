//! Where knowledge comes from: folders and Git repositories, each read as an immutable snapshot of files.
