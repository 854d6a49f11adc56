//! Folders that can't be watched.

use std::io;

use crate::Error;

#[test]
fn a_folder_that_may_not_be_read_is_told_from_one_that_does_not_exist() {
    let denied = Error::folder(io::ErrorKind::PermissionDenied.into());
    assert!(denied.to_string().starts_with("permission denied"), "{denied}");
    let missing = Error::folder(io::ErrorKind::NotFound.into());
    assert!(missing.to_string().starts_with("no such folder"), "{missing}");
}

#[test]
fn only_a_missing_permission_lets_the_others_be_watched() {
    let denied = notify::Error::io(io::ErrorKind::PermissionDenied.into());
    assert!(super::is_denied(&denied) && !super::is_gone(&denied));
    assert!(super::is_gone(&notify::Error::path_not_found()));
    assert!(!super::is_denied(&notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
}
