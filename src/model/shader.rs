//! An algorithm's text for GPUs, and whether it is run without checks.

/// The edge function and the vertex phase in WGSL, for GPUs. shaders/README.md says which functions it has.
///
/// Kernels of a third party's text have every index of an array checked, and every loop bounded: a wrong text gives wrong values, and
/// reads and writes nothing but its own buffers. Who has proved that it needs no checks may [leave them out](Self::unchecked).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The file's name, for messages.
    pub file: &'static str,
    /// The text.
    pub text: &'static str,
    /// Options of the algorithm, which the text sees as `const NAME: bool`.
    pub switches: Vec<(&'static str, bool)>,
    checked: bool,
}

impl Shader {
    /// A text, and the file that messages name.
    pub fn new(file: &'static str, text: &'static str) -> Self {
        Self { file, text, switches: Vec::new(), checked: true }
    }

    /// The same with options of the algorithm.
    #[must_use]
    pub fn with_switches(self, switches: Vec<(&'static str, bool)>) -> Self {
        Self { switches, ..self }
    }

    /// The same without checks, where the device's interface is Vulkan.
    ///
    /// # Safety
    /// Whatever graph and parameters the algorithm is run with, no hook gives an accessor of an attribute or a table a vertex or place
    /// that it does not have, no index of an array is beyond its end, and every loop ends.
    #[must_use]
    #[allow(unsafe_code)]
    pub unsafe fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// One of this program's own. Their hooks pass on vertices of lists that have been checked, and table places that the host has
    /// laid out for these vertices.
    pub(crate) fn of_program(file: &'static str, text: &'static str, switches: Vec<(&'static str, bool)>) -> Self {
        Self { file, text, switches, checked: false }
    }

    /// Whether kernels of it have checks.
    pub fn is_checked(&self) -> bool {
        self.checked
    }
}
