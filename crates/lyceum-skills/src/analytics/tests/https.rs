//! TLS, with a private CA.

use std::{fs, net::TcpStream, path::Path, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

use super::{
    child::{ChildSpec, Process},
    eventually, no_match, pending_events, publishing,
    receiver::Receiver,
    schedule, tracker,
};
use crate::analytics::Endpoint;

/// A receiver behind TLS, and the certificate of its CA.
fn secure(folder: &Path) -> (Receiver, std::path::PathBuf) {
    let mut issuer = CertificateParams::new(Vec::new()).unwrap();
    issuer.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(issuer, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let transport = move |stream: TcpStream| {
        ServerConnection::new(config.clone()).ok().map(|tls| StreamOwned::new(tls, stream))
    };
    let path = folder.join("trusted.pem");
    fs::write(&path, issuer.pem()).unwrap();
    (Receiver::start_over([], transport), path)
}

fn url(receiver: &Receiver) -> String {
    format!("https://localhost:{}/events", receiver.port())
}

#[test]
fn events_go_over_tls_to_an_endpoint_that_the_system_trusts() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, trusted) = secure(folder.path());
    let spec = ChildSpec::new(folder.path(), "secure").publishing(&url(&receiver), 5);
    let mut process = Process::start_with(&spec, &[("SSL_CERT_FILE", &trusted)]);
    process.request(10);
    process.wait_for(10);
    eventually("all arrive", || receiver.stored() == 10 && pending_events(folder.path()) == 0);
    process.end();
    receiver.check_once(spec.contexts(10));
}

#[tokio::test]
async fn an_endpoint_that_nobody_vouches_for_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, _) = secure(folder.path());
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    let endpoint = Endpoint::parse(&url(&receiver)).unwrap();
    // Shutdown runs a round too.
    publishing(&tracker, endpoint, schedule(1000), async {}).await;
    assert_eq!((receiver.requests().len(), pending_events(folder.path())), (0, 1));
}
