// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.17;

// Stands in for the Universal Resolver of ENS, which no package carries: the same calls and refusals, over the real registry
// and the real resolvers.

interface Registry {
    function resolver(bytes32 node) external view returns (address);
}

interface Resolver {
    function name(bytes32 node) external view returns (string memory);
    function addr(bytes32 node) external view returns (address);
}

contract UniversalResolver {
    Registry constant REGISTRY = Registry(0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e);
    bytes32 constant REVERSE = 0x91d1777781884d03a6757a803996e38de2a42967fb37eeaca72729271025a9e2;

    error ReverseAddressMismatch(string primary, bytes primaryAddress);
    error ResolverNotFound(bytes name);
    error ResolverError(bytes errorData);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    function reverse(bytes calldata account, uint256) external view returns (string memory, address, address) {
        bytes32 node = keccak256(abi.encodePacked(REVERSE, keccak256(hexadecimal(account))));
        address reverseResolver = REGISTRY.resolver(node);
        if (reverseResolver == address(0)) revert ResolverNotFound(account);
        string memory primary = Resolver(reverseResolver).name(node);
        if (bytes(primary).length == 0) revert ResolverNotFound(account);
        bytes32 forward = hashOf(bytes(primary));
        address resolver = REGISTRY.resolver(forward);
        if (resolver == address(0)) revert ResolverNotFound(bytes(primary));
        address found = Resolver(resolver).addr(forward);
        if (keccak256(abi.encodePacked(found)) != keccak256(account)) {
            revert ReverseAddressMismatch(primary, abi.encodePacked(found));
        }
        return (primary, resolver, reverseResolver);
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory, address) {
        address resolver = REGISTRY.resolver(hashOfEncoded(name, 0));
        if (resolver == address(0)) revert ResolverNotFound(name);
        (bool good, bytes memory answer) = resolver.staticcall(data);
        if (good) return (answer, resolver);
        if (bytes4(answer) == OffchainLookup.selector) sendOn(resolver, answer);
        revert ResolverError(answer);
    }

    // What was found outside the chain comes back here, and goes on to the resolver that asked for it.
    function resolveCallback(bytes calldata response, bytes calldata extra) external view returns (bytes memory, address) {
        (address resolver, bytes4 callback, bytes memory inner) = abi.decode(extra, (address, bytes4, bytes));
        (bool good, bytes memory answer) = resolver.staticcall(abi.encodeWithSelector(callback, response, inner));
        if (!good) revert ResolverError(answer);
        return (abi.decode(answer, (bytes)), resolver);
    }

    function sendOn(address resolver, bytes memory answer) internal view {
        bytes memory said = new bytes(answer.length - 4);
        for (uint256 i = 0; i < said.length; i++) said[i] = answer[i + 4];
        (, string[] memory urls, bytes memory callData, bytes4 callback, bytes memory extra) =
            abi.decode(said, (address, string[], bytes, bytes4, bytes));
        revert OffchainLookup(
            address(this), urls, callData, this.resolveCallback.selector, abi.encode(resolver, callback, extra)
        );
    }

    function hexadecimal(bytes calldata account) internal pure returns (bytes memory text) {
        bytes16 digits = "0123456789abcdef";
        text = new bytes(account.length * 2);
        for (uint256 i = 0; i < account.length; i++) {
            text[2 * i] = digits[uint8(account[i]) >> 4];
            text[2 * i + 1] = digits[uint8(account[i]) & 15];
        }
    }

    function hashOfEncoded(bytes calldata name, uint256 at) internal pure returns (bytes32) {
        uint256 length = uint8(name[at]);
        if (length == 0) return 0;
        bytes32 label = keccak256(name[at + 1:at + 1 + length]);
        return keccak256(abi.encodePacked(hashOfEncoded(name, at + 1 + length), label));
    }

    function hashOf(bytes memory name) internal pure returns (bytes32 node) {
        uint256 end = name.length;
        while (end > 0) {
            uint256 start = end;
            while (start > 0 && name[start - 1] != ".") start--;
            bytes memory label = new bytes(end - start);
            for (uint256 i = start; i < end; i++) label[i - start] = name[i];
            node = keccak256(abi.encodePacked(node, keccak256(label)));
            end = start == 0 ? 0 : start - 1;
        }
    }
}

// A resolver whose texts lie outside the chain.
contract Outside {
    mapping(bytes32 => address) public addr;
    string[] private urls;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    function set(bytes32 node, address who, string[] memory places) external {
        addr[node] = who;
        urls = places;
    }

    function text(bytes32, string calldata) external view returns (string memory) {
        revert OffchainLookup(address(this), urls, msg.data, this.found.selector, "");
    }

    function found(bytes calldata response, bytes calldata) external pure returns (bytes memory) {
        return response;
    }
}
