//! A bare axum JSON echo: the upper bound that `cargo xtask bench http` compares with.

use axum::{Json, Router, routing::post, serve::ListenerExt};
use clap::Parser;
use serde_json::{Value, json};

#[derive(Parser)]
struct Args {
    /// The address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind(Args::parse().listen).await?;
    eprintln!("{}", json!({ "message": "listening", "addr": listener.local_addr()?.to_string() }));
    #[expect(clippy::disallowed_methods, reason = "a baseline for benchmarks, without a route table")]
    let app = Router::new().route("/mcp", post(async |Json(body): Json<Value>| Json(body)));
    let listener = listener.tap_io(|stream| {
        let _unsupported = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await?;
    Ok(())
}
