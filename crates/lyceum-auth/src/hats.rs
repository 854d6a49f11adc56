//! Hats Protocol: which roles an account has, by the hats it wears.

use std::fmt;

use alloy_primitives::{Address, U256, address};
use alloy_sol_types::{SolCall, sol};
use futures::future::try_join_all;
use lyceum_model::Tier;

use crate::chain::{Block, Chain, ChainError};

/// Where the contract is, on every chain that has it.
pub const CONTRACT: Address = address!("3bc1A0Ad72417f2d411118085256fC53CBdDd137");

/// How many levels a tree has below its top.
const LEVELS: usize = 14;

sol! {
    function isWearerOfHat(address user, uint256 hat) returns (bool);
}

/// A hat, by its place in a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hat(U256);

/// The text is not the place of a hat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hat id is its tree and up to 14 levels, each at least 1, such as 1.2.1")]
pub struct BadHat;

/// Which hats make which tier.
#[derive(Debug, Clone)]
pub struct Hats {
    /// The contract.
    pub contract: Address,
    /// Each hat and the tier of whoever wears it.
    pub hats: Vec<(Hat, Tier)>,
}

impl Hat {
    /// Reads `30.3.1`: the tree in 32 bits, then each level in 16.
    pub fn parse(text: &str) -> Result<Self, BadHat> {
        let mut parts = text.split('.');
        let number = |part: &str, most: u32| {
            let is_plain = !part.starts_with(['0', '+']);
            part.parse::<u32>().ok().filter(|number| is_plain && (1..=most).contains(number)).ok_or(BadHat)
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
    /// The tier of an account: the highest that any of its hats gives.
    pub(crate) async fn tier(&self, chain: &Chain, account: Address) -> Result<Tier, ChainError> {
        let worn = self.hats.iter().map(|(hat, tier)| async move {
            let data = isWearerOfHatCall { user: account, hat: hat.0 }.abi_encode();
            let answer = chain.call(self.contract, data, Block::Latest).await?;
            let is_worn =
                isWearerOfHatCall::abi_decode_returns(&answer).map_err(|_| ChainError::Unreachable {
                    chain: chain.id(),
                    why: "there is no Hats contract at its address".to_owned(),
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
