//! A minimal server for the tests, which is also its own helper.

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it acts as a server, for tests only")]
mod drive;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args().nth(1).is_some_and(|word| word == "run") {
        return drive::main();
    }
    lyceum_sandbox::helper_main()
}
