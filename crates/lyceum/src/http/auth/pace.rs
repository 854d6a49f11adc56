//! How often one address may ask what costs us something: a key guessed, a chain read, a document fetched.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::HeaderMap;

/// How many may be asked at once, and how long it takes until one more may.
const BURST: u32 = 60;
const EVERY: Duration = Duration::from_millis(500);

/// How many addresses are remembered; those beyond share one place.
const REMEMBERED: usize = 10_000;

/// The address that a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl Peer {
    /// Whom a request is from: where it was passed on by a program on this machine or in a network of our own, whoever
    /// that says, last of all who said something.
    pub(crate) fn of(headers: &HeaderMap, connected: IpAddr) -> Self {
        let said =
            headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
        let last = said.and_then(|said| said.rsplit(',').next()?.trim().parse().ok());
        Self(last.filter(|_| is_near(connected)).unwrap_or(connected))
    }
}

impl Peer {
    /// What stands for the address: of the sixth version a whole network is one person's.
    pub(crate) fn network(self) -> IpAddr {
        network(self.0)
    }
}

/// Who asked how often.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// For each address, when it will have used up nothing.
    full: Mutex<HashMap<IpAddr, Instant>>,
}

impl Pace {
    /// Counts one more; says how many seconds to wait where that is too many.
    pub(crate) fn count(&self, peer: Peer, now: Instant) -> Result<(), u64> {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if full.len() >= REMEMBERED {
            full.retain(|_, full| *full > now);
        }
        let mut one = network(peer.0);
        if full.len() >= REMEMBERED && !full.contains_key(&one) {
            one = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        }
        let place = full.entry(one).or_insert(now);
        let next = (*place).max(now) + EVERY;
        let over = next.saturating_duration_since(now + EVERY * BURST);
        if over.is_zero() {
            *place = next;
            Ok(())
        } else {
            Err(over.as_secs() + 1)
        }
    }
}

fn is_near(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

/// What stands for an address: of the sixth version a whole network is one person's.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_is_slowed_down_and_others_are_not() {
        let (pace, now) = (Pace::default(), Instant::now());
        let peer = |last: u8| Peer(IpAddr::from([10, 0, 0, last]));
        for _ in 0..BURST {
            assert_eq!(pace.count(peer(1), now), Ok(()));
        }
        assert_eq!(pace.count(peer(1), now), Err(1));
        assert_eq!(pace.count(peer(2), now), Ok(()));
        assert_eq!(pace.count(peer(1), now + EVERY), Ok(()));
        assert_eq!(pace.count(peer(1), now + EVERY), Err(1));
    }

    #[test]
    fn a_proxy_nearby_is_believed_and_no_other() {
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", http::HeaderValue::from_static("2.2.2.2"));
        headers.append("x-forwarded-for", http::HeaderValue::from_static("1.1.1.1, 10.0.0.7"));
        let of = |connected: [u8; 4]| Peer::of(&headers, IpAddr::from(connected)).0;
        assert_eq!(of([127, 0, 0, 1]), IpAddr::from([10, 0, 0, 7]));
        assert_eq!(of([172, 17, 0, 2]), IpAddr::from([10, 0, 0, 7]));
        assert_eq!(of([8, 8, 8, 8]), IpAddr::from([8, 8, 8, 8]));
    }

    #[test]
    fn a_network_of_the_sixth_version_counts_as_one() {
        let (pace, now) = (Pace::default(), Instant::now());
        let peer = |last: u16| Peer(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]));
        assert!((0..100).any(|last| pace.count(peer(last), now).is_err()));
    }

    #[test]
    fn there_is_room_for_so_many_and_the_others_share() {
        let (pace, now) = (Pace::default(), Instant::now());
        let peer = |number: u32| Peer(IpAddr::from(number.to_be_bytes()));
        let refused = (0..11_000).filter(|number| pace.count(peer(*number), now).is_err()).count();
        assert!(refused > 0);
        assert!(pace.full.lock().unwrap_or_else(PoisonError::into_inner).len() <= REMEMBERED + 1);
        assert_eq!(pace.count(peer(12_000), now + Duration::from_secs(60)), Ok(()));
    }
}
