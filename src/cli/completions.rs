//! `topostream completions` and `topostream man`: what shells and `man` read, made from the program's own arguments.

use super::failure::{Failure, Outcome};
use super::printing::print;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::{Path, PathBuf};
use topostream_formats::durable::TemporaryFolder;

/// Print a completion script for a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  topostream completions bash > ~/.local/share/bash-completion/completions/topostream
  topostream completions zsh > ~/.zfunc/_topostream
  topostream completions fish > ~/.config/fish/completions/topostream.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self, mut program: Command) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "topostream", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Write the manual: a page for the program and one for each command.
#[derive(Args)]
#[command(after_help = "\
Examples:
  topostream man ~/.local/share/man/man1
  topostream man --stdout | man -l -")]
pub struct Man {
    /// The folder to write the pages to, made where it is missing
    #[arg(required_unless_present = "stdout", conflicts_with = "stdout")]
    folder: Option<PathBuf>,
    /// Print the program's own page instead
    #[arg(long)]
    stdout: bool,
}

impl Man {
    pub fn run(self, program: Command) -> Outcome {
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(program).render(&mut page);
            rendered.map_err(|error| Failure::Other(format!("man page: {error}")))?;
            return print(&String::from_utf8_lossy(&page));
        };
        let is_new = !folder.exists();
        let pages = write(program, &folder);
        if pages.is_err() && is_new {
            // Without its contents, which are not of this program.
            std::fs::remove_dir(&folder).ok();
        }
        pages.map_err(|error| Failure::Other(format!("{}: write man pages: {error}", folder.display())))
    }
}

/// Writes all pages to a folder inside, and then moves them: a disk that is full leaves none.
fn write(program: Command, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let unfinished = TemporaryFolder::create(folder, "man")?;
    clap_mangen::generate_to(program, unfinished.path())?;
    for page in std::fs::read_dir(unfinished.path())? {
        let page = page?;
        if page.path().extension().is_some_and(|extension| extension == "1") {
            std::fs::rename(page.path(), folder.join(page.file_name()))?;
        }
    }
    Ok(())
}
