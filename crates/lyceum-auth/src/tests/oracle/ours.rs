//! Our server as a side of the comparison.

use futures::future::join_all;
use lyceum_model::Tier;

use super::{Action, ONLY_REDIRECT, REDIRECTS, Reply, Side};
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
    /// Key of the user, who has all scopes.
    key: Token,
}

impl Ours {
    pub(super) fn start() -> Self {
        let key = Token::random(Kind::Key).unwrap();
        let person = ApiKey { name: "person".to_owned(), hash: key.hash().0, tier: Tier::Vibecoder };
        let bench = Bench::with(|settings| settings.keys.push(person));
        let register = |redirects: &[&str]| {
            let redirect_uris = redirects.iter().map(|redirect| (*redirect).to_owned()).collect();
            let metadata = ClientMetadata { redirect_uris, ..ClientMetadata::default() };
            bench.auth.register(&metadata, bench.now).unwrap().client_id
        };
        let (client, other) = (register(&REDIRECTS), register(&[ONLY_REDIRECT]));
        Self { side: Side::new(bench, [&client, &other]), key }
    }

    pub(super) async fn perform(&mut self, action: &Action) -> String {
        let (auth, now) = (self.side.server.auth.clone(), self.side.server.now);
        let reply = match action {
            Action::Authorize(query) => self.authorize(&self.side.fill(query)).await,
            Action::Token(form) => exchange(auth, self.side.fill(form), now).await,
            Action::Together(form, times) => {
                let form = self.side.fill(form);
                let all = (0..*times).map(|_| tokio::spawn(exchange(auth.clone(), form.clone(), now)));
                let all = join_all(all).await.into_iter().map(Result::unwrap).collect();
                return self.side.record_all(all);
            }
            Action::Revoke(form) => {
                let params = Params::parse(&self.side.fill(form)).unwrap();
                let revoked = auth.revoke(&params, Credentials::default(), now).await;
                Reply::Other(revoked.map_or_else(|error| error.error.to_string(), |()| "done".to_owned()))
            }
            Action::Open(token, path) => {
                let resource = format!("{ISSUER}{path}");
                let admitted = auth.admit(Some(&self.side.fill(token)), &resource, now).await;
                Reply::Other(if admitted.is_ok() { "open" } else { "closed" }.to_owned())
            }
            Action::Later(seconds) => {
                self.side.server.later(*seconds);
                Reply::Other(String::new())
            }
        };
        self.side.record(reply)
    }

    async fn authorize(&self, query: &str) -> Reply {
        let Bench { auth, now, .. } = &self.side.server;
        let params = Params::parse(query).unwrap();
        let started = match auth.start_authorization(&params, Visitor::default(), *now).await {
            Ok(started) => started,
            Err(AuthorizationError::Shown(error)) => return Reply::Other(format!("shown {}", error.error)),
            Err(AuthorizationError::Sent(RedirectedError { error, .. })) => {
                return Reply::Other(format!("sent {}", error.error));
            }
        };
        let browser = Some(started.browser.as_str());
        let sent = auth.sign_in_with_key(&started.state, browser, self.key.reveal(), *now).await.unwrap();
        let params = Params::parse(sent.split_once('?').unwrap().1).unwrap();
        Reply::Code(params.need("code").unwrap().to_owned())
    }
}

async fn exchange(auth: Auth, form: String, now: jiff::Timestamp) -> Reply {
    let params = Params::parse(&form).unwrap();
    let answer: Result<IssuedTokens, OauthError> = auth.exchange(&params, Credentials::default(), now).await;
    match answer {
        Ok(issued) => Reply::Tokens {
            access: issued.access.reveal().to_owned(),
            refresh: issued.refresh.reveal().to_owned(),
            scope: issued.scopes.to_string(),
        },
        Err(error) => Reply::Other(error.error.to_string()),
    }
}
