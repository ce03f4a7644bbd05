//! An algorithm's text for GPUs, the constants that it is given, and whether it is run without checks.

use std::fmt;

/// The edge function and the vertex phase in WGSL, for GPUs. shaders/README.md says which functions it has.
///
/// Kernels of a third party's text have every index of an array checked, and every loop bounded: a wrong text gives
/// wrong values, and reads and writes nothing but its own buffers. Who has proved that it needs no checks may [leave
/// them out](Self::unchecked).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The file's name, for messages.
    pub file: &'static str,
    /// The text.
    pub text: &'static str,
    /// Options of the algorithm, which the text sees as `const NAME: bool`.
    pub switches: Vec<(&'static str, bool)>,
    /// Numbers that the algorithm's Rust knows too, which the text sees as `const NAME: u32` or `const NAME: f32`.
    pub constants: Vec<(&'static str, Constant)>,
    checked: bool,
}

/// A number that Rust and WGSL share.
#[derive(Clone, Copy, Debug)]
pub enum Constant {
    /// A whole number.
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
    /// As a literal of WGSL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(value) => write!(f, "{value}u"),
            Self::F32(value) => write!(f, "{value:e}f"),
        }
    }
}

impl Shader {
    /// A text, and the file that messages name.
    pub fn new(file: &'static str, text: &'static str) -> Self {
        Self { file, text, switches: Vec::new(), constants: Vec::new(), checked: true }
    }

    /// The same with options of the algorithm.
    #[must_use]
    pub fn with_switches(self, switches: Vec<(&'static str, bool)>) -> Self {
        Self { switches, ..self }
    }

    /// The same with numbers of the algorithm.
    #[must_use]
    pub fn with_constants(mut self, constants: impl IntoIterator<Item = (&'static str, Constant)>) -> Self {
        self.constants.extend(constants);
        self
    }

    /// The same with the kinds of superstep of an algorithm, numbered in their order from 0.
    #[must_use]
    pub fn with_modes(self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.with_constants(names.into_iter().zip((0..).map(Constant::U32)))
    }

    /// The same without checks, where the device's interface is Vulkan.
    ///
    /// # Safety
    /// Whatever graph and parameters the algorithm is run with, no hook gives an accessor of an attribute or a table a
    /// vertex or place that it does not have, no index of an array is beyond its end, and every loop ends.
    #[must_use]
    #[allow(unsafe_code)]
    pub unsafe fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// One of this program's own. Their hooks pass on vertices of lists that have been checked, and table places that
    /// the host has laid out for these vertices.
    pub(crate) fn of_program(file: &'static str, text: &'static str, switches: Vec<(&'static str, bool)>) -> Self {
        Self { switches, checked: false, ..Self::new(file, text) }
    }

    /// Whether kernels of it have checks.
    pub fn is_checked(&self) -> bool {
        self.checked
    }
}
