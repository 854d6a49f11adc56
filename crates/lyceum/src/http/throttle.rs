//! Throttling of anonymous callers, if others sign in: rate limits per address, and for all addresses together.
//!
//! A request above the rate waits for a token. One that would wait too long is refused, after a delay: that slows down
//! clients that retry at once, and keeps their cost for signed-in callers low.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use lyceum_model::ErrorCode;

use super::{ApiError, ClientAddr, RateLimit, route::RateClass};
use crate::{
    config::Limits,
    token_bucket::{Rate, TokenBucket},
};

/// Maximum wait for a token, and the delay of a refusal.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Burst size, in seconds of the rate.
const BURST_SECONDS: u32 = 2;

/// Rate limits of anonymous callers.
#[derive(Debug)]
pub(crate) struct Throttle {
    per_address: RateLimit,
    rate: Rate,
    all: Mutex<TokenBucket>,
}

impl Throttle {
    pub(crate) fn new(limits: &Limits) -> Self {
        let Rate { burst, every } = per_second(limits.anonymous_per_second);
        let rate = per_second(limits.anonymous_total_per_second);
        Self {
            per_address: RateLimit::new(burst, every),
            rate,
            all: Mutex::new(TokenBucket::new(Instant::now())),
        }
    }

    /// Waits for a token, or refuses the request.
    pub(super) async fn acquire(&self, client: ClientAddr, class: RateClass) -> Result<(), ApiError> {
        match self.wait(client, class, Instant::now()) {
            Ok(Duration::ZERO) => Ok(()),
            Ok(wait) => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
            Err(wait) => {
                delay_refusal().await;
                let message = "too many anonymous requests from this address; sign in, or retry later";
                Err(ApiError::new(ErrorCode::RateLimited, message).retry_after(wait.as_secs() + 1))
            }
        }
    }

    fn wait(&self, client: ClientAddr, class: RateClass, now: Instant) -> Result<Duration, Duration> {
        match class {
            RateClass::SignIn | RateClass::Free => return Ok(Duration::ZERO),
            RateClass::Own | RateClass::Shared => {}
        }
        let own = self.per_address.take(client, now, MAX_DELAY)?;
        if class == RateClass::Own {
            return Ok(own);
        }
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner).take(self.rate, now, MAX_DELAY);
        // A refusal because of others must not count against this address.
        let all = all.inspect_err(|_| self.per_address.refund(client))?;
        Ok(own.max(all))
    }
}

/// Delays a refusal, so that clients that retry at once cost little.
pub(super) async fn delay_refusal() {
    tokio::time::sleep(MAX_DELAY).await;
}

fn per_second(count: u32) -> Rate {
    Rate { burst: count.saturating_mul(BURST_SECONDS), every: Duration::from_secs(1) / count.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(own: u32, all: u32) -> Throttle {
        let mut config = crate::config::Config::from_text("lyceum.toml".as_ref(), "").unwrap();
        config.limits.anonymous_per_second = own;
        config.limits.anonymous_total_per_second = all;
        Throttle::new(&config.limits)
    }

    fn client(last: u8) -> ClientAddr {
        ClientAddr::of_peer([192, 0, 2, last].into())
    }

    #[test]
    fn one_address_waits_for_its_turn_and_is_refused_when_that_takes_too_long() {
        let (throttle, now) = (throttle(10, 1000), Instant::now());
        for _ in 0..20 {
            assert_eq!(throttle.wait(client(1), RateClass::Shared, now), Ok(Duration::ZERO));
        }
        let waits: Vec<_> = (0..11).map(|_| throttle.wait(client(1), RateClass::Shared, now)).collect();
        assert_eq!(waits[0], Ok(Duration::from_millis(100)));
        assert_eq!(waits[9], Ok(Duration::from_secs(1)));
        assert!(waits[10].is_err());
        assert_eq!(
            throttle.wait(client(2), RateClass::Shared, now),
            Ok(Duration::ZERO),
            "others are not slowed down"
        );
    }

    #[test]
    fn all_addresses_together_wait_too() {
        let (throttle, now) = (throttle(10, 20), Instant::now());
        let waits: Vec<_> =
            (0..100).map(|last| throttle.wait(client(last), RateClass::Shared, now)).collect();
        assert_eq!(waits.iter().filter(|wait| **wait == Ok(Duration::ZERO)).count(), 40);
        assert_eq!(waits.iter().filter(|wait| wait.is_err()).count(), 40);
        // A client refused because of others has all of its own tokens, and can sign in.
        for _ in 0..20 {
            assert_eq!(throttle.wait(client(99), RateClass::Own, now), Ok(Duration::ZERO));
        }
        // Probes and webhooks are not throttled, and sign-in has its own rate limit.
        for class in [RateClass::SignIn, RateClass::Free] {
            let waits: Vec<_> = (0..100).map(|_| throttle.wait(client(99), class, now)).collect();
            assert!(waits.iter().all(|wait| *wait == Ok(Duration::ZERO)), "{class:?}");
        }
    }
}
