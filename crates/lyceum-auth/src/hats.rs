//! Hats Protocol: roles of an account by the hats it wears.

use std::fmt;

use alloy_primitives::{Address, U256, address};
use alloy_sol_types::{SolCall, sol};
use futures::future::try_join_all;
use lyceum_model::Tier;

use crate::chain::{Block, Chain, ChainError};

/// Address of the Hats contract, the same on every chain.
pub const CONTRACT: Address = address!("3bc1A0Ad72417f2d411118085256fC53CBdDd137");

/// Maximum depth of a tree below its top hat.
const LEVELS: usize = 14;

sol! {
    function isWearerOfHat(address user, uint256 hat) returns (bool);
}

/// A hat id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hat(U256);

/// Not a hat id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hat id is its tree and up to 14 levels, each at least 1, such as 1.2.1")]
pub struct BadHat;

/// Hats and the tiers they grant.
#[derive(Debug, Clone)]
pub struct Hats {
    /// Address of the Hats contract.
    pub contract: Address,
    /// Hats, each with the tier of its wearers.
    pub hats: Vec<(Hat, Tier)>,
}

impl Hat {
    /// Parses `30.3.1`: the tree in 32 bits, then each level in 16.
    pub fn parse(text: &str) -> Result<Self, BadHat> {
        let mut parts = text.split('.');
        let number = |part: &str, max: u32| {
            let is_plain = !part.starts_with(['0', '+']);
            part.parse::<u32>().ok().filter(|number| is_plain && (1..=max).contains(number)).ok_or(BadHat)
        };
        let mut id = U256::from(number(parts.next().unwrap_or_default(), u32::MAX)?);
        let mut levels = 0;
        for part in parts {
            id = (id << 16) | U256::from(number(part, u32::from(u16::MAX))?);
            levels += 1;
        }
        if levels > LEVELS { Err(BadHat) } else { Ok(Self(id << (16 * (LEVELS - levels)))) }
    }
}

impl Hats {
    /// Tier of an account: the highest of its hats.
    pub(crate) async fn tier(&self, chain: &Chain, account: Address) -> Result<Tier, ChainError> {
        let worn = self.hats.iter().map(|(hat, tier)| async move {
            let data = isWearerOfHatCall { user: account, hat: hat.0 }.abi_encode();
            let result = chain.call(self.contract, data, Block::Latest).await?;
            let is_worn =
                isWearerOfHatCall::abi_decode_returns(&result).map_err(|_| ChainError::Unreachable {
                    chain: chain.id(),
                    why: "there is no Hats contract at the configured address".to_owned(),
                })?;
            Ok(if is_worn { *tier } else { Tier::Public })
        });
        let tiers = try_join_all(worn).await?;
        Ok(tiers.into_iter().max().unwrap_or(Tier::Public))
    }
}

impl fmt::Debug for Hat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#066x}", self.0)
    }
}
