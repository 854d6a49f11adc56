//! A Postgres server for tests: started by the first test that needs one, shared by all tests of a run, each in a schema
//! of its own, and stopped once no test has used it for a while.
//!
//! Test runners start a process per test, so the server belongs to none of them. Each process that uses it holds a shared
//! lock on a file; a small script stops the server when it has got that lock for itself for some time.

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process::command_line;

/// The database user, who needs no password.
const USER: &str = "lyceum";

/// Maximum number of attempts to start the server: another program may take the port first.
const MAX_STARTS: usize = 5;

/// Stops the server after twenty seconds without users, and deletes its folder.
const STOP_WHEN_UNUSED: &str = r#"
unused=0
while sleep 2; do
  if flock --nonblock --exclusive "$1" true; then unused=$((unused + 1)); else unused=0; fi
  [ $unused -ge 10 ] || continue
  exec 9> "$1"
  if flock --nonblock --exclusive 9; then
    shift
    folder=$1
    shift
    "$@"
    rm -rf "$folder"
    exit
  fi
  exec 9>&-
  unused=0
done
"#;

/// The server, in use until this is dropped.
#[derive(Debug)]
pub struct Postgres {
    port: u16,
    folder: PathBuf,
    owner: Option<Owner>,
    _in_use: File,
}

/// The user that the server runs as: it refuses to run as root.
#[derive(Debug, Clone)]
struct Owner {
    name: &'static str,
    uid: u32,
    gid: u32,
}

impl Postgres {
    /// The server, started if it isn't running.
    pub fn start() -> Result<Self> {
        let programs = programs()
            .context("Postgres is not installed; install it, for example: sudo apt-get install postgresql")?;
        let owner = owner()?;
        let folder = std::env::temp_dir().join(format!("lyceum-postgres-{:08x}", checkout()));
        let lock = |name: &str| {
            let path = folder.with_extension(name);
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            file.with_context(|| format!("could not open {}", path.display()))
        };
        let (starting, in_use) = (lock("starting")?, lock("users")?);
        starting.lock()?;
        in_use.lock_shared()?;
        let known = fs::read_to_string(folder.join("port")).ok().and_then(|port| port.trim().parse().ok());
        let port = match known.filter(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
            Some(port) => port,
            None => start(&programs, owner.as_ref(), &folder)?,
        };
        Ok(Self { port, folder, owner, _in_use: in_use })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// An address without TLS, whose tables are in this schema.
    pub fn url(&self, schema: &str) -> String {
        format!(
            "postgres://{USER}@127.0.0.1:{}/postgres?sslmode=disable&options=-csearch_path%3D{schema}",
            self.port
        )
    }

    /// The address of an empty schema.
    pub fn empty_schema(&self, schema: &str) -> Result<String> {
        let programs = programs().context("Postgres is not installed")?;
        let sql = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
        let port = self.port.to_string();
        let words =
            ["--host=127.0.0.1", "--port", &port, "--username", USER, "--dbname=postgres", "--command", &sql];
        run(&mut program(&programs, None, "psql", &words))?;
        Ok(self.url(schema))
    }

    /// Writes a file that only the server may read into its data folder.
    pub fn write_private(&self, name: &str, text: &str) -> Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let file = self.folder.join("data").join(name);
        fs::write(&file, text)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
        if let Some(owner) = &self.owner {
            std::os::unix::fs::chown(&file, Some(owner.uid), Some(owner.gid))?;
        }
        Ok(file)
    }
}

/// Creates a cluster, starts it, and has it stopped when it is unused; returns its port.
fn start(programs: &Path, owner: Option<&Owner>, folder: &Path) -> Result<u16> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir(folder)?;
    if let Some(owner) = owner {
        std::os::unix::fs::chown(folder, Some(owner.uid), Some(owner.gid))?;
    }
    let (data, log) = (folder.join("data"), folder.join("log"));
    let (data, log) = (text(&data)?, text(&log)?);
    let init = ["--pgdata", data, "--auth=trust", "--username", USER, "--encoding=UTF8", "--no-sync"];
    run(&mut program(programs, owner, "initdb", &init))?;
    let port = (0..MAX_STARTS).find_map(|_| {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off -c max_connections=300"
        );
        let start = ["start", "--wait", "--pgdata", data, "--log", log, "--options", &options];
        run(&mut program(programs, owner, "pg_ctl", &start)).ok().map(|()| port)
    });
    let said = || format!("Postgres did not start: {}", fs::read_to_string(log).unwrap_or_default());
    let port = port.with_context(said)?;
    fs::write(folder.join("port"), port.to_string())?;
    let stop = program(programs, owner, "pg_ctl", &["stop", "--mode=immediate", "--pgdata", data]);
    let mut watch = Command::new("setsid");
    watch.args(["sh", "-c", STOP_WHEN_UNUSED, "sh"]).arg(folder.with_extension("users")).arg(folder);
    watch.arg(stop.get_program()).args(stop.get_args());
    watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    watch.spawn().context("could not start the script that stops Postgres")?;
    Ok(port)
}

fn run(command: &mut Command) -> Result<()> {
    // The server must neither keep our own open nor end with a child of ours.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        bail!("`{}` ended with {status}", command_line(command));
    }
    Ok(())
}

/// A program of Postgres, run by the server's user.
fn program(programs: &Path, owner: Option<&Owner>, name: &str, words: &[&str]) -> Command {
    let path = programs.join(name);
    let mut command = match owner {
        None => Command::new(path),
        Some(owner) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", owner.name, "--regid", &owner.gid.to_string(), "--clear-groups"]);
            command.arg(path);
            command
        }
    };
    command.args(words).current_dir("/");
    command
}

/// The folder of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder)| folder.join("initdb").is_file())
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(|folder| folder.join("initdb").is_file());
    versions.pop().map(|(_, folder)| folder).or(on_path)
}

/// The user to run the server as; `None` for the current one, unless that is root.
fn owner() -> Result<Option<Owner>> {
    use std::os::unix::fs::MetadataExt;
    let is_root = fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0);
    if !is_root {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let find = |name: &'static str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).map(|id| id.parse().ok());
        Some(Owner { name, uid: ids.next()??, gid: ids.next()?? })
    };
    match find("postgres").or_else(|| find("nobody")) {
        Some(owner) => Ok(Some(owner)),
        None => bail!("Postgres can't run as root, and there is neither a user postgres nor nobody"),
    }
}

/// Tells working copies apart.
fn checkout() -> u32 {
    let bytes = env!("CARGO_MANIFEST_DIR").bytes();
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the temporary folder is not UTF-8")
}
