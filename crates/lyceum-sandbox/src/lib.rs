//! Runs a script that is not trusted, with nothing but its own folder to read and a scratch folder to write.
