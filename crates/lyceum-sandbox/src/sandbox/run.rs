//! A run from the server's side: starts the supervisor, sends the order, captures the output, receives the report.

use std::{io, pin::pin, time::Duration};

use lyceum_model::RelPath;
use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use super::{Helper, supervisor::Supervisor};
use crate::{
    Error, Level, Output, ScriptOutcome,
    capture::Capture,
    wire::{Message, Order, Report, body_length, frame},
};

/// Extra time for the supervisor to set up and clean up.
const SUPERVISOR_GRACE: Duration = Duration::from_secs(45);

/// How long output is read after the report. The streams are at their end by then, unless an unconfined process
/// escaped.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) async fn run(
    helper: &Helper,
    order: Order,
    files: Vec<(RelPath, Vec<u8>)>,
) -> Result<ScriptOutcome, Error> {
    let level = order.mechanism.level();
    let deadline = order.limits.timeout.saturating_add(order.limits.grace).saturating_add(SUPERVISOR_GRACE);
    let mut stdout = Capture::new(order.limits.output_bytes);
    let mut stderr = Capture::new(order.limits.output_bytes);

    // From here on, dropping the control socket makes the supervisor end the run.
    let (mut control, mut supervisor) = Supervisor::start(helper)?;
    let Some((out, err)) = supervisor.streams() else { return Err(Error::Lost) };
    let report = {
        let mut exchange = pin!(timeout(deadline, exchange(&mut control, order, files)));
        let mut drain = pin!(async { tokio::join!(stdout.drain(out), stderr.drain(err)) });
        tokio::select! {
            report = &mut exchange => {
                let _still_open = timeout(DRAIN_TIMEOUT, &mut drain).await;
                report
            }
            _ = &mut drain => exchange.await,
        }
    };
    supervisor.wait().await;
    let (stdout, stderr) = (stdout.into_output(), stderr.into_output());
    match report {
        Ok(Ok(report)) => finished(report, level, stdout, stderr),
        Ok(Err(error)) => {
            tracing::warn!(%error, stderr = last_line(&stderr), "the sandbox helper returned no report");
            Err(Error::Lost)
        }
        Err(_elapsed) => Err(Error::Lost),
    }
}

async fn exchange(
    control: &mut UnixStream,
    order: Order,
    files: Vec<(RelPath, Vec<u8>)>,
) -> io::Result<Report> {
    let order = frame(&Message::Supervise(Box::new(order)))?;
    if let Err(error) = send(control, &order, files).await {
        // The supervisor may have failed before it read everything: then its report says more than this error.
        return receive(control).await.map_err(|_no_report| error);
    }
    receive(control).await
}

async fn send(control: &mut UnixStream, order: &[u8], files: Vec<(RelPath, Vec<u8>)>) -> io::Result<()> {
    control.write_all(order).await?;
    for (_, bytes) in files {
        control.write_all(&bytes).await?;
    }
    Ok(())
}

async fn receive<T: DeserializeOwned>(control: &mut UnixStream) -> io::Result<T> {
    let mut head = [0; 4];
    control.read_exact(&mut head).await?;
    let mut body = vec![0; body_length(head)?];
    control.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

fn finished(report: Report, level: Level, stdout: Output, stderr: Output) -> Result<ScriptOutcome, Error> {
    match report {
        Report::Finished { exit_code, stopped, duration, memory } => {
            Ok(ScriptOutcome { exit_code, stdout, stderr, duration, stopped, level, memory })
        }
        Report::NoNetwork(reason) => Err(Error::NoNetwork(reason)),
        Report::NotStarted(reason) => Err(Error::NotStarted(reason)),
        // Bubblewrap writes its errors to stderr.
        Report::Refused(reason) => Err(Error::Refused(match last_line(&stderr) {
            "" => reason,
            line => format!("{reason} ({line})"),
        })),
    }
}

/// The last line, truncated for an error message.
fn last_line(stderr: &Output) -> &str {
    let line = stderr.text.lines().last().unwrap_or_default();
    line.char_indices().nth(200).and_then(|(at, _)| line.get(..at)).unwrap_or(line)
}
