//! Bare axum that sends fixed JSON from memory, at any path: the upper bound that `cargo xtask bench sync` compares
//! with.

use std::path::PathBuf;

use axum::{Router, body::Bytes, http::header::CONTENT_TYPE, serve::ListenerExt};
use clap::Parser;
use serde_json::json;

#[derive(Parser)]
struct Args {
    /// The address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// The file to send as the body of every response.
    #[arg(long)]
    body: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let body = Bytes::from(std::fs::read(args.body)?);
    let listener = tokio::net::TcpListener::bind(args.listen).await?;
    eprintln!("{}", json!({ "message": "listening", "addr": listener.local_addr()?.to_string() }));
    let app = Router::new().fallback(async move || ([(CONTENT_TYPE, "application/json")], body));
    let listener = listener.tap_io(|stream| {
        let _unsupported = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await?;
    Ok(())
}
