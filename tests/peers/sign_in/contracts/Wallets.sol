// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.17;

// Accounts that are contracts, good and bad, for the tests of sign-in.

contract Wallet {
    address public owner;

    constructor(address who) {
        owner = who;
    }

    function setOwner(address who) external {
        owner = who;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65 || owner == address(0)) return 0xffffffff;
        uint8 v = uint8(signature[64]);
        address signer = ecrecover(hash, v, bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

contract Factory {
    function make(address owner, bytes32 salt) external returns (address) {
        return address(new Wallet{salt: salt}(owner));
    }

    function place(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }

    function refuse() external pure {
        revert("no");
    }
}

contract Reverting {
    fallback() external {
        revert("no");
    }
}

contract Burning {
    fallback() external {
        uint256 n;
        while (true) n++;
    }
}

// A megabyte that begins as a good answer does.
contract Shouting {
    fallback() external {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 1048576)
        }
    }
}

// Four bytes where a word is asked for.
contract Curt {
    fallback() external {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 4)
        }
    }
}
