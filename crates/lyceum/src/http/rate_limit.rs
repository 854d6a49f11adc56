//! Rate limits by client address, for expensive requests: sign-ins, reads of a chain, new sessions.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use lyceum_store::{Db, rate_limits};

use super::ClientAddr;
use crate::token_bucket::{Rate, TokenBucket};

/// Maximum number of addresses with their own token bucket; further ones share a bucket.
const MAX_ADDRESSES: usize = 10_000;

/// How long the database may take to count a request.
const SHARED_TIMEOUT: Duration = Duration::from_secs(1);

/// A token bucket per client address.
#[derive(Debug)]
pub(crate) struct RateLimit {
    rate: Rate,
    buckets: Mutex<HashMap<IpAddr, TokenBucket>>,
    /// The database in which all nodes count, if there are several.
    shared: Option<Db>,
}

impl RateLimit {
    /// Sign-ins and token requests.
    pub(crate) fn of_sign_ins() -> Self {
        Self::new(60, Duration::from_millis(500))
    }

    /// New sessions of earlier protocol versions. Many clients behind one address may reconnect after a restart.
    pub(crate) fn of_sessions() -> Self {
        Self::new(600, Duration::from_millis(200))
    }

    pub(super) fn new(burst: u32, every: Duration) -> Self {
        Self { rate: Rate { burst, every }, buckets: Mutex::default(), shared: None }
    }

    /// The same limit for all nodes together.
    pub(crate) fn shared_by(self, db: Option<&Db>) -> Self {
        Self { shared: db.cloned(), ..self }
    }

    /// Counts a request at all nodes; the error is the number of seconds to wait. If the database does not answer in time,
    /// this node counts alone.
    pub(crate) async fn count_everywhere(&self, client: ClientAddr, now: Instant) -> Result<(), u64> {
        self.count(client, now)?;
        let Some(db) = &self.shared else { return Ok(()) };
        let rate = rate_limits::Rate { burst: self.rate.burst, every: self.rate.every };
        let name = format!("sign-in:{}", client.network());
        let taken = db.write(name.clone(), move |tx| rate_limits::take(tx, &name, rate));
        match tokio::time::timeout(SHARED_TIMEOUT, taken).await {
            Ok(Ok(Err(wait))) => Err(wait.as_secs() + 1),
            Ok(Ok(Ok(())) | Err(_)) | Err(_) => Ok(()),
        }
    }

    /// Counts a request; the error is the number of seconds to wait.
    pub(crate) fn count(&self, client: ClientAddr, now: Instant) -> Result<(), u64> {
        match self.take(client, now, Duration::ZERO) {
            Ok(_) => Ok(()),
            Err(wait) => Err(wait.as_secs() + 1),
        }
    }

    /// Undoes the last count.
    pub(super) fn refund(&self, client: ClientAddr) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&client.network()) {
            bucket.refund(self.rate);
        }
    }

    /// Takes a token, and returns how long to wait for it; an error if that is longer than `max_wait`.
    pub(super) fn take(
        &self,
        client: ClientAddr,
        now: Instant,
        max_wait: Duration,
    ) -> Result<Duration, Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_ADDRESSES {
            buckets.retain(|_, bucket| !bucket.is_full(now));
        }
        let mut network = client.network();
        if buckets.len() >= MAX_ADDRESSES && !buckets.contains_key(&network) {
            network = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        }
        buckets.entry(network).or_insert_with(|| TokenBucket::new(now)).take(self.rate, now, max_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: u32 = 60;
    const EVERY: Duration = Duration::from_millis(500);

    fn client(address: impl Into<IpAddr>) -> ClientAddr {
        ClientAddr::of_peer(address.into())
    }

    #[test]
    fn one_address_is_slowed_down_and_others_are_not() {
        let (limit, now) = (RateLimit::new(BURST, EVERY), Instant::now());
        let peer = |last: u8| client([10, 0, 0, last]);
        for _ in 0..BURST {
            assert_eq!(limit.count(peer(1), now), Ok(()));
        }
        assert_eq!(limit.count(peer(1), now), Err(1));
        assert_eq!(limit.count(peer(2), now), Ok(()));
        assert_eq!(limit.count(peer(1), now + EVERY), Ok(()));
        assert_eq!(limit.count(peer(1), now + EVERY), Err(1));
    }

    #[test]
    fn a_network_of_the_sixth_version_counts_as_one() {
        let (limit, now) = (RateLimit::new(BURST, EVERY), Instant::now());
        let peer = |last: u16| client([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        assert!((0..100).any(|last| limit.count(peer(last), now).is_err()));
    }

    #[test]
    fn there_is_room_for_so_many_and_the_others_share() {
        let (limit, now) = (RateLimit::new(BURST, EVERY), Instant::now());
        let peer = |number: u32| client(number.to_be_bytes());
        let refused = (0..11_000).filter(|number| limit.count(peer(*number), now).is_err()).count();
        assert!(refused > 0);
        assert!(limit.buckets.lock().unwrap_or_else(PoisonError::into_inner).len() <= MAX_ADDRESSES + 1);
        assert_eq!(limit.count(peer(12_000), now + Duration::from_secs(60)), Ok(()));
    }
}
