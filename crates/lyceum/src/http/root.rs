//! `GET /`: what this is and how to connect, for whoever opens it.

use axum::extract::State;

use crate::app::App;

/// Plain text until the web pages move in; a person and a model can both read it.
pub(super) async fn page(State(app): State<App>) -> String {
    let url = app.public_url();
    let registry = app.mcp.hub().registry();
    let services: Vec<&str> = registry.services().map(lyceum_model::Domain::as_str).collect();
    format!(
        "lyceum {version}\n\n\
         MCP endpoint   {url}/mcp\n\
         Services       {services}; each alone at {url}/{{service}}/mcp\n\
         Tools by REST  {url}/tools\n\
         Health         {url}/health\n\n\
         Connect, for example:  claude mcp add --transport http lyceum {url}/mcp\n",
        version = env!("CARGO_PKG_VERSION"),
        services = services.join(", "),
    )
}
