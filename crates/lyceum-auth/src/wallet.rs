//! Verifies the signature of a message: by key (EOA) or, for contract wallets, by EIP-1271.
//!
//! A contract is called through a few EVM instructions of our own, run in a single `eth_call`. They deploy the
//! contract first if needed (ERC-6492), call `isValidSignature` (EIP-1271), and return one word whatever it
//! returns. So no contract can cause a large response, and its failures don't look like failures of the chain.

use alloy_primitives::{Address, B256, Bytes, Signature, b256, eip191_hash_message};
use alloy_sol_types::{SolCall, SolType, sol, sol_data};

use crate::chain::{Block, Chain, ChainError};

/// Maximum length of a signature.
const MAX_SIGNATURE_BYTES: usize = 16 * 1024;

/// Suffix of signatures of undeployed contracts (ERC-6492).
const ERC6492_SUFFIX: B256 = b256!("6492649264926492649264926492649264926492649264926492649264926492");

/// Return value for a valid signature (EIP-1271).
const EIP1271_MAGIC: [u8; 4] = [0x16, 0x26, 0xba, 0x7e];

sol! {
    function isValidSignature(bytes32 hash, bytes signature) returns (bytes4);
}

/// How to deploy a contract: factory and call data.
struct Deployment {
    factory: Address,
    call: Bytes,
}

/// Kind of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    /// By the account's key: valid on every chain.
    Key,
    /// By a contract, on the chain that was called.
    Contract,
}

/// Verifies a signature; `None` if it is invalid. An error is one of the chain, and says nothing about the
/// signature.
pub(crate) async fn verify(
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
    let Some((deployment, signature)) = unwrap_erc6492(signature) else { return Ok(None) };
    let call_data = isValidSignatureCall { hash, signature }.abi_encode();
    let result = chain.run(program(deployment.as_ref(), account, &call_data), Block::Safe).await;
    match result {
        Ok(word) => {
            let is_valid = word.len() == 32
                && word.starts_with(&EIP1271_MAGIC)
                && word.iter().skip(4).all(|byte| *byte == 0);
            Ok(is_valid.then_some(SignatureKind::Contract))
        }
        Err(ChainError::Reverted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Recovers the signer of a 65-byte signature. Signatures are malleable, so only the one with the lower s is
/// accepted.
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

/// Splits an ERC-6492 signature into deployment and inner signature; others have no deployment. `None` if
/// malformed.
fn unwrap_erc6492(signature: &[u8]) -> Option<(Option<Deployment>, Bytes)> {
    let Some(wrapped) = signature.strip_suffix(ERC6492_SUFFIX.as_slice()) else {
        return Some((None, Bytes::copy_from_slice(signature)));
    };
    type Erc6492Parameters = (sol_data::Address, sol_data::Bytes, sol_data::Bytes);
    let (factory, call, signature) = Erc6492Parameters::abi_decode_params(wrapped).ok()?;
    Some((Some(Deployment { factory, call }), signature))
}

/// EVM code that deploys the contract if needed, calls it, and returns its result if that is exactly one word.
fn program(deployment: Option<&Deployment>, account: Address, call_data: &[u8]) -> Bytes {
    let empty: &[u8] = &[];
    let deploy_data = deployment.map_or(empty, |deployment| &deployment.call);
    // The length doesn't depend on the offset of the data, which is known after the first pass.
    let length = instructions(deployment, account, 0, deploy_data.len(), call_data.len()).len();
    let code = instructions(deployment, account, length, deploy_data.len(), call_data.len());
    [code.as_slice(), deploy_data, call_data].concat().into()
}

/// The instructions. The call data of the factory and of the contract follow them, at offset `data`.
fn instructions(
    deployment: Option<&Deployment>,
    account: Address,
    data: usize,
    deploy_length: usize,
    call_length: usize,
) -> Vec<u8> {
    // Beyond the copied data, where memory is zero.
    let result = deploy_length.max(call_length).next_multiple_of(32);
    let mut code = Code(Vec::new());
    if let Some(deployment) = deployment {
        code.copy(data, deploy_length);
        // CALL(gas, factory, 0, 0, deploy_length, 0, 0); a failure shows when the contract is called.
        code.push(0)
            .push(0)
            .push(deploy_length)
            .push(0)
            .push(0)
            .address(deployment.factory)
            .op(GAS)
            .op(CALL)
            .op(POP);
    }
    code.copy(data + deploy_length, call_length);
    // STATICCALL(gas, account, 0, call_length, result, 32)
    code.push(32).push(result).push(call_length).push(0).address(account).op(GAS).op(STATICCALL);
    // If it succeeded and returned exactly one word, jump to where it is returned.
    code.push(32).op(RETURNDATASIZE).op(EQ).op(AND);
    let success = code.0.len() + PUSH_LENGTH + 1 + 2 * PUSH_LENGTH + 1;
    code.push(success).op(JUMPI).push(0).push(0).op(RETURN);
    code.op(JUMPDEST).push(32).push(result).op(RETURN);
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

/// Length of a PUSH instruction with its operand.
const PUSH_LENGTH: usize = 5;

/// EVM bytecode builder.
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

    /// Copies data after the instructions to the start of memory.
    fn copy(&mut self, from: usize, length: usize) -> &mut Self {
        self.push(length).push(from).push(0).op(CODECOPY)
    }
}
