//! Search, through its front door.

mod dice;

pub(crate) use dice::{Dice, unit};
