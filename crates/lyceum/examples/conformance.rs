//! The fixtures of the MCP conformance suite behind the real router and middleware, so that our transport is tested.
//! Also the server of `cargo xtask bench http`.

use std::path::PathBuf;

use clap::Parser;
use lyceum::{
    App,
    config::{Config, LogSettings, Overrides, Purpose},
};

#[derive(Parser)]
struct Args {
    /// The address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// The data folder.
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let config = Config::load(
        &Overrides { listen: Some(args.listen), data_dir: args.data_dir, ..Overrides::default() },
        Purpose::Serve,
    )?;
    let _logging = lyceum::init_telemetry(&LogSettings::default())?;
    let listening = lyceum::listen(&config).await?;
    let hub = lyceum_testkit::fixture_hub()?;
    let app = App::with_hub(config, listening.addr, hub);
    lyceum::until_stopped(app, listening).await
}
