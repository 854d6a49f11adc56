//! Parsing `/proc`.

use super::{peak, peak_kib};

#[test]
fn the_peak_is_read_in_kib() {
    assert_eq!(peak("Name:\tlyceum\nVmHWM:\t   20480 kB\nVmRSS:\t   15360 kB\n"), Some(20480));
    assert_eq!(peak("Name:\tzombie\n"), None);
}

#[test]
fn this_process_holds_memory() {
    assert!(peak_kib(std::process::id()).is_some_and(|kib| kib > 0));
}
