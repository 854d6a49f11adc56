//! System paths that a script may read: programs, libraries and the settings that they need to start. No `/proc`,
//! no list of users, no private keys.

/// Folders with programs and libraries. Some may be symlinks to others.
pub(super) const PROGRAMS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec"];

/// Settings that programs need to start, including OpenSSL's, without which node exits at once.
pub(super) const SETTINGS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
];

/// Network settings, for scripts with network access.
pub(super) const NETWORK_SETTINGS: &[&str] =
    &["/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"];

/// Harmless devices.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
