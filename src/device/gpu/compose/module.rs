//! A composed module.

use super::Binding;

/// A module: one entry point `main`, of workgroups of [`super::layout::WORKGROUP`] threads.
#[derive(Clone, Debug)]
pub struct Module {
    /// The names of the algorithm and the kernel, for error messages.
    pub label: String,
    /// The WGSL.
    pub text: String,
    /// Its bindings, by group and number.
    pub bindings: Vec<Binding>,
    pub(super) float_atomics: bool,
    pub(super) wide_integers: bool,
    pub(super) subgroups: bool,
    pub(super) origins: Vec<Origin>,
    pub(super) sharded: bool,
    /// Why the kernel cannot run the algorithm, and the algorithm's file.
    pub(super) refused: Option<(String, &'static str)>,
}

/// The origin of the lines of a module from `first_line` on: `file`, from `line` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) first_line: u32,
    pub(super) file: &'static str,
    pub(super) line: u32,
}

impl Module {
    /// The file and line that a line of the module comes from.
    pub fn origin(&self, line: u32) -> (&'static str, u32) {
        let at = self.origins.partition_point(|origin| origin.first_line <= line);
        let Origin { first_line, file, line: begin } = self.origins[at.saturating_sub(1)];
        (file, begin + line.saturating_sub(first_line))
    }
}
