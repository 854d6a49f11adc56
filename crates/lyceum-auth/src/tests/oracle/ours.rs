//! Our server, as the steps of a comparison use it.

use futures::future::join_all;
use lyceum_model::Tier;

use super::{Came, Deed, ONLY_REDIRECT, REDIRECTS, Side};
use crate::{
    ApiKey, Auth, Credentials, Kind, Token, Visitor,
    oauth::{
        OauthError, Params,
        client::ClientMetadata,
        redeem::IssuedTokens,
        request::{AuthorizationError, RedirectedError},
    },
    tests::{Bench, ISSUER},
};

pub(super) struct Ours {
    side: Side<Bench>,
    /// What the person signs in with; they may do everything.
    key: Token,
}

impl Ours {
    pub(super) fn start() -> Self {
        let key = Token::random(Kind::Key).unwrap();
        let person = ApiKey { name: "person".to_owned(), hash: key.hash().0, tier: Tier::Vibecoder };
        let bench = Bench::with(|settings| settings.keys.push(person));
        let register = |redirects: &[&str]| {
            let redirect_uris = redirects.iter().map(|redirect| (*redirect).to_owned()).collect();
            let said = ClientMetadata { redirect_uris, ..ClientMetadata::default() };
            bench.auth.register(&said, bench.now).unwrap().client_id
        };
        let (client, other) = (register(&REDIRECTS), register(&[ONLY_REDIRECT]));
        Self { side: Side::new(bench, [&client, &other]), key }
    }

    pub(super) async fn does(&mut self, deed: &Deed) -> String {
        let (auth, now) = (self.side.server.auth.clone(), self.side.server.now);
        let came = match deed {
            Deed::Authorize(query) => self.authorize(&self.side.fill(query)).await,
            Deed::Token(form) => exchanged(auth, self.side.fill(form), now).await,
            Deed::Together(form, times) => {
                let form = self.side.fill(form);
                let all = (0..*times).map(|_| tokio::spawn(exchanged(auth.clone(), form.clone(), now)));
                let all = join_all(all).await.into_iter().map(Result::unwrap).collect();
                return self.side.all_came(all);
            }
            Deed::Revoke(form) => {
                let params = Params::parse(&self.side.fill(form)).unwrap();
                let revoked = auth.revoke(&params, Credentials::default(), now).await;
                Came::Other(revoked.map_or_else(|error| error.error.to_string(), |()| "done".to_owned()))
            }
            Deed::Open(token, path) => {
                let resource = format!("{ISSUER}{path}");
                let admitted = auth.admit(Some(&self.side.fill(token)), &resource, now).await;
                Came::Other(if admitted.is_ok() { "open" } else { "closed" }.to_owned())
            }
            Deed::Later(seconds) => {
                self.side.server.later(*seconds);
                Came::Other(String::new())
            }
        };
        self.side.came(came)
    }

    async fn authorize(&self, query: &str) -> Came {
        let Bench { auth, now, .. } = &self.side.server;
        let params = Params::parse(query).unwrap();
        let begun = match auth.start_authorization(&params, Visitor::default(), *now).await {
            Ok(begun) => begun,
            Err(AuthorizationError::Shown(error)) => return Came::Other(format!("shown {}", error.error)),
            Err(AuthorizationError::Sent(RedirectedError { error, .. })) => {
                return Came::Other(format!("sent {}", error.error));
            }
        };
        let browser = Some(begun.browser.as_str());
        let sent = auth.sign_in_with_key(&begun.state, browser, self.key.reveal(), *now).await.unwrap();
        let params = Params::parse(sent.split_once('?').unwrap().1).unwrap();
        Came::Code(params.need("code").unwrap().to_owned())
    }
}

async fn exchanged(auth: Auth, form: String, now: jiff::Timestamp) -> Came {
    let params = Params::parse(&form).unwrap();
    let answer: Result<IssuedTokens, OauthError> = auth.exchange(&params, Credentials::default(), now).await;
    match answer {
        Ok(issued) => Came::Tokens {
            access: issued.access.reveal().to_owned(),
            refresh: issued.refresh.reveal().to_owned(),
            scope: issued.scopes.to_string(),
        },
        Err(error) => Came::Other(error.error.to_string()),
    }
}
