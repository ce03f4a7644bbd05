//! An algorithm's WGSL, its constants, and whether it runs without bounds checks.

use std::fmt;

/// The edge function and the vertex phase in WGSL, for GPUs. shaders/README.md lists its functions.
///
/// In kernels with third-party text every array index is checked and every loop is bounded, so a mistake in the text
/// gives wrong values but never touches memory outside its own buffers. If the text is known to be safe without
/// checks, [turn them off](Self::unchecked).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The file's name, for error messages.
    #[doc(hidden)]
    pub file: &'static str,
    /// The text.
    #[doc(hidden)]
    pub text: &'static str,
    /// Options of the algorithm, which the text sees as `const NAME: bool`.
    #[doc(hidden)]
    pub switches: Vec<(&'static str, bool)>,
    /// Numbers shared with the algorithm's Rust code, which the text sees as `const NAME: u32` or `const NAME: f32`.
    #[doc(hidden)]
    pub constants: Vec<(&'static str, Constant)>,
    checked: bool,
}

/// A number that Rust and WGSL share.
#[derive(Clone, Copy, Debug)]
pub enum Constant {
    /// An integer.
    U32(u32),
    /// A finite float: WGSL has no others.
    F32(f32),
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::U32(one), Self::U32(other)) => one == other,
            (Self::F32(one), Self::F32(other)) => one.to_bits() == other.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Constant {}

impl From<u32> for Constant {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<f32> for Constant {
    fn from(value: f32) -> Self {
        Self::F32(value)
    }
}

impl fmt::Display for Constant {
    /// Formats it as a WGSL literal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(value) => write!(f, "{value}u"),
            Self::F32(value) => write!(f, "{value:e}f"),
        }
    }
}

impl Shader {
    /// Creates a shader from a text, and the file name for error messages.
    pub fn new(file: &'static str, text: &'static str) -> Self {
        Self { file, text, switches: Vec::new(), constants: Vec::new(), checked: true }
    }

    /// Adds options of the algorithm.
    #[must_use]
    pub fn with_switches(self, switches: Vec<(&'static str, bool)>) -> Self {
        Self { switches, ..self }
    }

    /// Adds constants of the algorithm.
    #[must_use]
    pub fn with_constants(mut self, constants: impl IntoIterator<Item = (&'static str, Constant)>) -> Self {
        self.constants.extend(constants);
        self
    }

    /// Adds the kinds of superstep of an algorithm as constants, numbered in their order from 0.
    #[must_use]
    pub fn with_modes(self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.with_constants(names.into_iter().zip((0..).map(Constant::U32)))
    }

    /// Disables the checks if the device's interface is Vulkan.
    ///
    /// # Safety
    /// Whatever graph and parameters the algorithm is run with, no hook gives an accessor of an attribute or a table a
    /// vertex or place that it does not have, no index of an array is beyond its end, and every loop ends.
    #[must_use]
    #[allow(unsafe_code)]
    pub unsafe fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// Creates a shader of this program. Its hooks pass on vertices of lists that have been checked, and table indices
    /// that the host has computed for these vertices.
    pub(crate) fn of_program(file: &'static str, text: &'static str, switches: Vec<(&'static str, bool)>) -> Self {
        Self { switches, checked: false, ..Self::new(file, text) }
    }

    /// Whether its kernels have checks.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_checked(&self) -> bool {
        self.checked
    }
}
