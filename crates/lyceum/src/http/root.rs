//! `GET /`: the status page: what is served and how to connect.

use std::sync::Arc;

use axum::{Extension, extract::State};
use lyceum_model::{Caller, Domain};

use crate::app::App;

/// Plain text, readable by people and models.
pub(super) async fn page(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> String {
    let url = app.public_url();
    if app.config.is_closed() && caller.is_anonymous() {
        return format!(
            "lyceum\n\nSign in to use this server: connect an MCP client to {url}/mcp, and it takes you there.\n"
        );
    }
    let registry = app.mcp.hub().registry();
    let visible = registry.services().filter(|name| app.services.shows(name, &caller));
    let services: Vec<&str> = visible.map(Domain::as_str).collect();
    let about: String = app.services.visible_to(&caller).map(|service| service.about(&url)).collect();
    format!(
        "lyceum {version}\n\n\
         MCP endpoint   {url}/mcp\n\
         Services       {services}; each alone at {url}/{{service}}/mcp\n\
         Tools by REST  {url}/tools\n\
         Health         {url}/health\n\n\
         Connect, for example:  claude mcp add --transport http lyceum {url}/mcp\n{about}",
        version = env!("CARGO_PKG_VERSION"),
        services = services.join(", "),
    )
}
