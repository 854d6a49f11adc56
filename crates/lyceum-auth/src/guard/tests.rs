//! Where the guard lets us go.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::Url;
use tokio::net::TcpListener;

use lyceum_model::is_public_address;

use super::{Ask, Guard, Unfetched};

#[track_caller]
fn check(address: &str, expected: bool) {
    assert_eq!(is_public_address(address.parse::<IpAddr>().unwrap()), expected, "{address}");
}

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    for address in
        ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1"]
    {
        check(address, true);
    }
    for address in ["2606:4700:4700::1111", "2a00:1450:4001::1"] {
        check(address, true);
    }
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
    ] {
        check(address, false);
    }
    for address in [
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "fc00::1",
        "fd00::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "5f00::1",
    ] {
        check(address, false);
    }
}

/// A listener that counts who comes, and answers nobody.
async fn canary() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (port, count)
}

#[tokio::test]
async fn no_way_of_writing_it_leads_to_this_machine() {
    let (port, count) = canary().await;
    let guard = Guard::default();
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "0x7f000001",
        "127.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "[::]",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "①②⑦.⓪.⓪.①",
    ] {
        for scheme in ["https", "http"] {
            let Ok(url) = Url::parse(&format!("{scheme}://{host}:{port}/x")) else { continue };
            let answer = guard.ask(&url, Ask::Get, "*/*", Duration::from_secs(2)).await;
            assert!(matches!(answer, Err(Unfetched::NotPublic | Unfetched::Failed(_))), "{url}");
        }
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // The canary sings when it is let.
    let trusting = Guard { trusted: vec![format!("127.0.0.1:{port}")] };
    let url = Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap();
    let _unanswered = trusting.ask(&url, Ask::Get, "*/*", Duration::from_millis(200)).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
