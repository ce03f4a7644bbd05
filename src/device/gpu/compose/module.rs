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
    /// The text as compilers other than naga take it, or `None` for what is not in the WGSL of browsers: atomics on
    /// floats and 64-bit numbers.
    ///
    /// The standard wants subgroup operations to be enabled, by a line that naga 30 refuses. It also wants them where
    /// it can prove that all threads arrive; here they depend on numbers of lanes that are the same for a workgroup,
    /// but are read from buffers.
    pub fn standard(&self) -> Option<String> {
        let is_foreign = self.text.contains("atomic<f32>") || self.has_type("u64");
        let first = if self.subgroups { "enable subgroups; diagnostic(off, subgroup_uniformity);\n" } else { "" };
        (!is_foreign).then(|| format!("{first}{}", self.text))
    }

    /// Whether the text has a type's name, outside of comments and longer words.
    fn has_type(&self, name: &str) -> bool {
        let code = self.text.lines().filter_map(|line| line.split("//").next());
        let words = code.flat_map(|line| line.split(|char: char| !char.is_alphanumeric() && char != '_'));
        words.into_iter().any(|word| word == name)
    }

    /// The file and line that a line of the module comes from.
    pub fn origin(&self, line: u32) -> (&'static str, u32) {
        let at = self.origins.partition_point(|origin| origin.first_line <= line);
        let Origin { first_line, file, line: begin } = self.origins[at.saturating_sub(1)];
        (file, begin + line.saturating_sub(first_line))
    }
}
