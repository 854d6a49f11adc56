//! Truncated, forged and invalid files.

use std::{collections::BTreeMap, fs};

use tempfile::TempDir;

use super::Tensors;
use crate::model::convert::tests::write_safetensors;

fn written() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model.safetensors");
    write_safetensors(&path, &BTreeMap::from([("x".to_owned(), (vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]))]));
    fs::read(path).unwrap()
}

/// The error of reading these bytes, or an empty string.
fn error(bytes: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model.safetensors");
    fs::write(&path, bytes).unwrap();
    let read = Tensors::open(&path).and_then(|mut file| file.floats("x", &[2, 0]));
    match read {
        Ok(tensor) => {
            assert_eq!((tensor.shape, tensor.data), (vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]));
            String::new()
        }
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    let message = error(bytes);
    assert!(message.contains(expected), "{message:?} does not contain {expected:?}");
}

#[test]
fn a_whole_file_is_read() {
    assert_eq!(error(&written()), "");
}

#[test]
fn a_file_that_is_not_whole_says_so() {
    let whole = written();
    check(&whole[..whole.len() - 1], "is it truncated?");
    check(&whole[..20], "longer than the file");
    check(&whole[..4], "too short");
    check(b"", "too short");
}

#[test]
fn a_header_is_not_believed() {
    let with =
        |header: &str| [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 16]].concat();
    check(&[0xff; 64], "longer than the file");
    check(&with("no"), "not JSON");
    check(&with(r#"{"x":1}"#), "the header entry of `x` is invalid");
    check(&with(r#"{"y":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#), "no tensor `x`");
    check(&with(r#"{"x":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}"#), "only F32");
    check(&with(r#"{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}}"#), "does not match its shape");
    check(&with(r#"{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#), "has shape [4]");
    check(&with(r#"{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[16,0]}}"#), "outside of the file");
    check(
        &with(r#"{"x":{"dtype":"F32","shape":[2,4611686018427387904],"data_offsets":[0,16]}}"#),
        "does not match its",
    );
}
