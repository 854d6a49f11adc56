//! Whether an account signed a message: by its key, or, where it is a contract, by the contract's own word.
//!
//! A contract is asked through a few lines of our own code that the chain runs for one call and forgets. They call the
//! factory first where the contract is not there yet (ERC-6492), ask it (EIP-1271), and give back one word whatever it
//! answers; so no contract can make an answer large, and no failure of one looks like a failure of the chain.

use alloy_primitives::{Address, B256, Bytes, Signature, b256, eip191_hash_message};
use alloy_sol_types::{SolCall, SolType, sol, sol_data};

use crate::chain::{Block, Chain, ChainError};

/// The longest signature that is looked at.
const MAX_SIGNATURE_BYTES: usize = 16 * 1024;

/// Ends a signature of a contract that is not there yet: ERC-6492.
const ERC6492_SUFFIX: B256 = b256!("6492649264926492649264926492649264926492649264926492649264926492");

/// What a contract answers when the signature is good: EIP-1271.
const EIP1271_MAGIC: [u8; 4] = [0x16, 0x26, 0xba, 0x7e];

sol! {
    function isValidSignature(bytes32 hash, bytes signature) returns (bytes4);
}

/// What the factory is told, and by which one.
struct Deployment {
    factory: Address,
    call: Bytes,
}

/// How an account signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    /// With the key that it is made of: the same on every chain.
    Key,
    /// By the word of a contract, on the chain that was asked.
    Contract,
}

/// How the account signed that message, if it did. An error is one of the chain, and says nothing about the signature.
pub(crate) async fn signed(
    chain: &Chain,
    account: Address,
    message: &str,
    signature: &[u8],
) -> Result<Option<SignatureKind>, ChainError> {
    if signature.is_empty() || signature.len() > MAX_SIGNATURE_BYTES {
        return Ok(None);
    }
    if signer(message, signature) == Some(account) {
        return Ok(Some(SignatureKind::Key));
    }
    let hash = eip191_hash_message(message);
    let Some((making, signature)) = unwrap(signature) else { return Ok(None) };
    let question = isValidSignatureCall { hash, signature }.abi_encode();
    let answer = chain.run(program(making.as_ref(), account, &question), Block::Safe).await;
    match answer {
        Ok(word) => {
            let is_good = word.len() == 32
                && word.starts_with(&EIP1271_MAGIC)
                && word.iter().skip(4).all(|byte| *byte == 0);
            Ok(is_good.then_some(SignatureKind::Contract))
        }
        Err(ChainError::Reverted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whose key made a signature of 65 bytes. Each signature has a twin that is as good; only the lower is taken.
fn signer(message: &str, signature: &[u8]) -> Option<Address> {
    let bytes: &[u8; 65] = signature.try_into().ok()?;
    let (_, [parity]) = bytes.split_last_chunk::<1>()?;
    if !matches!(parity, 0 | 1 | 27 | 28) {
        return None;
    }
    let signature = Signature::from_raw_array(bytes).ok()?;
    if signature.normalize_s().is_some() {
        return None;
    }
    signature.recover_address_from_msg(message).ok()
}

/// The signature for the contract, and how the contract is made where that is said; nothing where it can't be read.
fn unwrap(signature: &[u8]) -> Option<(Option<Deployment>, Bytes)> {
    let Some(wrapped) = signature.strip_suffix(ERC6492_SUFFIX.as_slice()) else {
        return Some((None, Bytes::copy_from_slice(signature)));
    };
    type Erc6492Parameters = (sol_data::Address, sol_data::Bytes, sol_data::Bytes);
    let (factory, call, signature) = Erc6492Parameters::abi_decode_params(wrapped).ok()?;
    Some((Some(Deployment { factory, call }), signature))
}

/// Code that makes the contract, asks it, and gives back its answer if that is at least one word.
fn program(making: Option<&Deployment>, account: Address, question: &[u8]) -> Bytes {
    let empty: &[u8] = &[];
    let made = making.map_or(empty, |making| &making.call);
    // The instructions are as long for one place as for another, so that of the data is known after the first time.
    let length = instructions(making, account, 0, made.len(), question.len()).len();
    let code = instructions(making, account, length, made.len(), question.len());
    [code.as_slice(), made, question].concat().into()
}

/// The instructions; the call of the factory and the question follow them, from `data` on.
fn instructions(
    making: Option<&Deployment>,
    account: Address,
    data: usize,
    made: usize,
    checked: usize,
) -> Vec<u8> {
    // Past all that is copied in, where memory is zero.
    let answer = made.max(checked).next_multiple_of(32);
    let mut code = Code(Vec::new());
    if let Some(making) = making {
        code.copy(data, made);
        // CALL(gas, factory, 0, 0, made, 0, 0); whether it worked is seen when the contract is asked.
        code.push(0).push(0).push(made).push(0).push(0).address(making.factory).op(GAS).op(CALL).op(POP);
    }
    code.copy(data + made, checked);
    // STATICCALL(gas, account, 0, asked, answer, 32)
    code.push(32).push(answer).push(checked).push(0).address(account).op(GAS).op(STATICCALL);
    // Worked, and one word came back, no more and no less: go to where it is returned.
    code.push(32).op(RETURNDATASIZE).op(EQ).op(AND);
    let good = code.0.len() + PUSH_LENGTH + 1 + 2 * PUSH_LENGTH + 1;
    code.push(good).op(JUMPI).push(0).push(0).op(RETURN);
    code.op(JUMPDEST).push(32).push(answer).op(RETURN);
    code.0
}

const EQ: u8 = 0x14;
const AND: u8 = 0x16;
const CODECOPY: u8 = 0x39;
const RETURNDATASIZE: u8 = 0x3d;
const POP: u8 = 0x50;
const JUMPI: u8 = 0x57;
const GAS: u8 = 0x5a;
const JUMPDEST: u8 = 0x5b;
const PUSH4: u8 = 0x63;
const PUSH20: u8 = 0x73;
const CALL: u8 = 0xf1;
const RETURN: u8 = 0xf3;
const STATICCALL: u8 = 0xfa;

/// How long a number is with its instruction.
const PUSH_LENGTH: usize = 5;

/// Instructions of the chain's machine.
struct Code(Vec<u8>);

impl Code {
    fn op(&mut self, op: u8) -> &mut Self {
        self.0.push(op);
        self
    }

    fn push(&mut self, number: usize) -> &mut Self {
        self.0.push(PUSH4);
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
        self
    }

    fn address(&mut self, address: Address) -> &mut Self {
        self.0.push(PUSH20);
        self.0.extend(address);
        self
    }

    /// Copies what follows the instructions to the beginning of memory.
    fn copy(&mut self, from: usize, length: usize) -> &mut Self {
        self.push(length).push(from).push(0).op(CODECOPY)
    }
}
