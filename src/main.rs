//! The command-line program.

fn main() -> std::process::ExitCode {
    topostream::cli::main()
}
